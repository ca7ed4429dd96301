/* The common part of mpi_counted and its observer. */
#ifndef ARDOISE_MPI_COUNTED_H
#define ARDOISE_MPI_COUNTED_H

#include <stdint.h>

struct counted_page {
  volatile uint64_t exchanges[8], broadcasts[8]; /* calls of each rank that have ended */
  volatile uint64_t pauses;                      /* rank 1 computes, the others wait in MPI_Bcast */
  volatile uint64_t ends;
};

#endif
