// Names of partitions: the name of a program, validity of explicit names, and distinction of equal names. Pure
// functions without MPI, used by partitions.cpp in MPI_Init.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ardoise::vmpi {

// Longest name in bytes, without the terminating zero of VMPI_Partition_desc.name.
inline constexpr std::size_t kMaxPartitionName = 127;

// The name of the program with these arguments: the last component of argv[0], or, when that is an interpreter
// (python3, sh, java ...), of the script, module or jar that it runs. `executable` is the path of the running file,
// used when there are no arguments. Never empty.
std::string program_name(const std::vector<std::string>& arguments, std::string_view executable);

// Why `name` is not valid as an explicit name, as the end of a sentence; nullptr: valid.
const char* invalid_partition_name(std::string_view name) noexcept;

// At most `limit` bytes of `text`, without cutting a UTF-8 sequence.
std::string truncated(std::string_view text, std::size_t limit);

// Makes names unique in place: the first keeps its name, later ones get "#2", "#3" ... Names with is_explicit[i] come
// first and differ from each other (equal explicit names are one partition).
void make_names_unique(std::vector<std::string>& names, const std::vector<bool>& is_explicit);

}  // namespace ardoise::vmpi
