// What a process notes when it is about to end without MPI_Finalize: why, and where the thread was that brought it
// about. Written by signal handlers and exit hooks, read by the survivor. A process that is killed by SIGKILL, or ends
// by a system call of its own, leaves none.
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include "instrument/format/definitions.hpp"
#include "instrument/unwind/unwinder.hpp"

namespace ardoise::instrument {

class ThreadRecorder;

struct EndNote {
  EndCause cause = EndCause::kUnknown;
  std::uint64_t tick = 0;
  const ThreadRecorder* thread = nullptr;  // nullptr: it records nothing
  // Its place: of a signal the registers (`others` points to `general`), from which the survivor walks; of an exit,
  // which leaves its frames, the walk.
  FrameRegisters registers;
  std::array<std::uint64_t, 16> general{};
  std::array<std::uint64_t, 64> frames{};
  std::size_t frame_count = 0;
  std::uint64_t address = 0;
  int signal = 0, signal_code = 0, status = 0;
  pid_t sender = 0;
  std::uint32_t program = 0;  // FileId of what is executed
};

// Of this process; what is noted later replaces it.
extern constinit EndNote end_note;

// From now on, in this process and none of its children, something is noted.
void begin_end_notes() noexcept;
// Nothing is noted any more.
void finish_end_notes() noexcept;

// Both async-signal-safe. False: it is known already what this signal is a consequence of, or nothing is to be noted.
bool note_signal(const siginfo_t& information, const void* ucontext) noexcept;
void note_exit(EndCause cause, int status) noexcept;
// The process is about to become another program, by this path or name.
void note_exec(const char* program) noexcept;
void forget_exec() noexcept;
// It was not the end.
void forget_end_note() noexcept;
// The calling thread jumps to the stack pointer `target`: it leaves the handler of the signal that it has noted where
// that is not deeper than what the signal interrupted. Async-signal-safe.
void forget_left_signal(const void* target) noexcept;

}  // namespace ardoise::instrument
