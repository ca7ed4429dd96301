// What runs before main() leaves its traces on the stack where main() will have its variables. Programs that read one
// before they set it (a status of a null request, in an error of theirs) find zeros there natively, by chance and
// always: they must not meet what our constructors left. The C library's start routine, which the program calls when
// all constructors of libraries have run, comes past here. It is jumped to, so that no call stack shows us. On x86-64
// only: elsewhere nothing is swept.
#if defined(__x86_64__) && defined(__LP64__)

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace {

// Zeros below the caller's frame, deeper than the variables of most programs' main().
[[gnu::noinline]] void sweep_stack() noexcept {
  char below[32768];
  ::explicit_bzero(below, sizeof below);
}

}  // namespace

// The real start routine, and a clean stack below the caller.
extern "C" [[gnu::visibility("hidden")]] void* ardoise_prepare_start() noexcept {
  void* const start = dlsym(RTLD_NEXT, "__libc_start_main");
  if (start == nullptr) std::abort();  // there is no C library
  sweep_stack();
  return start;
}

// Its six arguments in registers are kept; the seventh stays where it is.
asm(R"(
  .text
  .p2align 4
  .globl __libc_start_main
  .type __libc_start_main, @function
__libc_start_main:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  pushq %rcx
  .cfi_adjust_cfa_offset 8
  pushq %r8
  .cfi_adjust_cfa_offset 8
  pushq %r9
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call ardoise_prepare_start
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %r9
  .cfi_adjust_cfa_offset -8
  popq %r8
  .cfi_adjust_cfa_offset -8
  popq %rcx
  .cfi_adjust_cfa_offset -8
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmp *%rax
  .cfi_endproc
  .size __libc_start_main, . - __libc_start_main
)");

#endif
