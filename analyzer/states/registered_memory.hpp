// Whether a process with MPI may fork. RDMA networks write into pages of the process that are registered with their
// device. After a fork such a page is shared with the child, and on older kernels the first writer of the two gets a
// new page: later writes of the network are lost. Linux copies such pages for the child since 5.13 at the latest.
// (IBV_FORK_SAFE hides them from the child, which needs them here.)
#pragma once

#include <filesystem>
#include <string_view>

namespace ardoise::analyzer {

// release: of the kernel, "4.18.0-553.el8". descriptors: /proc/<pid>/fd, which shows whether a device is open.
[[nodiscard]] bool is_fork_safe(std::string_view release, const std::filesystem::path& descriptors);
// For this process.
[[nodiscard]] bool is_fork_safe();

}  // namespace ardoise::analyzer
