// Hook of vfork(): its child runs in the memory of its parent, including thread-local memory, while the parent sleeps.
// Files that the child opens, closes and writes (as Python's subprocess does) are not the parent's: is_vfork_child().
//
// The count rises before the system call and falls in the parent. A C++ function cannot do that: it would return twice
// to a frame that the child has overwritten. So the hook is in assembler, like the C library's function, for x86-64. On
// other machines a child is detected by its process id, at the cost of a system call for each recorded call.
#include "instrument/machine/vfork_child.hpp"

#if defined(__x86_64__) && defined(__LP64__)

#include <cerrno>

extern "C" {
[[gnu::visibility("hidden"), gnu::tls_model("initial-exec")]] constinit thread_local int ardoise_vfork_depth = 0;

[[gnu::used, gnu::visibility("hidden")]] int ardoise_vfork_failed(int error) noexcept {
  errno = error;
  return -1;
}
}

asm(R"(
  .text
  .p2align 4
  .globl vfork
  .type vfork, @function
vfork:
  .cfi_startproc
  endbr64
  movq ardoise_vfork_depth@gottpoff(%rip), %rsi
  incl %fs:(%rsi)
  popq %rdi
  .cfi_adjust_cfa_offset -8
  .cfi_register %rip, %rdi
  movl $58, %eax
  syscall
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rip, 0
  testl %eax, %eax
  je 1f
  decl %fs:(%rsi)
  testl %eax, %eax
  js 2f
1:
  ret
2:
  negl %eax
  movl %eax, %edi
  jmp ardoise_vfork_failed
  .cfi_endproc
  .size vfork, . - vfork
)");

namespace ardoise::instrument {

bool is_vfork_child() noexcept { return ardoise_vfork_depth != 0; }

}  // namespace ardoise::instrument

#else

#include <unistd.h>

namespace ardoise::instrument {
namespace {

// After fork() the child's session is gone, and no hook asks.
const pid_t own_process = ::getpid();

}  // namespace

bool is_vfork_child() noexcept { return ::getpid() != own_process; }

}  // namespace ardoise::instrument

#endif
