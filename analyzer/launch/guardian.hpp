// The process that mpirun knows as an analyzer is a guardian: it waits for the real analyzer, its child in a session of
// its own, and exits with its status. mpirun's SIGKILL, four milliseconds after an MPI_Abort, kills the guardian alone;
// the child notices, saves its state, and exits too. When mpirun itself has died, a thread of Open MPI calls _exit(),
// which waits for that.
#pragma once

namespace ardoise::analyzer {

// Before MPI and before threads. Returns in the child, or in this process if fork fails. The child gets the guardian's
// signals, and SIGTERM when the guardian has died. Both ignore SIGUSR1 and SIGUSR2, which are meant for the programs.
void fork_guardian();

// For an MPI_Finalize after all else: from now on this process ends with `status` at SIGTERM, or when the guardian has
// died. Open MPI may wait for mpirun there, for ever if that has ended.
void end_with_guardian(int status);

}  // namespace ardoise::analyzer
