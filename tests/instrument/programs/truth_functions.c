/* Functions with 50, 30, 15 and 5 % of the time: at depth four, inlined into its caller, in a library opened late, and
 * in Fortran. Used by sampled_truth.c and by the unit test of the sampler. */
#include "truth_spin.h"


#define KEEP __attribute__((noinline, noclone)) /* and no tail calls */

void truth_fortran(const int* units);

KEEP void truth_half(int units) { truth_spin(units); }
KEEP void truth_c(int units) {
  truth_half(units);
  __asm__ volatile("");
}
KEEP void truth_b(int units) {
  truth_c(units);
  __asm__ volatile("");
}
KEEP void truth_a(int units) {
  truth_b(units);
  __asm__ volatile("");
}

static inline __attribute__((always_inline)) void truth_inlined(int units) { truth_spin(units); }
KEEP void truth_third(int units) {
  truth_inlined(units);
  __asm__ volatile("");
}

void truth_run(int rounds, void (*late)(int)) {
  const int fortran = kTruthFortran;
  for (int round = 0; round < rounds; ++round) {
    truth_a(kTruthHalf);
    truth_third(kTruthThird);
    late(kTruthLate);
    truth_fortran(&fortran);
  }
}
