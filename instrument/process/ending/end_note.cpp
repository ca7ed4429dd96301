#include "instrument/process/ending/end_note.hpp"

#include <ucontext.h>
#include <unistd.h>

#include <atomic>

#include "instrument/machine/clock.hpp"
#include "instrument/machine/vfork_child.hpp"
#include "instrument/process/session/session.hpp"
#include "vmpi/loader/exec_observer.hpp"

namespace ardoise::instrument {

constinit EndNote end_note;

namespace {

constinit std::atomic<pid_t> noting_process = 0;
constinit Unwinder exit_unwinder;

bool is_noting() noexcept {
  const pid_t process = noting_process.load(std::memory_order_relaxed);
  return process != 0 && !is_vfork_child() && process == ::getpid();
}

void note_place(const void* ucontext) noexcept {
  end_note.tick = now();
  end_note.thread = recording_thread();
  end_note.registers = interrupted_registers(ucontext, end_note.general);
}

}  // namespace

void begin_end_notes() noexcept {
  noting_process.store(::getpid(), std::memory_order_relaxed);
  vmpi::observe_exec({note_exec, forget_exec});
}
void finish_end_notes() noexcept { noting_process.store(0, std::memory_order_relaxed); }
void forget_end_note() noexcept { end_note = {}; }

void forget_left_signal(const void* target) noexcept {
  if (end_note.cause != EndCause::kSignal || !is_noting() || end_note.thread != recording_thread()) return;
  if (reinterpret_cast<std::uint64_t>(target) >= end_note.registers.sp) forget_end_note();
}

bool note_signal(const siginfo_t& information, const void* ucontext) noexcept {
  if (!is_noting()) return false;
  const bool is_own = information.si_code <= 0 && information.si_pid == ::getpid();
  // A handler of the program raises the signal once more after its own output.
  if (end_note.cause == EndCause::kSignal && end_note.signal == information.si_signo && is_own) return false;
  note_place(ucontext);
  const bool is_fault = information.si_code > 0;
  end_note.address = is_fault ? reinterpret_cast<std::uint64_t>(information.si_addr) : 0;
  end_note.sender = is_fault || is_own ? 0 : information.si_pid;
  end_note.signal = information.si_signo;
  end_note.signal_code = information.si_code;
  end_note.cause = EndCause::kSignal;
  return true;
}

void note_exit(EndCause cause, int status) noexcept {
  if (!is_noting()) return;
  // exit() ends with _exit(), and the exit of a signal handler is not the cause.
  if (end_note.cause != EndCause::kUnknown) return;
  ucontext_t here;
  if (::getcontext(&here) != 0) return;
  note_place(&here);
  end_note.frame_count = exit_unwinder.walk(end_note.registers, {}, end_note.frames).frames;
  end_note.status = status;
  end_note.cause = cause;
}

void note_exec(const char* program) noexcept {
  note_exit(EndCause::kExec, 0);
  if (!is_noting()) return;
  Session* const current = session.load(std::memory_order_acquire);
  if (current != nullptr) current->sampling.before_exec();
  if (end_note.cause == EndCause::kExec)
    end_note.program = current != nullptr && program != nullptr ? current->recorder.files.of_path(program) : 0;
}

void forget_exec() noexcept {
  if (!is_noting()) return;
  if (end_note.cause == EndCause::kExec) forget_end_note();
  if (Session* const current = session.load(std::memory_order_acquire)) current->sampling.after_failed_exec();
}

}  // namespace ardoise::instrument
