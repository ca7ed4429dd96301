#include "vmpi/streams/stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "vmpi/vmpi.h"

namespace ardoise::vmpi {
namespace {

constexpr std::size_t kDefaultPoolBlocks = 64;
constexpr std::chrono::seconds kLookInterval(1);  // for peers that died and, when lending, for readers that closed

// A stream that only writes still matches the empty messages of readers that close early.
std::size_t pool_blocks(const StreamOptions& options, Mode mode) {
  if (!mode.reads) return 1;
  return options.reader_limit_bytes == 0 ? kDefaultPoolBlocks : options.reader_limit_bytes / options.block_bytes;
}

}  // namespace

Stream::Stream(Transport& transport, std::vector<Endpoint> endpoints, Mode mode, int tag, const StreamOptions& options,
               std::uint64_t seed)
    : transport_(transport),
      endpoints_(std::move(endpoints)),
      mode_(mode),
      block_bytes_(options.block_bytes),
      gives_way_(options.gives_way),
      sender_(transport, endpoints_, options.block_bytes, options.writer_buffers, options.balance, seed),
      receiver_(transport, endpoints_, tag, options.block_bytes, pool_blocks(options, mode), options.balance, seed) {}

int Stream::progress(ReadAhead how_far) {
  if (failure_ != VMPI_SUCCESS) return failure_;
  const auto in_flight = sender_.blocks_in_flight();
  int code = sender_.poll();
  if (code == VMPI_SUCCESS) code = receiver_.match();
  if (code == VMPI_SUCCESS && mode_.reads) code = receiver_.fill(how_far);
  // A peer that has closed takes no more blocks; our end lets its close() return.
  if (code == VMPI_SUCCESS && mode_.writes) code = sender_.send_ends(EndTo::closed_peers);
  if (code != VMPI_SUCCESS) failure_ = code;
  receiver_.take_left(unreported_deaths_);
  if (receiver_.take_activity() || sender_.blocks_in_flight() != in_flight) backoff_.reset();
  return code;
}

template <typename Ready>
int Stream::wait_until(Ready ready, ReadAhead how_far) {
  for (;;) {
    if (const int code = progress(how_far); code != VMPI_SUCCESS) return code;
    if (ready()) {
      backoff_.reset();
      return VMPI_SUCCESS;
    }
    if (!gives_way_) continue;
    const bool moves = receiver_.is_receiving() || sender_.blocks_in_flight() > 0;
    backoff_.pause(moves ? Backoff::Expects::transfer : Backoff::Expects::anything);
    if (backoff_.is_idle()) look_for_dead_peers();
  }
}

void Stream::look_for_dead_peers() {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_look_ < kLookInterval) return;
  last_look_ = now;
  std::vector<std::size_t> dead;
  // Peers that had already ended one second ago.
  for (std::size_t i = 0; i < endpoints_.size(); ++i) {
    if (endpoints_[i].has_died) receiver_.abandon(i);
  }
  // MPI may need some more calls to find what a process sent just before it ended.
  for (std::size_t i = 0; i < endpoints_.size(); ++i) {
    auto& endpoint = endpoints_[i];
    if (endpoint.has_closed || endpoint.process == 0 || transport_.is_alive(endpoint.process)) continue;
    if (endpoint.is_gone) dead.push_back(i);
    endpoint.is_gone = true;
  }
  if (dead.empty()) return;
  // Messages sent before the death, the end included, come first.
  if (const int code = receiver_.match(); code != VMPI_SUCCESS) failure_ = code;
  for (const auto i : dead) {
    if (endpoints_[i].has_closed) continue;
    endpoints_[i].has_died = true;
    receiver_.mark_closed(i);
    sender_.forget(i);
    unreported_deaths_.push_back(endpoints_[i].rank);
  }
}

std::vector<int> Stream::gone_peers() const {
  std::vector<int> ranks;
  for (const Endpoint& each : endpoints_) {
    if (!each.has_closed && each.process != 0 && !transport_.is_alive(each.process)) ranks.push_back(each.rank);
  }
  return ranks;
}

int Stream::write(const void* buffer, int blocks) {
  if (!mode_.writes) return VMPI_ERR_STATE;
  const auto* from = static_cast<const std::byte*>(buffer);
  for (int written = 0; written < blocks; ++written) {
    int code = progress(while_writing());
    if (code == VMPI_SUCCESS && !sender_.has_free_buffer())
      code = wait_until([this] { return sender_.has_free_buffer(); }, while_writing());
    if (code == VMPI_SUCCESS) {
      void* block = sender_.free_buffer();
      std::memcpy(block, from + static_cast<std::size_t>(written) * block_bytes_, block_bytes_);
      code = sender_.start(block, block_bytes_, false);
    }
    if (code != VMPI_SUCCESS) return written > 0 ? written : code;
  }
  return blocks;
}

int Stream::lend(void* block, std::size_t bytes) {
  if (!mode_.writes) return VMPI_ERR_STATE;
  if (failure_ != VMPI_SUCCESS) return failure_;
  return sender_.start(block, bytes, true);
}

int Stream::reclaim(void** block, bool may_wait) {
  if (!mode_.writes) return VMPI_ERR_STATE;
  if (!sender_.has_lent()) return 0;
  if (!sender_.can_reclaim()) {
    const auto ready = [this] { return sender_.can_reclaim(); };
    const int code = may_wait ? wait_until(ready, while_writing()) : poll_sent();
    if (code != VMPI_SUCCESS) return code;
    if (!ready()) return failure_ != VMPI_SUCCESS ? failure_ : VMPI_EAGAIN;
  }
  *block = sender_.reclaim();
  return 1;
}

int Stream::poll_sent() {
  const bool may_be_left = std::chrono::steady_clock::now() - last_look_ >= kLookInterval;
  if (mode_.reads || may_be_left) {
    const int code = progress(while_writing());
    look_for_dead_peers();
    return code;
  }
  if (failure_ == VMPI_SUCCESS) failure_ = sender_.poll();
  return failure_;
}

int Stream::nothing_there() {
  if (gives_way_) backoff_.yield();
  look_for_dead_peers();
  return failure_ != VMPI_SUCCESS ? failure_ : VMPI_EAGAIN;
}

int Stream::report_death(int* universe_rank) {
  if (!unreported_deaths_.empty()) {
    if (universe_rank != nullptr) *universe_rank = unreported_deaths_.front();
    unreported_deaths_.pop_front();
  }
  return VMPI_ERR_PEER;
}

int Stream::take(void** block, std::size_t* bytes, int* universe_rank, bool may_wait) {
  if (!mode_.reads) return VMPI_ERR_STATE;
  Delivery delivery;
  bool is_there = false;
  const auto ready = [&] {
    is_there = is_there || receiver_.deliver(delivery);
    receiver_.take_left(unreported_deaths_);
    return is_there || !unreported_deaths_.empty() || receiver_.at_end();
  };
  if (!may_wait) {
    if (const int code = progress(ReadAhead::one_block); code != VMPI_SUCCESS) return code;
    if (!ready()) {
      if (const int code = nothing_there(); !ready()) return code;
    }
  } else if (const int code = wait_until(ready, ReadAhead::one_block); code != VMPI_SUCCESS) {
    return code;
  }
  if (!is_there && !unreported_deaths_.empty()) return report_death(universe_rank);
  if (!is_there) return 0;
  backoff_.reset();
  *block = delivery.block;
  *bytes = delivery.bytes;
  if (universe_rank != nullptr) *universe_rank = delivery.universe_rank;
  return 1;
}

int Stream::read_one(std::byte* memory, bool may_wait) {
  const auto ready = [this] {
    return receiver_.has_blocks() || receiver_.has_matched() || !unreported_deaths_.empty() || receiver_.at_end();
  };
  if (!receiver_.has_blocks()) {
    const int code = may_wait ? wait_until(ready, ReadAhead::nothing) : progress(ReadAhead::nothing);
    if (code != VMPI_SUCCESS) return code;
  }
  if (!receiver_.has_blocks() && receiver_.has_matched()) {
    // Straight into the caller's memory. While MPI needs time for it, the pool is filled.
    Delivery delivery;
    int code = receiver_.start_direct(memory, delivery);
    if (code == VMPI_SUCCESS) code = wait_until([this] { return receiver_.direct_done(); }, ReadAhead::one_block);
    if (code != VMPI_SUCCESS) return failure_ = code;
    if (receiver_.take_direct_lost()) {
      return report_death(nullptr);
    }
    std::memset(memory + delivery.bytes, 0, block_bytes_ - delivery.bytes);
    return 1;
  }
  void* block = nullptr;
  std::size_t bytes = 0;
  const int code = take(&block, &bytes, nullptr, may_wait);
  if (code != 1) return code;
  std::memcpy(memory, block, bytes);
  std::memset(memory + bytes, 0, block_bytes_ - bytes);
  receiver_.release(block);
  return 1;
}

int Stream::read(void* buffer, int blocks, bool may_wait) {
  if (!mode_.reads) return VMPI_ERR_STATE;
  auto* into = static_cast<std::byte*>(buffer);
  for (int done = 0; done < blocks; ++done) {
    const int code = read_one(into + static_cast<std::size_t>(done) * block_bytes_, may_wait && done == 0);
    if (code != 1) return done > 0 ? done : code;
  }
  return blocks;
}

int Stream::release(void* block) noexcept { return receiver_.release(block) ? VMPI_SUCCESS : VMPI_ERR_ARG; }

void Stream::start_leaving() { receiver_.discard_all(); }

bool Stream::is_out_of_patience() {
  const auto now = std::chrono::steady_clock::now();
  if (sender_.blocks_in_flight() != left_to_take_ || taken_last_.time_since_epoch().count() == 0) {
    left_to_take_ = sender_.blocks_in_flight();
    taken_last_ = now;
  }
  return patience_.count() > 0 && now - taken_last_ > patience_;
}

bool Stream::leave() {
  if (progress(ReadAhead::everything) != VMPI_SUCCESS || is_out_of_patience()) return true;
  look_for_dead_peers();
  if (failure_ != VMPI_SUCCESS || !sender_.idle()) return failure_ != VMPI_SUCCESS;
  if (!sent_left_) {
    sent_left_ = true;
    for (const auto& endpoint : endpoints_) {
      if (endpoint.sent_end || endpoint.has_died) continue;
      if (transport_.send_left(endpoint.rank, endpoint.tag) != VMPI_SUCCESS) return true;
    }
    if (sender_.send_ends(mode_.writes ? EndTo::all : EndTo::open_peers) != VMPI_SUCCESS) return true;
  }
  return !mode_.reads || receiver_.at_end();
}

int Stream::close() {
  if (taken_blocks() > 0) return VMPI_ERR_STATE;
  receiver_.discard_all();
  int code = failure_;
  if (code == VMPI_SUCCESS && mode_.writes) {
    code = wait_until([this] { return sender_.idle() || is_out_of_patience(); }, while_writing());
    if (code == VMPI_SUCCESS && !sender_.idle()) return failure_ = VMPI_ERR_TIMEOUT;
  }
  if (code == VMPI_SUCCESS) code = sender_.send_ends(mode_.writes ? EndTo::all : EndTo::open_peers);
  // A reader that closes first has told the writers; blocks that they sent before they learned it are discarded.
  if (code == VMPI_SUCCESS && mode_.reads)
    code = wait_until([this] { return receiver_.at_end(); }, ReadAhead::everything);
  if (code == VMPI_SUCCESS && !unreported_deaths_.empty()) code = VMPI_ERR_PEER;
  return code;
}

}  // namespace ardoise::vmpi
