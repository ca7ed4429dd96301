// Open MPI 4 names the shared-memory files of its one-sided communication (osc/rdma) after the job and the number of
// the communicator. Programs of one launch are one job, and their communicators carry the same numbers: without care,
// two programs that make a window at the same time would share its memory. Each partition gets a folder of its own
// instead.
#pragma once

namespace ardoise::vmpi {

// Before the real MPI_Init, which reads the folder's name from the environment. Does nothing in a launch of one
// program, or when the user has chosen a folder.
void separate_window_files() noexcept;

// After it: children of this process inherit nothing of it. The folder itself goes when this library is unloaded.
void restore_window_environment() noexcept;

// The process has ended, or has died. Fails while another process of the partition still has a file in the folder: the
// last one succeeds.
void remove_window_folder() noexcept;

}  // namespace ardoise::vmpi
