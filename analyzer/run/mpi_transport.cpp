#include "analyzer/run/mpi_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace ardoise::analyzer {

// A message in transfer, then the memory of an entry.
struct MpiTransport::Taken {
  std::vector<std::byte> bytes;
  MPI_Request request = MPI_REQUEST_NULL;
  std::shared_ptr<std::atomic<std::size_t>> count;

  ~Taken() { count->fetch_sub(1, std::memory_order_relaxed); }
  static void release(void* taken, std::span<std::byte>) noexcept { delete static_cast<Taken*>(taken); }
};

MpiTransport::MpiTransport(MPI_Comm analyzers, AnalyzerRun& run)
    : analyzers_(analyzers), run_(run), taken_(std::make_shared<std::atomic<std::size_t>>(0)) {
  PMPI_Comm_size(analyzers_, &boards_);
  PMPI_Comm_rank(analyzers_, &self_);
}

// A transfer is pending here only after an error: MPI may still access its memory.
MpiTransport::~MpiTransport() {
  if (!sending_.empty()) (void)new std::list<Sending>(std::move(sending_));
  for (auto& each : arriving_) (void)each.release();
}

void MpiTransport::send(unsigned board, blackboard::EntryRef entry) {
  const MutexLock guard(mutex_);
  queue_.push_back({static_cast<int>(board), std::move(entry)});
  has_queued_.store(true, std::memory_order_relaxed);
}

void MpiTransport::fail(const char* what, int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  PMPI_Error_string(code, text.data(), &length);
  run_.complain(
      fmt::format("Records between analyzers are lost because MPI could not {} them: {}.", what, text.data()));
}

Found MpiTransport::poll() {
  start_sends();
  return std::max({end_sends(), end_takes(), take()});
}

void MpiTransport::start_sends() {
  while (sending_.size() < kSending && has_queued_.load(std::memory_order_relaxed)) {
    Queued next;
    {
      const MutexLock guard(mutex_);
      next = std::move(queue_.front());
      queue_.pop_front();
      has_queued_.store(!queue_.empty(), std::memory_order_relaxed);
    }
    Sending& sending = sending_.emplace_back();
    const auto payload = next.entry.payload();
    const auto type = next.entry.type();
    sending.bytes.resize(sizeof type + payload.size());
    std::memcpy(sending.bytes.data(), &type, sizeof type);
    std::memcpy(sending.bytes.data() + sizeof type, payload.data(), payload.size());
    sending.entry = std::move(next.entry);
    const int code = PMPI_Isend(sending.bytes.data(), static_cast<int>(sending.bytes.size()), MPI_BYTE, next.board,
                                kTag, analyzers_, &sending.request);
    if (code == MPI_SUCCESS) {
      ++sent_;
    } else {
      fail("send", code);
      sending_.pop_back();
    }
  }
}

Found MpiTransport::end_sends() {
  const auto before = sending_.size();
  std::erase_if(sending_, [&](Sending& sending) {
    int done = 0;
    const int code = PMPI_Test(&sending.request, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) --sent_, fail("send", code);
    return code != MPI_SUCCESS || done != 0;
  });
  return sending_.size() < before ? Found::something : sending_.empty() ? Found::nothing : Found::arriving;
}

Found MpiTransport::take() {
  if (taken_->load(std::memory_order_relaxed) >= kTaken) return Found::arriving;
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  int code = PMPI_Improbe(MPI_ANY_SOURCE, kTag, analyzers_, &found, &message, &status);
  if (code != MPI_SUCCESS) return fail("receive", code), Found::nothing;
  if (found == 0) return Found::nothing;
  int size = 0;
  PMPI_Get_count(&status, MPI_BYTE, &size);
  auto taken = std::make_unique<Taken>();
  taken_->fetch_add(1, std::memory_order_relaxed);
  taken->count = taken_;
  taken->bytes.resize(static_cast<std::size_t>(size));
  code = PMPI_Imrecv(taken->bytes.data(), size, MPI_BYTE, &message, &taken->request);
  if (code != MPI_SUCCESS) return ++received_, fail("receive", code), Found::nothing;
  arriving_.push_back(std::move(taken));
  return Found::something;
}

Found MpiTransport::end_takes() {
  const auto before = arriving_.size();
  std::erase_if(arriving_, [&](std::unique_ptr<Taken>& taken) {
    int done = 0;
    const int code = PMPI_Test(&taken->request, &done, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && done == 0) return false;
    ++received_;
    if (code != MPI_SUCCESS) return fail("receive", code), true;
    blackboard::EntryType type;
    if (taken->bytes.size() < sizeof type) return true;
    std::memcpy(&type, taken->bytes.data(), sizeof type);
    auto* const memory = taken.release();
    run_.submit(blackboard::adopt_entry(type, std::span(memory->bytes).subspan(sizeof type), &Taken::release, memory));
    return true;
  });
  return arriving_.size() < before ? Found::something : arriving_.empty() ? Found::nothing : Found::arriving;
}

bool MpiTransport::has_left() const { return sending_.empty() && !has_queued_.load(std::memory_order_relaxed); }

// Mattern, Algorithms for distributed termination detection (1987), four counters: no entry is in flight when, in two
// consecutive rounds, all analyzers together had received as many entries as sent, without a change in between.
void MpiTransport::settle(EventLoop& loop) {
  const auto entries = loop.poll([this] { return poll(); });
  std::array<std::uint64_t, 2> before{1, 0};
  bool has_ended = false;
  for (;;) {
    do {
      run_.drain();
      run_.flush();
      const auto left = loop.poll([&] {
        if (!has_left()) return Found::nothing;
        loop.stop();
        return Found::something;
      });
      loop.run();
      run_.drain();
    } while (!has_left());
    std::array<std::uint64_t, 2> own{sent_, received_}, all{};
    MPI_Request request = MPI_REQUEST_NULL;
    int code = PMPI_Iallreduce(own.data(), all.data(), 2, MPI_UINT64_T, MPI_SUM, analyzers_, &request);
    int done = 0;
    const auto sum = loop.poll([&] {
      if (code == MPI_SUCCESS) code = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (code == MPI_SUCCESS && done == 0) return Found::nothing;
      loop.stop();
      return Found::something;
    });
    loop.run();
    if (code != MPI_SUCCESS) return fail("count", code);
    if (all[0] != all[1] || all != before) {
      before = all;
      continue;
    }
    if (has_ended) return;
    // Reached by all analyzers at the same round: each has the same sums.
    run_.end();
    has_ended = true;
    before = {1, 0};
  }
}

}  // namespace ardoise::analyzer
