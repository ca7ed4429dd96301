// The C functions of vmpi.h on streams: check arguments, open, forward to Stream; let no exception out.
#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "blackboard/threads/mutex.hpp"
#include "vmpi/streams/backoff.hpp"
#include "vmpi/streams/control_message.hpp"
#include "vmpi/streams/open_streams.hpp"
#include "vmpi/streams/run_handshake.hpp"
#include "vmpi/streams/stream.hpp"
#include "vmpi/vmpi.h"
#include "vmpi/world/finalize_fence.hpp"
#include "vmpi/world/partitions.hpp"

using namespace ardoise::vmpi;

// Lifetime: init to close.
struct VMPI_Stream_state {
  StreamOptions options;
  std::unique_ptr<Transport> transport;
  std::unique_ptr<Stream> stream;  // set while open
  bool is_silent = false;          // see mark_as_tool_stream
};

namespace {

// Open streams, for MPI_Finalize.
ardoise::Mutex open_mutex;
std::vector<VMPI_Stream_state*> open_streams GUARDED_BY(open_mutex);

void note_open(VMPI_Stream_state* state) {
  const ardoise::MutexLock lock(open_mutex);
  open_streams.push_back(state);
}

void forget_open(const VMPI_Stream_state* state) {
  const ardoise::MutexLock lock(open_mutex);
  std::erase(open_streams, state);
}

// The receive tag of a new stream. A tag is reused only after two thousand million streams (with an MPI that has few
// tags, 32 thousand), long after the last message of its first stream.
int next_tag() {
  static std::atomic<unsigned> opened{0};
  int* upper_bound = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(control_comm(), MPI_TAG_UB, &upper_bound, &found);
  const auto highest = static_cast<unsigned>(found != 0 && upper_bound != nullptr ? *upper_bound : 32767);
  // Relaxed: only uniqueness matters.
  return kFirstDataTag + static_cast<int>(opened.fetch_add(1, std::memory_order_relaxed) % (highest - kFirstDataTag));
}

std::optional<Mode> mode_of(const char* mode) {
  const std::string_view text = mode == nullptr ? "" : mode;
  if (text == "r") return Mode{true, false};
  if (text == "w") return Mode{false, true};
  if (text == "rw" || text == "wr") return Mode{true, true};
  return std::nullopt;
}

bool is_flag(int flags) { return (flags & ~VMPI_STREAM_NONBLOCK) == 0; }

// Runs action(state) on an initialised stream; exceptions become codes.
template <typename Action>
int with_state(VMPI_Stream* stream, Action action) noexcept {
  if (stream == nullptr) return VMPI_ERR_ARG;
  if (stream->state == nullptr) return VMPI_ERR_STATE;
  try {
    return action(*stream->state);
  } catch (const std::exception&) {
    return VMPI_ERR_NO_MEMORY;
  }
}

// The same on an open stream.
template <typename Action>
int with_open(VMPI_Stream* stream, Action action) noexcept {
  return with_state(stream, [&](VMPI_Stream_state& state) -> int {
    return state.stream == nullptr || partitions() == nullptr ? VMPI_ERR_STATE : action(*state.stream, state.options);
  });
}

int open_ranks(VMPI_Stream* stream, const int* ranks, int count, const char* mode) {
  return with_state(stream, [&](VMPI_Stream_state& state) -> int {
    const auto* all = partitions();
    if (all == nullptr || state.stream != nullptr) return VMPI_ERR_STATE;
    const auto wanted_mode = mode_of(mode);
    if (!wanted_mode || count < 0 || (count > 0 && ranks == nullptr)) return VMPI_ERR_ARG;
    std::vector<int> peers;
    std::unordered_set<int> seen;
    for (int i = 0; i < count; ++i) {
      if (ranks[i] < 0 || ranks[i] >= all->universe_size) return VMPI_ERR_ARG;
      if (seen.insert(ranks[i]).second) peers.push_back(ranks[i]);
    }
    const int tag = next_tag();
    std::vector<Endpoint> endpoints;
    const StreamTerms terms{state.options.block_bytes, *wanted_mode, tag};
    if (const int code = run_handshake(peers, terms, endpoints); code != VMPI_SUCCESS) return code;
    state.transport = make_mpi_transport(control_comm());
    state.stream = std::make_unique<Stream>(*state.transport, std::move(endpoints), *wanted_mode, tag, state.options,
                                            static_cast<std::uint64_t>(all->universe_rank));
    note_open(&state);
    return VMPI_SUCCESS;
  });
}

}  // namespace

namespace ardoise::vmpi {

void mark_as_tool_stream(const VMPI_Stream& stream, std::chrono::nanoseconds patience) noexcept {
  if (stream.state == nullptr) return;
  stream.state->is_silent = true;
  if (stream.state->stream != nullptr && !finalize_waits_for_job()) stream.state->stream->set_patience(patience);
}

std::vector<int> gone_peers(const VMPI_Stream& stream) {
  if (stream.state == nullptr || stream.state->stream == nullptr) return {};
  return stream.state->stream->gone_peers();
}

bool is_receiving(const VMPI_Stream& stream) noexcept {
  return stream.state != nullptr && stream.state->stream != nullptr && stream.state->stream->is_receiving();
}

void end_open_streams() noexcept {
  const ardoise::MutexLock lock(open_mutex);
  if (open_streams.empty() || partitions() == nullptr) return;
  const auto of_program =
      std::count_if(open_streams.begin(), open_streams.end(), [](const auto* state) { return !state->is_silent; });
  if (of_program > 0) {
    std::fprintf(stderr,
                 "ardoise: process %d of the universe called MPI_Finalize with %td open stream%s; close streams with "
                 "VMPI_Stream_close, because their peers treat this as a failure.\n",
                 partitions()->universe_rank, of_program, of_program == 1 ? "" : "s");
  }
  try {
    std::vector<Stream*> leaving;
    for (auto* state : open_streams) {
      leaving.push_back(state->stream.get());
      leaving.back()->start_leaving();
    }
    Backoff backoff;
    while (std::erase_if(leaving, [](Stream* stream) { return stream->leave(); }), !leaving.empty()) backoff.pause();
  } catch (const std::exception&) {
    // The process ends anyway.
  }
  open_streams.clear();
}

}  // namespace ardoise::vmpi

int VMPI_Stream_init(VMPI_Stream* stream, size_t block_bytes, VMPI_Stream_balance balance) {
  const bool is_balance = balance >= VMPI_STREAM_BALANCE_NONE && balance <= VMPI_STREAM_BALANCE_ROUND_ROBIN;
  if (stream == nullptr) return VMPI_ERR_ARG;
  stream->state = nullptr;
  if (block_bytes == 0 || block_bytes > INT_MAX || !is_balance) return VMPI_ERR_ARG;
  stream->state = new (std::nothrow) VMPI_Stream_state;
  if (stream->state == nullptr) return VMPI_ERR_NO_MEMORY;
  stream->state->options.block_bytes = block_bytes;
  stream->state->options.balance = static_cast<Balance>(balance);
  return VMPI_SUCCESS;
}

int VMPI_Stream_set_buffers(VMPI_Stream* stream, int writer_buffers, size_t reader_limit_bytes) {
  return with_state(stream, [&](VMPI_Stream_state& state) -> int {
    if (state.stream != nullptr) return VMPI_ERR_STATE;
    const bool is_enough = reader_limit_bytes == 0 || reader_limit_bytes >= state.options.block_bytes;
    if (writer_buffers < 1 || !is_enough) return VMPI_ERR_ARG;
    state.options.writer_buffers = writer_buffers;
    state.options.reader_limit_bytes = reader_limit_bytes;
    return VMPI_SUCCESS;
  });
}

int VMPI_Stream_open_map(VMPI_Stream* stream, const VMPI_Map* map, const char* mode) {
  return map == nullptr ? VMPI_ERR_ARG : open_ranks(stream, map->ranks, map->count, mode);
}

int VMPI_Stream_open_rank(VMPI_Stream* stream, int universe_rank, const char* mode) {
  return open_ranks(stream, &universe_rank, 1, mode);
}

int VMPI_Stream_write(VMPI_Stream* stream, const void* buffer, int blocks) {
  return with_open(stream, [&](Stream& open, const StreamOptions&) -> int {
    return buffer == nullptr || blocks < 0 ? VMPI_ERR_ARG : open.write(buffer, blocks);
  });
}

int VMPI_Stream_read(VMPI_Stream* stream, void* buffer, int blocks, int flags) {
  return with_open(stream, [&](Stream& open, const StreamOptions&) -> int {
    if (buffer == nullptr || blocks < 1 || !is_flag(flags)) return VMPI_ERR_ARG;
    return open.read(buffer, blocks, flags == 0);
  });
}

int VMPI_Stream_lend(VMPI_Stream* stream, void* block, size_t bytes) {
  return with_open(stream, [&](Stream& open, const StreamOptions& options) -> int {
    return block == nullptr || bytes == 0 || bytes > options.block_bytes ? VMPI_ERR_ARG : open.lend(block, bytes);
  });
}

int VMPI_Stream_reclaim(VMPI_Stream* stream, void** block, int flags) {
  return with_open(stream, [&](Stream& open, const StreamOptions&) -> int {
    return block == nullptr || !is_flag(flags) ? VMPI_ERR_ARG : open.reclaim(block, flags == 0);
  });
}

int VMPI_Stream_take(VMPI_Stream* stream, void** block, size_t* bytes, int* universe_rank, int flags) {
  return with_open(stream, [&](Stream& open, const StreamOptions&) -> int {
    if (block == nullptr || bytes == nullptr || !is_flag(flags)) return VMPI_ERR_ARG;
    return open.take(block, bytes, universe_rank, flags == 0);
  });
}

int VMPI_Stream_release(VMPI_Stream* stream, void* block) {
  if (stream == nullptr) return VMPI_ERR_ARG;
  if (stream->state == nullptr || stream->state->stream == nullptr) return VMPI_ERR_STATE;
  return stream->state->stream->release(block);
}

int VMPI_Stream_close(VMPI_Stream* stream) {
  return with_state(stream, [&](VMPI_Stream_state& state) -> int {
    int code = VMPI_SUCCESS;
    if (state.stream != nullptr) {
      if (state.stream->taken_blocks() > 0) return VMPI_ERR_STATE;
      // After MPI_Finalize the stream has already ended (end_open_streams).
      if (partitions() != nullptr) code = state.stream->close();
      forget_open(&state);
      // After an error MPI may still access the blocks: they are leaked rather than freed.
      if (code != VMPI_SUCCESS) {
        (void)state.stream.release();
        (void)state.transport.release();
      }
    }
    delete stream->state;
    stream->state = nullptr;
    return code;
  });
}
