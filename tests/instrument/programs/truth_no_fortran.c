/* Replaces truth_fortran.f90 if there is no Fortran compiler. */
#include "truth_spin.h"

void truth_fortran(const int* units);
__attribute__((noinline)) void truth_fortran(const int* units) { truth_spin(*units); }
