// See files.hpp.
#include "instrument/record/files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "instrument/machine/mapped_memory.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::size_t kTableBytes = sizeof(std::atomic<std::uint32_t>) * Files::kDescriptors;

}  // namespace

std::string display_path(int descriptor, std::string_view link) {
  constexpr std::array<std::string_view, 3> kStandard{"(standard input)", "(standard output)", "(standard error)"};
  const bool is_file = link.starts_with('/') && !link.starts_with("/dev/");
  if (descriptor <= 2 && !is_file) return std::string(kStandard[static_cast<std::size_t>(descriptor)]);
  if (link.starts_with('/')) {
    constexpr std::string_view kDeleted = " (deleted)";
    if (link.ends_with(kDeleted)) link.remove_suffix(kDeleted.size());
    return std::string(link);
  }
  // "socket:[4711]", "pipe:[12]", "anon_inode:[eventfd]", "anon_inode:inotify"
  const std::size_t colon = link.find(':');
  if (link.substr(0, colon) == "anon_inode" && colon != std::string_view::npos) link.remove_prefix(colon + 1);
  if (link.starts_with('[')) link = link.substr(1, link.find(']') - 1);
  return fmt::format("({})", link.substr(0, link.find(':')));
}

Files::Files(DefinitionQueue& definitions)
    : definitions_(definitions), numbers_(static_cast<std::atomic<std::uint32_t>*>(map_memory(kTableBytes))) {}

Files::~Files() {
  if (numbers_ != nullptr) unmap_memory(numbers_, kTableBytes);
}

std::uint32_t Files::look_up(int descriptor) {
  std::array<char, 32> name{};
  fmt::format_to_n(name.data(), name.size() - 1, "/proc/self/fd/{}", descriptor);
  std::array<char, 4096> link{};
  const long length = ::syscall(SYS_readlinkat, AT_FDCWD, name.data(), link.data(), link.size());
  if (length <= 0) return kUnknown;
  const std::uint32_t number =
      of_path(display_path(descriptor, std::string_view(link.data(), static_cast<std::size_t>(length))));
  if (descriptor < kDescriptors && numbers_ != nullptr) numbers_[descriptor].store(number, std::memory_order_relaxed);
  return number;
}

std::uint32_t Files::of_path(std::string_view path) {
  const std::lock_guard guard(lock_);
  std::string key(path);
  if (const auto found = paths_.find(key); found != paths_.end()) return found->second;
  if (paths_.size() >= kMaxFiles) {
    key = "(further files)";
    if (const auto found = paths_.find(key); found != paths_.end()) return found->second;
  }
  const auto number = static_cast<std::uint32_t>(paths_.size() + 1);
  if (!definitions_.add(FileDefinition{number, 0}, std::string_view(key))) return kUnknown;
  paths_.emplace(std::move(key), number);
  return number;
}

}  // namespace ardoise::instrument
