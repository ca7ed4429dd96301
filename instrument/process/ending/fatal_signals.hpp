// Signals that end a program: their action is a handler of ours, which notes the signal and where the thread was
// (end_note.hpp) and then does what the program's own action would have done. The program sees its own action
// when it asks, sets it as always, and ends as it would have: with the same status, and with the same core, since a
// fault is repeated and any other signal is raised again by its sender's name. Natively a program that was told to
// ignore a signal, or handles it, goes on; so it does here.
#pragma once

#include <csignal>

namespace ardoise::instrument {

// In MPI_Init, and before MPI_Finalize, or in a child of fork(): the kernel has the program's own actions again.
void watch_fatal_signals() noexcept;
void leave_fatal_signals() noexcept;

// The actions of this signal are set and asked through change_action().
[[nodiscard]] bool is_watched(int number) noexcept;
// As sigaction(2).
int change_action(int number, const struct sigaction* action, struct sigaction* before) noexcept;

// What the kernel is told (sampler_hooks.cpp).
int set_kernel_action(int number, const struct sigaction* action, struct sigaction* before) noexcept;

}  // namespace ardoise::instrument
