// The common part of all POSIX hooks: the decision to record, and the recording. A hook looks like this:
//
//   ARDOISE_HOOK(int, fsync, int descriptor) {
//     PosixCall call(PosixFunction::kFsync, __builtin_return_address(0));
//     call.on_descriptor(descriptor);
//     return call.end(real_fsync(descriptor));
//   }
//
// The thread counts as in the call, for samples, from the constructor to record(), which finds the calling context. No
// lock is held while the real function runs: it may block, be cancelled, or re-enter a hook. The program may be in a
// signal handler that interrupted any code: all functions here are async-signal-safe (machine/activity.hpp).
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "instrument/format/posix_functions.hpp"
#include "instrument/machine/clock.hpp"
#include "instrument/process/session/session.hpp"

namespace ardoise::instrument {
class PosixCall;
}
extern "C" void ardoise_on_posix_end(ardoise::instrument::PosixCall& call, std::uint64_t bytes, bool failed) noexcept;

namespace ardoise::instrument {

// The descriptor of a stream, or -1. Keeps errno.
[[nodiscard]] int descriptor_of(std::FILE* stream) noexcept;

class PosixCall {
 public:
  // Always inlined: begin() takes the hook's own frame.
  [[gnu::always_inline]] PosixCall(PosixFunction function, const void* return_address) noexcept
      : session_(observing_session()) {
    open_.return_address = return_address;
    open_.function = function;
    if (session_ != nullptr) begin();
  }

  // Sets the file of the call. Called before the real function, which may close the file.
  void on_descriptor(int descriptor) noexcept {
    if (session_ == nullptr) return;
    descriptor_ = descriptor;
    open_.file = number_of(descriptor);
  }
  void on_stream(std::FILE* stream) noexcept {
    if (session_ != nullptr) on_descriptor(descriptor_of(stream));
  }
  // Position of the access, if it is not the descriptor's own.
  void at(std::int64_t position) noexcept { position_ = position; }
  // The descriptor's position after the call.
  void moved_to(std::int64_t position) noexcept {
    if (session_ != nullptr) session_->recorder.accesses.move_to(descriptor_, position);
  }
  // The call opened this descriptor, which now refers to another file than before. path: as given; nullptr: unknown.
  void opened_descriptor(int descriptor, const char* path) noexcept;
  void opened_stream(std::FILE* stream, const char* path) noexcept;

  // Ends the call: bytes moved, or failed. Keeps errno.
  void record(std::uint64_t bytes, bool failed) noexcept {
    if (session_ != nullptr) ardoise_on_posix_end(*this, bytes, failed);
  }
  // The second half of record(): `frame` is the frame of its caller.
  void end_at(const ObservedFrame& frame, std::uint64_t bytes, bool failed) noexcept;
  // For functions that return -1 on failure and otherwise the number of bytes moved; end() for functions that move
  // none.
  template <class Result>
  Result end_with_bytes(Result result) noexcept {
    record(result < 0 ? 0 : static_cast<std::uint64_t>(result), result < 0);
    return result;
  }
  template <class Result>
  Result end(Result result) noexcept {
    record(0, result < 0);
    return result;
  }
  [[nodiscard]] std::uint64_t return_address() const { return reinterpret_cast<std::uint64_t>(open_.return_address); }
  [[nodiscard]] CalledFunction called() const { return kPosixCalls + static_cast<CalledFunction>(open_.function) + 1; }

 private:
  void count_access(std::uint64_t bytes) noexcept;
  // nullptr: the process records nothing, MPI made this call, or this is a vfork() child.
  static Session* observing_session() noexcept;
  std::uint32_t number_of(int descriptor) noexcept { return session_->recorder.files.of_descriptor(descriptor); }
  [[gnu::always_inline]] void begin() noexcept {
    open_.frame = __builtin_frame_address(0);
    // Member by member: one copy of both would wait for the two stores of the previous call (store forwarding).
    outer_.return_address = observed_posix.return_address;
    outer_.call = observed_posix.call;
    outer_.function = observed_posix.function;
    observed_posix.become({return_address(), called(), &open_});
    open_.begin = now();
  }

  Session* session_;
  OpenPosixCall open_;
  ObservedPosix outer_;  // the interrupted call, if a signal handler makes this one
  std::int64_t position_ = FileAccesses::kHere;
  int descriptor_ = -1;
};

// Forgets the file of a descriptor that the program, MPI or this library closed or replaced.
void forget_descriptor(int descriptor) noexcept;

}  // namespace ardoise::instrument
