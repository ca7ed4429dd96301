// mpi.h and, where the MPI has them, its extensions (MPIX_ functions). The generator reads the preprocessed text of
// this header.
#pragma once

#include <mpi.h>
#if defined(OPEN_MPI) && defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif
