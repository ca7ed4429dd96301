// Which app contexts of the launch line share one MPI_COMM_WORLD: all of them, as without ardoise; with --separate each
// has its own; --partition NAME=CONTEXT[,CONTEXT…] names those that share one where others stay apart. They get the
// name in VMPI_PARTITION_NAME; libvmpi does the rest. Everything that is wrong with names is found here, before the
// launch: inside it, a code without its partners could only wait.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/ardoise/launch/launch_line.hpp"

namespace ardoise::launcher {

inline constexpr const char* kPartitionVariable = "VMPI_PARTITION_NAME";

// For each context of the line the name of the partition it is put into; nothing: it stays what it is. A CONTEXT is its
// number on the line, from 0 (as in MPI_APPNUM), or a program as typed or its last component, which means all contexts
// of that program. Throws UsageError: a name that is empty, too long, with control characters or the analyzers' own; a
// name or a context that is given twice; a context that is not there; a context whose name stands on the line already.
[[nodiscard]] std::vector<std::optional<std::string>> assign_partitions(const std::vector<std::string>& options,
                                                                        const LaunchLine& line);

// The same without --partition and --separate: one world for all, unless the user names partitions by the variable.
[[nodiscard]] std::vector<std::optional<std::string>> join_all(const LaunchLine& line, const char* environment);

// Names that the user gives by the variable itself, on the line (-x) or in the environment (nullptr: not set). Throws
// UsageError as above.
void check_partition_variable(const LaunchLine& line, const char* environment);

}  // namespace ardoise::launcher
