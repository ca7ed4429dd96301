// Marks, visible to the analyzers on this machine, of the processes that have called MPI_Init in our library. MPI_Init
// waits for all processes of the launch. If no program calls it, an analyzer that does would block for ever; if a
// program calls it without our library, it would share its world with the analyzers. So an analyzer calls MPI_Init only
// after all processes of the launch on its machine have set their marks.
//
// A mark is an abstract socket named after the launch and the process's number on this machine: it disappears with the
// process, leaves no file, and checking it costs two system calls. With Open MPI other users cannot set it, because the
// name contains a secret (launch_secret.hpp). With MPICH a user of this machine who guesses the name can: the analyzer
// then calls MPI_Init too early, which matters only when a program lacks our library.
#pragma once

namespace ardoise::vmpi {

void set_init_mark() noexcept;    // does nothing unless a launcher of MPI started this process
void clear_init_mark() noexcept;  // when all processes have arrived

// The first local rank in [from, end) without a mark; `end`: all have one. Without a launcher: `from`.
[[nodiscard]] int first_without_init_mark(int from, int end) noexcept;

}  // namespace ardoise::vmpi
