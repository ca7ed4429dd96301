/* The page in a file that dying programs share with their observer (tests/tools/deaths.py). */
#ifndef ARDOISE_DEATHS_H
#define ARDOISE_DEATHS_H

#include <stdint.h>

#define DEATHS_RANKS 8

struct deaths_page {
  /* Calls of each rank that have ended, as the program counts them itself. */
  volatile uint64_t exchanges[DEATHS_RANKS], reductions[DEATHS_RANKS], writes[DEATHS_RANKS];
  volatile uint64_t how[DEATHS_RANKS], at[DEATHS_RANKS]; /* kind of death, 0 none; the step of it */
};

enum { DEATHS_SEGV = 1, DEATHS_ABORT, DEATHS_FPE, DEATHS_IMMEDIATE_EXIT, DEATHS_EXIT, DEATHS_MPI_ABORT, DEATHS_KILL, DEATHS_TERM };

/* For C and Fortran. */
void deaths_open(const char* path);
void deaths_exchanged(int rank);
void deaths_reduced(int rank);
void deaths_write(int rank); /* writes a line somewhere, and counts it */
void deaths_step(int rank, int step); /* dies where the page says so */

#endif
