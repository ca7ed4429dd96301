#include "instrument/process/watch/thread_state.hpp"

#include <algorithm>

namespace ardoise::instrument {

// The frame of a call that longjmp left may be overwritten.
const vmpi::Call* ThreadState::open_call(const ThreadRecorder& thread, std::uint64_t tick) noexcept {
  const ObservedFrame* const frame = thread.in_mpi.load(std::memory_order_relaxed);
  if (frame == nullptr || frame->function == 0 || frame->call == nullptr) return nullptr;
  const vmpi::Call& call = *frame->call;
  const bool is_whole = static_cast<std::uint32_t>(call.function) + 1 == frame->function &&
                        reinterpret_cast<std::uint64_t>(call.return_address) == frame->return_address &&
                        call.begin <= tick;
  return is_whole ? &call : nullptr;
}

CallPlace ThreadState::place_of(const ThreadRecorder& thread) noexcept {
  if (open_call(thread, UINT64_MAX) != nullptr) return CallPlace::kMpi;
  const ObservedPosix* const posix = thread.in_posix.load(std::memory_order_relaxed);
  return posix != nullptr && posix->function != 0 ? CallPlace::kIo : CallPlace::kOutside;
}

void ThreadState::read(const ThreadRecorder& thread) noexcept {
  count_ = 0;
  path_ = sampled_ = {};
  is_in_mpi_ = false;
  add_recent(thread);
  const vmpi::Call* const call = open_call(thread, tick_);
  if (call == nullptr) {
    add_posix(thread);
    if (path_.empty()) find_sample(thread);
    return;
  }
  is_in_mpi_ = true;
  count_ += session_.mpi.open_call(*call, tick_, std::span(calls_).subspan(count_));
  const ObservedFrame& frame = *thread.in_mpi.load(std::memory_order_relaxed);
  const auto frames = std::span(walked_).first(unwinder_.walk(frame.registers, {}, walked_).frames);
  const auto caller = std::ranges::find(frames, frame.return_address);
  path_ = frames.subspan(static_cast<std::size_t>(caller - frames.begin()));
}

void ThreadState::add_recent(const ThreadRecorder& thread) noexcept {
  RecentCalls mpi, posix;
  thread.recent(mpi, posix);
  std::array<RecentCall, 2 * RecentCalls::kMost> all;
  std::size_t count = 0;
  for (const auto& calls : {mpi.calls(), posix.calls()}) {
    std::ranges::copy(calls, all.begin() + static_cast<std::ptrdiff_t>(count));
    count += calls.size();
  }
  std::ranges::sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), {}, &RecentCall::begin);
  const std::size_t kept = std::min(count, RecentCalls::kMost);
  std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(count - kept), kept, calls_.begin());
  count_ = kept;
}

void ThreadState::add_posix(const ThreadRecorder& thread) noexcept {
  const ObservedPosix* const observed = thread.in_posix.load(std::memory_order_relaxed);
  if (observed == nullptr || observed->function == 0 || observed->call == nullptr) return;
  const OpenPosixCall& call = *observed->call;
  const auto return_address = reinterpret_cast<std::uint64_t>(call.return_address);
  if (kPosixCalls + static_cast<CalledFunction>(call.function) + 1 != observed->function ||
      return_address != observed->return_address || call.begin > tick_) {
    return;
  }
  calls_[count_++] = {call.begin, tick_ - call.begin,
                      0,          make_word(kNoComm, static_cast<std::uint32_t>(call.function), Shape::kLocal),
                      0,          static_cast<std::int32_t>(call.file),
                      0,          kPosixCallFlag | kOpenCall,
                      0};
  const auto* const frame = static_cast<const std::uint64_t*>(call.frame);
  if (frame == nullptr || frame[1] != observed->return_address) return;
  const FrameRegisters caller{
      observed->return_address, reinterpret_cast<std::uint64_t>(frame + 2), frame[0], 0, true, nullptr};
  path_ = std::span(walked_).first(unwinder_.walk(caller, {}, walked_).frames);
}

void ThreadState::find_sample(const ThreadRecorder& thread) noexcept {
  const CallingContexts* const contexts = thread.contexts.load(std::memory_order_acquire);
  const LastSample& last = thread.last_sample;
  if (contexts == nullptr || last.tick.load(std::memory_order_relaxed) <= thread.last_mpi_end()) return;
  std::size_t count = 0;
  const std::uint32_t known = contexts->size();
  for (std::uint32_t context = last.context.load(std::memory_order_relaxed);
       context != 0 && context < known && count < walked_.size(); context = contexts->node(context).parent) {
    walked_[count++] = contexts->node(context).pc;
  }
  if (count == 0) return;
  walked_[0] += last.pc_offset.load(std::memory_order_relaxed);
  sampled_ = std::span(walked_).first(count);
}

}  // namespace ardoise::instrument
