#include "analyzer/states/registered_memory.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;

// InfiniBand, RoCE, iWARP and EFA; Omni-Path; Slingshot; Cray's Gemini and Aries.
constexpr std::array<std::string_view, 4> kDevices{"/dev/infiniband/", "/dev/hfi1", "/dev/cxi", "/dev/kgni"};

bool copies_registered_pages(std::string_view release) {
  int major = 0, minor = 0;
  const char* const end = release.data() + release.size();
  const auto [dot, error] = std::from_chars(release.data(), end, major);
  if (error != std::errc() || dot == end) return false;
  std::from_chars(dot + 1, end, minor);
  return std::pair(major, minor) >= std::pair(5, 13);
}

}  // namespace

bool is_fork_safe(std::string_view release, const fs::path& descriptors) {
  if (copies_registered_pages(release)) return true;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(descriptors, error)) {
    const std::string target = fs::read_symlink(entry.path(), error).string();
    if (std::ranges::any_of(kDevices, [&](std::string_view device) { return target.starts_with(device); }))
      return false;
  }
  return true;
}

bool is_fork_safe() {
  ::utsname kernel{};
  ::uname(&kernel);
  return is_fork_safe(kernel.release, "/proc/self/fd");
}

}  // namespace ardoise::analyzer
