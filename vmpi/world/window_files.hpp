// Open MPI 4 names the shared-memory files of one-sided communication (osc/rdma) after the job and the number of the
// communicator. Programs of one launch are one job, and their communicators have equal numbers: two programs that
// create a window at the same time would share its memory. So each partition gets a folder of its own.
#pragma once

namespace ardoise::vmpi {

// Before the real MPI_Init, which reads the folder's name from the environment. Does nothing in a launch of one
// program, or when the user has set a folder.
void separate_window_files() noexcept;

// After the real MPI_Init: children do not inherit the variable. The folder itself is removed when this library is
// unloaded.
void restore_window_environment() noexcept;

// When the process has ended or died. Fails while another process of the partition has a file in the folder, so that
// the last one succeeds.
void remove_window_folder() noexcept;

}  // namespace ardoise::vmpi
