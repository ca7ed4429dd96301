// The process that mpirun knows as an analyzer only waits for the analyzer proper, its child in a session of its own,
// and ends as that does. mpirun's SIGKILL, which comes four milliseconds after an MPI_Abort, ends this one alone; the
// child notices, makes safe what it knows, and ends too. Where mpirun itself has died, a thread of Open MPI ends the
// process by _exit(): it waits meanwhile.
#pragma once

namespace ardoise::analyzer {

// Before MPI and before threads. Returns in the child, or where there can be none. The child gets the signals that
// this process gets, and SIGTERM when it has died. Both ignore SIGUSR1 and SIGUSR2, which are for the programs.
void leave_a_guardian();

}  // namespace ardoise::analyzer
