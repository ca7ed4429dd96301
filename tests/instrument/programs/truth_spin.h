/* Work with a known share of the time: the same instructions for every unit. */
#ifndef TRUTH_SPIN_H
#define TRUTH_SPIN_H

static inline __attribute__((always_inline)) void truth_spin(long units) {
  unsigned long x = 88172645463325252ul;
  for (long i = 0; i < units * 1000; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    __asm__ volatile("" : "+r"(x));
  }
}

/* Units of one round: 100 in all, in steps small enough to be mixed evenly. */
enum { kTruthHalf = 50, kTruthThird = 30, kTruthLate = 15, kTruthFortran = 5 };

/* Calls of one function between two reads of the clock: a read takes 1 % of a round, in equal parts from all functions. */
enum { kTruthCalls = 10 };

/* Adds the CPU time of each of the four to cpu, ns, unless that is null: on a virtual machine whose processor is taken
 * away for some milliseconds, the kernel counts these in the function that ran. rounds: a multiple of kTruthCalls. */
void truth_run(int rounds, void (*late)(int), long long cpu[4]);
#endif
