#include "instrument/machine/thread_tasks.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "instrument/machine/small_file.hpp"

namespace ardoise::instrument {
namespace {

struct KernelEntry {  // struct linux_dirent64
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t bytes;
  std::uint8_t type;
  char name[1];
};

// The number after `field` in a status file of /proc.
std::optional<std::uint64_t> status_number(const std::string& path, std::string_view field, int base) {
  std::string text(8192, '\0');
  text.resize(read_small_file(path.c_str(), text).size());
  const std::size_t at = text.find(field);
  if (at == std::string::npos) return std::nullopt;
  return std::strtoull(text.c_str() + at + field.size(), nullptr, base);
}

}  // namespace

std::uint32_t own_tid() noexcept { return static_cast<std::uint32_t>(::syscall(SYS_gettid)); }

std::vector<std::uint32_t> running_tasks() {
  std::vector<std::uint32_t> tasks;
  const long directory = ::syscall(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return tasks;
  alignas(8) std::array<char, 4096> buffer{};
  for (;;) {
    const long got = ::syscall(SYS_getdents64, directory, buffer.data(), buffer.size());
    if (got <= 0) break;
    for (long at = 0; at < got;) {
      const auto* const entry = reinterpret_cast<const KernelEntry*>(buffer.data() + at);
      std::uint32_t tid = 0;
      const std::string_view name(entry->name);
      if (std::from_chars(name.data(), name.data() + name.size(), tid).ec == std::errc{} && tid != 0)
        tasks.push_back(tid);
      at += entry->bytes;
    }
  }
  ::syscall(SYS_close, directory);
  return tasks;
}

bool blocks_signal(std::uint32_t tid, int signal) {
  const auto mask = status_number(fmt::format("/proc/self/task/{}/status", tid), "\nSigBlk:", 16);
  return !mask || (*mask >> (signal - 1) & 1u) != 0;
}

bool is_traced() { return status_number("/proc/self/status", "\nTracerPid:", 10).value_or(0) != 0; }

std::uint64_t cpu_time_of(std::uint32_t tid) {
  timespec time{};
  // The kernel's code for the CPU clock of a thread; see clock_getcpuclockid(3).
  if (::syscall(SYS_clock_gettime, static_cast<clockid_t>(~tid << 3 | 6u), &time) != 0) return 0;
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t own_switches() noexcept {
  rusage usage{};
  ::syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
  return static_cast<std::uint64_t>(usage.ru_nvcsw) + static_cast<std::uint64_t>(usage.ru_nivcsw);
}

}  // namespace ardoise::instrument
