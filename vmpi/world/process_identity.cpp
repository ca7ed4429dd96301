#include "vmpi/world/process_identity.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <string>

namespace ardoise::vmpi {
namespace {

// Not stdio: instrument counts the program's I/O, and this read is ours.
std::string first_line(const std::string& path) {
  std::string text;
  if (const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC); file >= 0) {
    char chunk[1024];
    if (const auto got = ::read(file, chunk, sizeof chunk); got > 0) text.assign(chunk, static_cast<std::size_t>(got));
    ::close(file);
  }
  return text;
}

struct Status {
  char state = '?';  // 'X': ended; 'Z': ended, unless other threads than the first still run
  std::uint32_t threads = 0;
  std::uint32_t start = 0;  // in clock ticks since boot, 0: no such process
};

// Fields 3, 20 and 22 of /proc/<pid>/stat, counted after the program's name, which is in parentheses and may contain
// anything.
Status status_of(std::int32_t process) {
  const auto stat = first_line("/proc/" + std::to_string(process) + "/stat");
  auto at = stat.rfind(')');
  if (at == std::string::npos || at + 2 >= stat.size()) return {};
  Status status{.state = stat[at + 2]};
  const auto number_at = [&] { return static_cast<std::uint32_t>(std::strtoull(stat.c_str() + at, nullptr, 10)); };
  for (int field = 3; field <= 22; ++field) {
    at = stat.find(' ', at + 1);
    if (at == std::string::npos) return status;
    if (field == 20) status.threads = number_at();
    if (field == 22) status.start = number_at();
  }
  return status;
}

}  // namespace

ProcessIdentity own_identity() {
  ProcessIdentity own;
  own.process = ::getpid();
  own.start = status_of(own.process).start;
  char name[256] = "";
  if (::readlink("/proc/thread-self/ns/pid", name, sizeof name - 1) > 0)
    own.space = std::hash<std::string>()(first_line("/proc/sys/kernel/random/boot_id") + name);
  return own;
}

std::int64_t watchable(const ProcessIdentity& own, const ProcessIdentity& peer) {
  if (peer.space == 0 || peer.space != own.space || peer.process <= 0 || peer.start == 0) return 0;
  return (static_cast<std::int64_t>(peer.start) << 32) | peer.process;
}

bool is_running(std::int64_t process) {
  const int saved = errno;
  const auto id = static_cast<std::int32_t>(process & 0xFFFFFFFF);
  bool runs = ::kill(id, 0) == 0 || errno != ESRCH;
  if (runs) {
    const auto status = status_of(id);
    const bool same = status.start == static_cast<std::uint32_t>(static_cast<std::uint64_t>(process) >> 32);
    // If /proc is unreadable, the result of kill() decides.
    const bool has_ended = status.state == 'X' || (status.state == 'Z' && status.threads <= 1);
    if (status.state != '?') runs = same && !has_ended;
  }
  errno = saved;
  return runs;
}

}  // namespace ardoise::vmpi
