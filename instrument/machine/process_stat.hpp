// Reads the state of a process from /proc/<pid>/stat. Allocates nothing, takes no lock, leaves errno unchanged.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "instrument/machine/small_file.hpp"

namespace ardoise::instrument {

struct ProcessStat {
  char state = 0;  // 'R', 'S', 'T', 't', 'Z' …; 0: there is no such process
  std::uint64_t threads = 0;
  std::uint64_t cpu_ticks = 0;  // of all its threads, in the kernel's ticks for user space (10 ms)
  int wait_status = 0;          // of a zombie, as waitpid(2) gives it
};

[[nodiscard]] inline ProcessStat process_stat(const char* path) noexcept {
  // Fields after the name. The name may contain any character.
  constexpr int kUserTime = 11, kKernelTime = 12, kThreads = 17, kExitCode = 49;
  std::array<char, 1024> text;
  std::string_view line = read_small_file(path, text);
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string_view::npos || name_end + 2 >= line.size()) return {};
  line.remove_prefix(name_end + 2);
  ProcessStat stat{.state = line[0]};
  for (int field = 0; !line.empty() && field <= kExitCode; ++field) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size() < line.size() ? word.size() + 1 : word.size());
    std::uint64_t number = 0;
    for (const char digit : word) {
      if (digit >= '0' && digit <= '9') number = 10 * number + static_cast<std::uint64_t>(digit - '0');
    }
    if (field == kUserTime || field == kKernelTime) stat.cpu_ticks += number;
    if (field == kThreads) stat.threads = number;
    if (field == kExitCode) stat.wait_status = static_cast<int>(number);
  }
  return stat;
}

}  // namespace ardoise::instrument
