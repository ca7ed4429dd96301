// What a thread did last: its last calls, the call that it is in with what that waits for, and the way from there, or
// from where it was sampled since its last call of MPI, to its outermost function. Of threads that have died, and of
// living ones: then what it reads may change meanwhile, and is wrong for once. Allocates nothing, takes no lock that it
// would have to wait for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "instrument/process/session/session.hpp"
#include "instrument/unwind/unwinder.hpp"

namespace ardoise::instrument {

class ThreadStand {
 public:
  static constexpr std::size_t kMostCalls = 48;

  ThreadStand(Session& of, Unwinder& unwinder, std::uint64_t tick) : session_(of), unwinder_(unwinder), tick_(tick) {}

  // The recorder belongs to a thread that has not ended (ThreadRegistry::for_each_owned).
  void look_at(const ThreadRecorder& thread) noexcept;

  // In the order of their begin; where the thread is in a call, that one and its parts last.
  [[nodiscard]] std::span<const RecentCall> calls() const { return std::span(calls_).first(count_); }
  // Return addresses from the open call outwards; empty: the thread is in no call.
  [[nodiscard]] std::span<const std::uint64_t> path() const { return path_; }
  [[nodiscard]] bool is_in_mpi() const { return is_in_mpi_; }
  // In no call: from the instruction where it was sampled last outwards, as sampling has it (functions of Python are
  // there). Empty: not since its last call of MPI, or never.
  [[nodiscard]] std::span<const std::uint64_t> sampled() const { return sampled_; }

  // The open MPI call of a thread; nullptr: it is in none.
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
