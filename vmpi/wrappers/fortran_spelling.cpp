#include "vmpi/wrappers/fortran_spelling.hpp"

#include <dlfcn.h>

#include "vmpi/export.hpp"
#include "vmpi/loader/fortran_function.hpp"
#include "vmpi/loader/loaded_library.hpp"

#if defined(__x86_64__) && defined(__LP64__)

namespace ardoise::vmpi {
namespace {

// MPI's routine, or that of a tool in front of it: a tool defines the most frequent spelling as well.
bool is_mpi_routine(const void* definition, const FortranSpelling& spelling, const void* caller) noexcept {
  const link_map* const library = link_map_of(definition);
  if (library == nullptr) return false;
  if (definition_in(*library, "pmpi_initialized_") != nullptr ||
      definition_in(*library, "pmpi_initialized_f08_") != nullptr)
    return true;
  return definition_in(*library, spelling.routine) != nullptr && has_fortran_library(caller);
}

}  // namespace
}  // namespace ardoise::vmpi

// The target for the stub's caller. If it is a module's own function, it is looked up again at each call.
VMPI_INTERNAL void* vmpi_target_of_spelling(const ardoise::vmpi::FortranSpelling& spelling,
                                            const void* caller) noexcept {
  using namespace ardoise::vmpi;
  const Definition other = find_other_definition(spelling.name, caller);
  const bool is_ours = other.address == nullptr || is_mpi_routine(other.address, spelling, caller);
  void* const target = is_ours ? spelling.wrapper : other.address;
  if (is_ours || other.is_for_all) __atomic_store_n(spelling.target, target, __ATOMIC_RELAXED);
  dlerror();  // a failed lookup of ours is no error of the program
  return target;
}

// Saves all registers that may hold arguments. On entry the stack holds the return address into the caller, r11 the
// FortranSpelling.
asm(R"(
  .text
  .p2align 4
  .hidden vmpi_choose_spelling
  .globl vmpi_choose_spelling
  .type vmpi_choose_spelling, @function
vmpi_choose_spelling:
  .cfi_startproc
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbp, 0
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  pushq %rax
  pushq %rdi
  pushq %rsi
  pushq %rdx
  pushq %rcx
  pushq %r8
  pushq %r9
  pushq %r10
  subq $128, %rsp
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  movq %r11, %rdi
  movq 8(%rbp), %rsi
  call vmpi_target_of_spelling
  movq %rax, %r11
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  addq $128, %rsp
  popq %r10
  popq %r9
  popq %r8
  popq %rcx
  popq %rdx
  popq %rsi
  popq %rdi
  popq %rax
  popq %rbp
  .cfi_def_cfa %rsp, 8
  jmp *%r11
  .cfi_endproc
  .size vmpi_choose_spelling, . - vmpi_choose_spelling
)");

#endif
