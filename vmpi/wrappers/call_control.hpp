// Overrides of the outcome of MPI calls. Calls whose outcome the program does not determine (wildcards, tests, Waitany
// …; controllable in generator/call_control.hpp) have a second wrapper, used when the observer has a CallControl: it
// asks before the real function what to do instead, and reports the outcome afterwards. C and Fortran work alike:
// arguments change, never the function.
#pragma once

#include <mpi.h>

#include "vmpi/wrappers/observer.hpp"

namespace ardoise::vmpi {

// The override of one call. Default: the call as the program made it.
struct CallOverride {
  // Set by CallControl::before.
  bool skips = false;  // no call; its flag is false, its count 0, and it returns `code`
  int code = MPI_SUCCESS;
  bool until_true = false;  // repeated until its flag is true or it fails
  bool pins = false;        // receives and probes: source and tag below replace the program's
  int source = 0, tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;  // posted receives, with pins; MPI_COMM_NULL: the program's
  // Positions of the visible requests; all others are hidden from the call. nullptr: none is hidden.
  const int* kept = nullptr;
  int kept_count = 0;
  MPI_Request (*substitute)(MPI_Request) noexcept = nullptr;  // the request to use in place of one of the program
  // Set by the wrapper, before: the receive buffer of MPI_Recv_init; type MPI_DATATYPE_NULL: unknown.
  void* buffer = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  // Set by the wrapper, after.
  bool flag = false;          // of functions that have one
  bool none_active = false;   // Testany, Testsome, Waitany, Waitsome: there was no active request
  MPI_Fint fortran_comm = 0;  // for the wrapper
};

struct CallControl {
  void (*before)(Call&, CallOverride&) noexcept;       // after Observer::enter
  void (*after)(Call&, const CallOverride&) noexcept;  // before Observer::exit; Call::result is set
  // The call is about to be repeated (until_true).
  void (*again)() noexcept;
};

}  // namespace ardoise::vmpi
