// Decides which app contexts of the launch line share one MPI_COMM_WORLD. By default all do, as without ardoise. With
// --separate each has its own. --partition NAME=CONTEXT[,CONTEXT…] names contexts that share one. These get the name in
// VMPI_PARTITION_NAME; libvmpi does the rest. Wrong names are found here, before the launch: in the launch, a code
// without its partners would wait forever.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/ardoise/launch/launch_line.hpp"

namespace ardoise::launcher {

inline constexpr const char* kPartitionVariable = "VMPI_PARTITION_NAME";

// The name of the partition for each context of the line; nullopt: unchanged. A CONTEXT is its number on the line, from
// 0 (as in MPI_APPNUM), or a program as typed or its last component, which means all contexts of that program. Throws
// UsageError for a name that is empty, too long, with control characters or the analyzers' own; a name or context that
// is given twice; a context that does not exist; a context whose name is already on the line.
[[nodiscard]] std::vector<std::optional<std::string>> assign_partitions(const std::vector<std::string>& options,
                                                                        const LaunchLine& line);

// The same without --partition and --separate: one world for all, unless the user sets the variable.
[[nodiscard]] std::vector<std::optional<std::string>> join_all(const LaunchLine& line, const char* environment);

// Checks names that the user sets in the variable, on the line (-x) or in the environment (nullptr: not set). Throws
// UsageError as above.
void check_partition_variable(const LaunchLine& line, const char* environment);

}  // namespace ardoise::launcher
