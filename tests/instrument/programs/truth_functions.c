/* Functions with 50, 30, 15 and 5 % of the time: at depth four, inlined into its caller, in a library opened late, and
 * in Fortran. Used by sampled_truth.c and by the unit test of the sampler. */
#define _GNU_SOURCE
#include <stddef.h>

#include "truth_spin.h"
#include "truth_tell.h"

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

/* The CPU time since *before, which becomes now, into one of the sums. */
static void add(long long cpu[4], int function, long long* before) {
  if (cpu == NULL) return;
  const long long now = cpu_ns();
  cpu[function] += now - *before;
  *before = now;
}

void truth_run(int rounds, void (*late)(int), long long cpu[4]) {
  const int fortran = kTruthFortran;
  long long before = cpu_ns();
  for (int round = 0; round < rounds; ++round) {
    truth_a(kTruthHalf);
    add(cpu, 0, &before);
    truth_third(kTruthThird);
    add(cpu, 1, &before);
    late(kTruthLate);
    add(cpu, 2, &before);
    truth_fortran(&fortran);
    add(cpu, 3, &before);
  }
}
