// Signals and system calls that the kernel restarts.
//
// A thread that waits (poll, nanosleep, some futexes) is woken by signals that then turn out to be ignored, such as
// SIGCHLD, or by a stop and a continue. The kernel lets it go on by restart_syscall(2): it goes back to user mode, to
// the instruction `syscall`, with that call's number. A signal that comes just there (the timer's tick may have been
// held back since the thread was in the kernel) takes the restart away: when its handler returns, the kernel forgets
// what was to be restarted (rt_sigreturn), and the program's call ends with EINTR.
#pragma once

#include <sys/syscall.h>
#include <ucontext.h>

#include <cstring>

namespace ardoise::instrument {

// Last in our signal handler, which holds nothing any more: waits in the program's place, and lets it go on behind its
// system call with the result. The program's own signals end that wait as they would end the program's.
inline void go_on_with_restarted_call([[maybe_unused]] void* ucontext) {
#if defined(__x86_64__)
  greg_t* const registers = static_cast<ucontext_t*>(ucontext)->uc_mcontext.gregs;
  if (registers[REG_RAX] != SYS_restart_syscall) [[likely]]
    return;
  constexpr unsigned char kSyscall[] = {0x0f, 0x05};
  if (std::memcmp(reinterpret_cast<const void*>(registers[REG_RIP]), kSyscall, sizeof(kSyscall)) != 0) return;
  greg_t result = SYS_restart_syscall;
  asm volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
  registers[REG_RAX] = result;
  registers[REG_RIP] += static_cast<greg_t>(sizeof(kSyscall));
#endif
}

}  // namespace ardoise::instrument
