// The names by which Fortran compilers call an MPI routine: mpi_send_, mpi_send, mpi_send__, MPI_SEND. We define all of
// them, before the program's own libraries in search order. But a C library may use such a name for a function of its
// own with other parameters (Rmpi has `int mpi_comm_rank(void)`). So each name is a jump stub. Its first call looks up
// what the caller would call without us; from then on it jumps to our wrapper if that is MPI's routine, else to that
// function. No register is changed.
#pragma once

namespace ardoise::vmpi {

// One for each name, emitted by the stub's macro.
struct FortranSpelling {
  const char* name;     // as the caller spells it
  const char* routine;  // the most frequent spelling, which a tool defines, too
  void* wrapper;        // ours
  void** target;        // jump target of the stub
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

// Other architectures: our wrapper hides a program's own function of this name.
#define VMPI_FORTRAN_SPELLING(name, routine, wrapper) \
  extern "C" __attribute__((alias(#wrapper), visibility("default"))) decltype(wrapper) name;

#endif
