// See job_watch.hpp.
#include "analyzer/job_watch.hpp"

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <thread>

#include "vmpi/world/init_mark.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string read_all(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::uint16_t> server_ports() {
  std::vector<std::uint16_t> ports;
  for (const auto* name :
       {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3", "PMIX_SERVER_URI21", "PMIX_SERVER_URI2"}) {
    const char* address = std::getenv(name);
    if (const auto port = address != nullptr ? port_of(address) : std::uint16_t{0}; port != 0) ports.push_back(port);
  }
  return ports;
}

bool has_client(const std::vector<std::uint16_t>& ports) {
  for (const auto* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const auto text = read_all(table);
    for (const auto port : ports) {
      if (has_connection_to(text, port)) return true;
    }
  }
  return false;
}

// Parent of a process, nothing when it is gone or only waits for its parent to notice that.
std::optional<pid_t> parent_of_living(const fs::path& process) {
  const auto stat = read_all(process / "stat");
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(name_end + 1));
  char state = 0;
  pid_t parent = 0;
  if (!(fields >> state >> parent) || state == 'Z' || state == 'X') return std::nullopt;
  return parent;
}

struct Siblings {
  unsigned analyzers = 0;  // this process among them
  unsigned programs = 0;
};

Siblings count_siblings() {
  Siblings siblings;
  std::error_code error;
  const auto self = fs::read_symlink("/proc/self/exe", error);
  const pid_t parent = ::getppid();
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos || parent_of_living(entry.path()) != parent) continue;
    ++(fs::read_symlink(entry.path() / "exe", error) == self ? siblings.analyzers : siblings.programs);
  }
  return siblings;
}

}  // namespace

bool has_bare_mpi(std::string_view maps) {
  const auto has = [&](std::string_view name) { return maps.find(name) != std::string_view::npos; };
  return (has("/libmpi.so") || has("/libmpich.so")) && !has("/libardoise.so") && !has("/libvmpi.so");
}

namespace {

// Calls look(folder in /proc, program) for each process below this one's launcher that is no analyzer, until it says
// true.
template <class Look>
void look_at_programs(Look look) {
  std::error_code error;
  const auto self = fs::read_symlink("/proc/self/exe", error);
  std::map<pid_t, pid_t> parents;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (const auto parent = parent_of_living(entry.path())) parents[std::atoi(name.c_str())] = *parent;
  }
  const pid_t launcher = ::getppid();
  for (const auto& [process, parent] : parents) {
    pid_t ancestor = parent;
    while (ancestor > 1 && ancestor != launcher) {
      const auto above = parents.find(ancestor);
      ancestor = above == parents.end() ? 0 : above->second;
    }
    if (ancestor != launcher) continue;
    const auto folder = fs::path("/proc") / std::to_string(process);
    const auto program = fs::read_symlink(folder / "exe", error);
    if (program != self && look(folder, program)) return;
  }
}

// In a launch of MPICH: has a program called MPI_Init, or will it without our library to tell?
bool has_mpich_client() {
  bool found = false;
  look_at_programs([&](const fs::path& folder, const fs::path&) {
    const auto maps = read_all(folder / "maps");
    return found = maps.find(vmpi::kInitMark) != std::string::npos || has_bare_mpi(maps);
  });
  return found;
}

}  // namespace

std::string program_without_library() {
  std::string name;
  look_at_programs([&](const fs::path& folder, const fs::path& program) {
    if (!has_bare_mpi(read_all(folder / "maps"))) return false;
    name = program.filename().string();
    return true;
  });
  return name;
}

std::uint16_t port_of(std::string_view server_address) {
  const auto colon = server_address.rfind(':');
  std::uint16_t port = 0;
  if (colon == std::string_view::npos || server_address.find("tcp") == std::string_view::npos) return 0;
  const auto* begin = server_address.data() + colon + 1;
  const auto* end = server_address.data() + server_address.size();
  return std::from_chars(begin, end, port).ptr == end ? port : std::uint16_t{0};
}

bool has_connection_to(std::string_view table, std::uint16_t port) {
  std::istringstream lines{std::string(table)};
  std::string line;
  std::getline(lines, line);  // headings
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string slot, local, remote, state;
    // Established ones only: those that are closing may be of an earlier launch whose server had the same port.
    if (!(fields >> slot >> local >> remote >> state) || state != "01") continue;
    const auto colon = remote.rfind(':');
    unsigned value = 0;
    if (colon == std::string::npos) continue;
    std::from_chars(remote.data() + colon + 1, remote.data() + remote.size(), value, 16);
    if (value == port) return true;
  }
  return false;
}

bool is_mpich_launch() noexcept { return std::getenv("PMI_FD") != nullptr || std::getenv("PMI_PORT") != nullptr; }

JobState wait_for_programs() {
  const bool is_mpich = is_mpich_launch();
  const char* local_size = std::getenv(is_mpich ? "MPI_LOCALNRANKS" : "OMPI_COMM_WORLD_LOCAL_SIZE");
  const auto ports = server_ports();
  if (local_size == nullptr || (ports.empty() && !is_mpich)) return JobState::kUsesMpi;
  const auto local = static_cast<unsigned>(std::strtoul(local_size, nullptr, 10));

  // mpirun starts programs before analyzers, but other analyzers may not be there yet: only what stays the same for two
  // seconds is believed.
  constexpr auto kSure = 2s;
  constexpr auto kPoll = 10ms, kLook = 500ms;
  auto last_look = std::chrono::steady_clock::now() - kLook;
  auto alone_since = std::chrono::steady_clock::time_point::max();
  for (;; std::this_thread::sleep_for(kPoll)) {
    if (is_mpich ? has_mpich_client() : has_client(ports)) return JobState::kUsesMpi;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_look < kLook) continue;
    last_look = now;
    const auto siblings = count_siblings();
    if (siblings.programs > 0) {
      alone_since = std::chrono::steady_clock::time_point::max();
      continue;
    }
    if (siblings.analyzers >= local) return JobState::kUsesMpi;  // the programs are on other machines
    if (alone_since == std::chrono::steady_clock::time_point::max()) alone_since = now;
    if (now - alone_since >= kSure) return JobState::kEndedWithoutMpi;
  }
}

}  // namespace ardoise::analyzer
