// A mark that the analyzers on this machine can see: a process of the launch has called MPI_Init. It waits there for
// all processes of the launch, and once one has called it none must be missing; where none ever does, an analyzer that
// called it would keep the launch alive for ever. So an analyzer calls it only when the mark is set.
//
// The mark is the name of the launch, bound as an abstract socket: it is gone with the process, leaves no file, and
// asking for it costs two system calls.
#pragma once

namespace ardoise::vmpi {

void set_init_mark() noexcept;    // does nothing unless a launcher of MPI started this process
void clear_init_mark() noexcept;  // when all have come
// By a process of the launch on this machine. False, too, when no launcher started this process.
[[nodiscard]] bool is_init_mark_set() noexcept;

}  // namespace ardoise::vmpi
