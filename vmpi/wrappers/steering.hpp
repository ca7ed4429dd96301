// How what an MPI call comes to is decided from outside. Calls whose outcome the program does not fix (wildcards,
// tests, Waitany …: those that the generator calls steerable, generator/steering.hpp) have a second wrapper, which is
// used where the observer has a Steering: it asks before the real function what shall be done instead, and tells after
// it what came of it. Works the same for C and Fortran: what is changed are arguments, never the function.
#pragma once

#include <mpi.h>

#include "vmpi/wrappers/observer.hpp"

namespace ardoise::vmpi {

// What shall be done with one call. As it stands: what the program asked for.
struct Steer {
  // Set by Steering::before.
  bool skips = false;  // no call; its flag is false, its count 0, and it returns `code`
  int code = MPI_SUCCESS;
  bool until_true = false;        // called again until its flag is true, or it fails
  bool pins = false;              // receives and probes: these instead of the program's
  int source = 0, tag = 0;        //
  MPI_Comm comm = MPI_COMM_NULL;  // posted receives, with pins; MPI_COMM_NULL: the program's
  const int* kept = nullptr;      // positions; all other requests are hidden from the call. nullptr: none is
  int kept_count = 0;             //
  MPI_Request (*substitute)(MPI_Request) noexcept = nullptr;  // what stands behind a request of the program
  // Set by the wrapper. Before: where a receive goes, for MPI_Recv_init; type MPI_DATATYPE_NULL: not known.
  void* buffer = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  // After.
  bool flag = false;          // of those that have one
  bool none_active = false;   // Testany, Testsome, Waitany, Waitsome: there was no active request
  MPI_Fint fortran_comm = 0;  // the wrapper's own
};

struct Steering {
  void (*before)(Call&, Steer&) noexcept;       // after Observer::enter
  void (*after)(Call&, const Steer&) noexcept;  // before Observer::exit; Call::result is set
  // A call is about to be made once more (until_true).
  void (*again)() noexcept;
};

}  // namespace ardoise::vmpi
