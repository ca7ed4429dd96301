// Marks that the analyzers on this machine can see: these processes of the launch have called MPI_Init in our library.
// It waits there for all processes of the launch, and once one has called it none must be missing; where none ever
// does, an analyzer that called it would keep the launch alive for ever, and where one calls it without our library, a
// program would share its world with the analyzers. So an analyzer calls it only when all processes of the launch on
// its machine have set their marks.
//
// A mark is the name of the launch and the number of the process among those of the launch on this machine, bound as an
// abstract socket: it is gone with the process, leaves no file, and asking for it costs two system calls. With Open MPI
// no other user can set it, because the name has a secret in it (launch_secret.hpp). With MPICH one of this machine who
// guesses it can: then an analyzer calls MPI_Init too early, which matters only where a program lacks our library.
#pragma once

namespace ardoise::vmpi {

void set_init_mark() noexcept;    // does nothing unless a launcher of MPI started this process
void clear_init_mark() noexcept;  // when all have come

// The first local rank from `from` on, below `end`, whose mark is not set; `end`: all of them are. Without a launcher
// none is.
[[nodiscard]] int first_without_init_mark(int from, int end) noexcept;

}  // namespace ardoise::vmpi
