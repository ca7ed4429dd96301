#include "instrument/races/race_sites.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "instrument/format/race_format.hpp"

namespace ardoise::instrument {
namespace {

// Uses system calls, since the functions of the C library are hooked.
std::string whole_file(const std::string& path) {
  std::string text;
  const long file = ::syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return text;
  std::array<char, 4096> piece;
  for (long got = 0; (got = ::syscall(SYS_read, file, piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(got));
  ::syscall(SYS_close, file);
  return text;
}

}  // namespace

std::string site_name(const std::string& folder, const RaceKey& key) {
  if (key.module.empty()) return "code made at run time";
  const std::string text = whole_file(folder + "/" + kRaceSites);
  const std::string wanted = fmt::format("{}\t{:x}\t", module_file(key.module), key.offset);
  for (std::size_t line = 0; line < text.size();) {
    const std::size_t end = std::min(text.find('\n', line), text.size());
    if (text.compare(line, wanted.size(), wanted) == 0)
      return text.substr(line + wanted.size(), end - line - wanted.size());
    line = end + 1;
  }
  return fmt::format("{}+0x{:x}", module_file(key.module), key.offset);
}

}  // namespace ardoise::instrument
