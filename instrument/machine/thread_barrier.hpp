// The expensive half of an asymmetric fence: every thread of the process passes a full memory barrier, so that those on
// hot paths and in signal handlers need none. Used where recording or sampling ends.
#pragma once

namespace ardoise::instrument {

// While the process has one thread, as most have before MPI_Init: later the first barrier takes some 10 ms more.
void prepare_thread_barrier() noexcept;

// Kernels without the expedited command (before 4.14) have the plain one, which takes milliseconds; where a sandbox
// forbids both, store buffers are given far more time than they need.
void barrier_in_all_threads();

}  // namespace ardoise::instrument
