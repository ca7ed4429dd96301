// The state of a thread: its last calls, its open call with the operations for which that waits, and the call stack,
// either of the open call or of the last sample since the last MPI call. Works for dead threads and for living ones;
// what it reads of those may change meanwhile and be wrong once. Allocates nothing and waits for no lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "instrument/process/session/session.hpp"
#include "instrument/unwind/unwinder.hpp"

namespace ardoise::instrument {

class ThreadState {
 public:
  static constexpr std::size_t kMostCalls = 48;

  ThreadState(Session& of, Unwinder& unwinder, std::uint64_t tick) : session_(of), unwinder_(unwinder), tick_(tick) {}

  // The recorder belongs to a thread that has not ended (ThreadRegistry::for_each_owned).
  void read(const ThreadRecorder& thread) noexcept;

  // In the order of their begin; an open call and its parts come last.
  [[nodiscard]] std::span<const RecentCall> calls() const { return std::span(calls_).first(count_); }
  // Return addresses from the open call outwards; empty: the thread is in no call.
  [[nodiscard]] std::span<const std::uint64_t> path() const { return path_; }
  [[nodiscard]] bool is_in_mpi() const { return is_in_mpi_; }
  // Outside calls: from the instruction of the last sample outwards, in the form of sampling (including Python
  // functions). Empty: no sample since the last MPI call.
  [[nodiscard]] std::span<const std::uint64_t> sampled() const { return sampled_; }

  [[nodiscard]] static CallPlace place_of(const ThreadRecorder& thread) noexcept;
  // The open MPI call of a thread; nullptr: none.
  [[nodiscard]] static const vmpi::Call* open_call(const ThreadRecorder& thread, std::uint64_t tick) noexcept;

 private:
  void add_recent(const ThreadRecorder& thread) noexcept;
  void add_posix(const ThreadRecorder& thread) noexcept;
  void find_sample(const ThreadRecorder& thread) noexcept;

  Session& session_;
  Unwinder& unwinder_;
  const std::uint64_t tick_;
  std::array<RecentCall, kMostCalls> calls_{};
  std::size_t count_ = 0;
  std::array<std::uint64_t, CallingContexts::kMaxDepth> walked_{};
  std::span<const std::uint64_t> path_, sampled_;
  bool is_in_mpi_ = false;
};

}  // namespace ardoise::instrument
