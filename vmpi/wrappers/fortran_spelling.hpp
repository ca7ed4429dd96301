// The names by which Fortran compilers call a routine of MPI: mpi_send_, mpi_send, mpi_send__, MPI_SEND. We have to
// define all of them, and our definitions come before those of the program's own libraries. But these are names that a
// C library may use for functions of its own (Rmpi has `int mpi_comm_rank(void)`), with other parameters. So each name
// is a stub of a jump. Its first call looks for what the caller would have called without us, and from then on it jumps
// there: to our wrapper when that is MPI's routine, else past us. No register is touched on the way.
#pragma once

namespace ardoise::vmpi {

// One for each name, written by the stub's macro.
struct FortranSpelling {
  const char* name;     // as the caller spells it
  const char* routine;  // the most frequent spelling, which a tool defines, too
  void* wrapper;        // ours
  void** target;        // where the stub jumps
};

}  // namespace ardoise::vmpi

#if defined(__x86_64__) && defined(__LP64__)

// vmpi_choose_spelling (fortran_spelling.cpp) finds the FortranSpelling in r11.
#define VMPI_FORTRAN_SPELLING(name, routine, wrapper)                                                                 \
  asm(".text\n\t.p2align 4\n\t.globl " #name "\n\t.type " #name ", @function\n" #name                                 \
      ":\n\t.cfi_startproc\n\tendbr64\n\t"                                                                            \
      "jmp *.Ltarget_" #name "(%rip)\n.Lfirst_" #name ":\n\tleaq .Lspelling_" #name                                   \
      "(%rip), %r11\n\tjmp vmpi_choose_spelling\n\t"                                                                  \
      ".cfi_endproc\n\t.size " #name ", . - " #name                                                                   \
      "\n\t.section .rodata.str1.1, \"aMS\", @progbits, 1\n.Lname_" #name ":\n\t.string \"" #name                     \
      "\"\n.Lroutine_" #name ":\n\t.string \"" #routine "\"\n\t.data\n\t.p2align 3\n.Ltarget_" #name                  \
      ":\n\t.quad .Lfirst_" #name "\n.Lspelling_" #name ":\n\t.quad .Lname_" #name ", .Lroutine_" #name ", " #wrapper \
      ", .Ltarget_" #name "\n\t.text\n");

#else

// Here a program's own function of such a name is hidden by our wrapper.
#define VMPI_FORTRAN_SPELLING(name, routine, wrapper) \
  extern "C" __attribute__((alias(#wrapper), visibility("default"))) decltype(wrapper) name;

#endif
