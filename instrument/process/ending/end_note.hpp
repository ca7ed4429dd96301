// The note that a process leaves when it ends without MPI_Finalize: the cause, and the place of the thread that caused
// it. Signal handlers and exit hooks write it, the survivor reads it. A process that SIGKILL kills, or that ends by a
// direct system call, leaves none.
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
  const ThreadRecorder* thread = nullptr;  // nullptr: the thread records nothing
  // The place. For a signal: its registers (`others` points to `general`), from which the survivor walks the stack. For
  // an exit: the walked frames, since their stack is gone later.
  FrameRegisters registers;
  std::array<std::uint64_t, 16> general{};
  std::array<std::uint64_t, 64> frames{};
  std::size_t frame_count = 0;
  std::uint64_t address = 0;
  int signal = 0, signal_code = 0, status = 0;
  pid_t sender = 0;
  std::uint32_t program = 0;  // FileId of the new program, for exec()
};

// The note of this process; a later one replaces it.
extern constinit EndNote end_note;

// Starts noting in this process, not in its children.
void begin_end_notes() noexcept;
// Stops noting.
void finish_end_notes() noexcept;

// Both are async-signal-safe. False: an earlier note explains this signal, or notes are off.
bool note_signal(const siginfo_t& information, const void* ucontext) noexcept;
void note_exit(EndCause cause, int status) noexcept;
// exec() is about to replace the process by the program with this path or name.
void note_exec(const char* program) noexcept;
void forget_exec() noexcept;
// The noted cause did not end the process.
void forget_end_note() noexcept;
// The calling thread jumps to the stack pointer `target`. Forgets the noted signal if the jump leaves its handler: the
// target is not deeper than the interrupted frame. Async-signal-safe.
void forget_left_signal(const void* target) noexcept;

}  // namespace ardoise::instrument
