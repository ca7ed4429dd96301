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

static long long read_clock(const long long* cpu) { return cpu == NULL ? 0 : cpu_ns(); }

void truth_run(int rounds, void (*late)(int), long long cpu[4]) {
  const int fortran = kTruthFortran;
  const int calls = cpu == NULL ? 1 : kTruthCalls;
  for (int round = 0; round < rounds; round += calls) {
    long long ends[5] = {read_clock(cpu)};
    for (int i = 0; i < calls; ++i) truth_a(kTruthHalf);
    ends[1] = read_clock(cpu);
    for (int i = 0; i < calls; ++i) truth_third(kTruthThird);
    ends[2] = read_clock(cpu);
    for (int i = 0; i < calls; ++i) late(kTruthLate);
    ends[3] = read_clock(cpu);
    for (int i = 0; i < calls; ++i) truth_fortran(&fortran);
    ends[4] = read_clock(cpu);
    for (int i = 0; i < 4 && cpu != NULL; ++i) cpu[i] += ends[i + 1] - ends[i];
  }
}
