// Signals that would end the program. A handler of this library notes the signal and the place of the thread
// (end_note.hpp) and then acts as the program's own action would. The program reads and sets its own actions as usual.
// It ends with the same status and the same core as without the handler, since a fault is repeated and any other signal
// is raised again with its sender's identity. A signal that the program ignores or handles has the usual effect.
#pragma once

#include <csignal>

namespace ardoise::instrument {

// watch: called in MPI_Init. restore: called before MPI_Finalize and in a child of fork(); it gives the kernel the
// program's own actions again.
void watch_fatal_signals() noexcept;
void restore_fatal_signals() noexcept;

// The actions of this signal are set and read by change_action().
[[nodiscard]] bool is_watched(int number) noexcept;
// As sigaction(2).
int change_action(int number, const struct sigaction* action, struct sigaction* before) noexcept;

// Sets the action in the kernel (sampler_hooks.cpp).
int set_kernel_action(int number, const struct sigaction* action, struct sigaction* before) noexcept;

}  // namespace ardoise::instrument
