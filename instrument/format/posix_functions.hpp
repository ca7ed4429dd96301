// The recorded POSIX and stdio functions: numbers of PosixRecord::function, their names and categories. Used by the
// hooks (posix_*_hooks.cpp) and by every reader. Variants are recorded under the plain name: open64 as open, pread64 as
// pread, __read_chk as read, vfprintf and printf as fprintf, lstat and statx as stat, rmdir as unlink …. A copy within
// the kernel is recorded as two calls: sendfile, with the time, reads, and sendfile_to, with no time, writes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ardoise::instrument {

enum class PosixFunction : std::uint16_t {
  kOpen,
  kClose,
  kRead,
  kWrite,
  kPread,
  kPwrite,
  kReadv,
  kWritev,
  kPreadv,
  kPwritev,
  kLseek,
  kFsync,
  kFdatasync,
  kFtruncate,
  kFopen,
  kFdopen,
  kFreopen,
  kFclose,
  kFread,
  kFwrite,
  kFflush,
  kFgets,
  kFputs,
  kFprintf,
  kGetline,
  kFseek,
  kMmap,
  kMsync,
  kSendfile,
  kCopyFileRange,
  // The second end of a copy within the kernel: a recorded call has one file, and a copy has two.
  kSendfileTo,
  kCopyFileRangeTo,
  // They name a file, and open none.
  kStat,
  kAccess,
  kUnlink,
  kRename,
  kMkdir,
  kOpendir,
};

// Calls of kRead and kWrite moved their bytes; calls of kMapping only mapped them.
enum class PosixCategory : std::uint16_t { kMetadata, kRead, kWrite, kSync, kMapping };

struct PosixFunctionInfo {
  std::string_view name;
  PosixCategory category;
};

[[nodiscard]] constexpr bool copies_in_the_kernel(PosixFunction function) {
  return function >= PosixFunction::kSendfile && function <= PosixFunction::kCopyFileRangeTo;
}

// In the order of the enumeration.
inline constexpr auto kPosixFunctions = std::to_array<PosixFunctionInfo>({
    {"open", PosixCategory::kMetadata},     {"close", PosixCategory::kMetadata},
    {"read", PosixCategory::kRead},         {"write", PosixCategory::kWrite},
    {"pread", PosixCategory::kRead},        {"pwrite", PosixCategory::kWrite},
    {"readv", PosixCategory::kRead},        {"writev", PosixCategory::kWrite},
    {"preadv", PosixCategory::kRead},       {"pwritev", PosixCategory::kWrite},
    {"lseek", PosixCategory::kMetadata},    {"fsync", PosixCategory::kSync},
    {"fdatasync", PosixCategory::kSync},    {"ftruncate", PosixCategory::kMetadata},
    {"fopen", PosixCategory::kMetadata},    {"fdopen", PosixCategory::kMetadata},
    {"freopen", PosixCategory::kMetadata},  {"fclose", PosixCategory::kMetadata},
    {"fread", PosixCategory::kRead},        {"fwrite", PosixCategory::kWrite},
    {"fflush", PosixCategory::kSync},       {"fgets", PosixCategory::kRead},
    {"fputs", PosixCategory::kWrite},       {"fprintf", PosixCategory::kWrite},
    {"getline", PosixCategory::kRead},      {"fseek", PosixCategory::kMetadata},
    {"mmap", PosixCategory::kMapping},      {"msync", PosixCategory::kSync},
    {"sendfile", PosixCategory::kRead},     {"copy_file_range", PosixCategory::kRead},
    {"sendfile_to", PosixCategory::kWrite}, {"copy_file_range_to", PosixCategory::kWrite},
    {"stat", PosixCategory::kMetadata},     {"access", PosixCategory::kMetadata},
    {"unlink", PosixCategory::kMetadata},   {"rename", PosixCategory::kMetadata},
    {"mkdir", PosixCategory::kMetadata},    {"opendir", PosixCategory::kMetadata},
});
inline constexpr std::size_t kPosixFunctionCount = kPosixFunctions.size();
static_assert(kPosixFunctionCount == static_cast<std::size_t>(PosixFunction::kOpendir) + 1);

// Returns "" and kMetadata for an invalid number (records come from outside).
[[nodiscard]] constexpr PosixFunctionInfo posix_function_info(std::uint16_t function) {
  return function < kPosixFunctionCount ? kPosixFunctions[function] : PosixFunctionInfo{"", PosixCategory::kMetadata};
}
[[nodiscard]] constexpr std::string_view category_name(PosixCategory category) {
  constexpr std::array<std::string_view, 5> names{"metadata", "read", "write", "sync", "mapping"};
  return names[static_cast<std::size_t>(category)];
}

}  // namespace ardoise::instrument
