#include "vmpi/world/init_mark.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "vmpi/world/launch_secret.hpp"

namespace ardoise::vmpi {
namespace {

int mark = -1;

struct Name {
  sockaddr_un address{AF_UNIX, {}};
  socklen_t length = 0;  // 0: there is no launch
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

// The last bytes of a variable's value, where launch names differ; "": not set.
const char* end_of(const char* variable) noexcept {
  constexpr std::size_t kMost = 26;
  const char* const value = std::getenv(variable);
  if (value == nullptr) return "";
  const std::size_t length = std::strlen(value);
  return length > kMost ? value + (length - kMost) : value;
}

// The process's number among those of the launch on this machine. The first variable is Open MPI's own, which we never
// change (launch_environment.hpp).
int own_local_rank() noexcept {
  for (const char* const name : {"OMPI_MCA_orte_ess_node_rank", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"}) {
    if (const char* const rank = std::getenv(name)) return std::atoi(rank);
  }
  return -1;
}

// The launch in a form common to its processes on this machine, and the process's number. The launch: PMIx's name and
// server folder (Open MPI), or the port or process of the Hydra connections (MPICH). All of them are used, because a
// nested launch may inherit some.
Name name_of_mark(int local_rank) noexcept {
  Name name;
  if (local_rank < 0) return name;
  const char* const launch = end_of("PMIX_NAMESPACE");
  const char* const port = end_of("PMI_PORT");
  const char* const connection = end_of("PMI_FD");
  if (*launch == '\0' && *port == '\0' && *connection == '\0') return name;
  ucred maker{};
  socklen_t size = sizeof maker;
  if (*connection != '\0') (void)::getsockopt(std::atoi(connection), SOL_SOCKET, SO_PEERCRED, &maker, &size);
  char purpose[32];
  std::snprintf(purpose, sizeof purpose, "mark of %d", local_rank);
  char* const text = name.address.sun_path + 1;  // after a zero byte: abstract socket
  constexpr int kMostText = sizeof name.address.sun_path - 2;
  const int length = std::snprintf(text, kMostText + 1, "ardoise-init-%s-%s-%s-%d-%d-%016llx", launch,
                                   end_of("PMIX_SERVER_TMPDIR"), port, static_cast<int>(maker.pid), local_rank,
                                   static_cast<unsigned long long>(launch_secret(purpose)));
  name.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                       static_cast<std::size_t>(std::min(length, kMostText)));
  return name;
}

int open_socket() noexcept { return ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

}  // namespace

void set_init_mark() noexcept {
  const Name name = name_of_mark(own_local_rank());
  if (name.length == 0 || mark >= 0 || (mark = open_socket()) < 0) return;
  (void)::bind(mark, name.get(), name.length);
}

void clear_init_mark() noexcept {
  if (mark >= 0) ::close(mark);
  mark = -1;
}

int first_without_init_mark(int from, int end) noexcept {
  for (; from < end; ++from) {
    const Name name = name_of_mark(from);
    const int asking = name.length != 0 ? open_socket() : -1;
    if (asking < 0) break;
    const bool is_there = ::connect(asking, name.get(), name.length) == 0;
    ::close(asking);
    if (!is_there) break;
  }
  return from;
}

}  // namespace ardoise::vmpi
