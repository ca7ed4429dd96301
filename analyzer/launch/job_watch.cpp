#include "analyzer/launch/job_watch.hpp"

#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>

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

// Parent of a living process; empty when it is gone or a zombie. A process whose first thread has exited while others
// run looks like a zombie except for its number of threads.
std::optional<pid_t> parent_of_living(const fs::path& process) {
  const auto stat = read_all(process / "stat");
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(name_end + 1));
  char state = 0;
  pid_t parent = 0;
  if (!(fields >> state >> parent) || state == 'X') return std::nullopt;
  if (state != 'Z') return parent;
  constexpr int kThreads = 20, kParent = 4;  // field numbers, from 1
  std::string skipped;
  for (int field = kParent + 1; field < kThreads; ++field) fields >> skipped;
  unsigned threads = 0;
  if (!(fields >> threads) || threads <= 1) return std::nullopt;
  return parent;
}

struct Launch {
  unsigned analyzers = 0;     // including this process
  unsigned programs = 0;      // other processes below the launcher
  std::string lacks_library;  // as JobState::program; empty: none, or not checked
};

// Processes below this process's launcher on this machine.
Launch look_at_launch(bool look_for_libraries) {
  Launch launch;
  std::error_code error;
  const auto self = fs::read_symlink("/proc/self/exe", error);
  std::map<pid_t, pid_t> parents;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (const auto parent = parent_of_living(entry.path())) parents[std::atoi(name.c_str())] = *parent;
  }
  const auto program_of = [&error](pid_t process) {
    return fs::read_symlink(fs::path("/proc") / std::to_string(process) / "exe", error);
  };
  // An analyzer is the child of its guardian (guardian.hpp).
  pid_t launcher = ::getppid();
  if (const auto above = parents.find(launcher); above != parents.end() && program_of(launcher) == self)
    launcher = above->second;
  for (const auto& [process, parent] : parents) {
    pid_t ancestor = parent;
    while (ancestor > 1 && ancestor != launcher) {
      const auto above = parents.find(ancestor);
      ancestor = above == parents.end() ? 0 : above->second;
    }
    if (ancestor != launcher) continue;
    const auto program = program_of(process);
    if (program == self) {
      launch.analyzers += program_of(parent) == self ? 0 : 1;
      continue;
    }
    ++launch.programs;
    if (look_for_libraries && has_bare_mpi(read_all(fs::path("/proc") / std::to_string(process) / "maps"))) {
      launch.lacks_library = program.filename().string();
    }
  }
  return launch;
}

}  // namespace

bool has_bare_mpi(std::string_view maps) {
  const auto has = [&](std::string_view name) { return maps.find(name) != std::string_view::npos; };
  return (has("/libmpi.so") || has("/libmpich.so")) && !has("/libardoise.so") && !has("/libvmpi.so");
}

bool is_mpich_launch() noexcept { return std::getenv("PMI_FD") != nullptr || std::getenv("PMI_PORT") != nullptr; }

JobState wait_for_programs(EventLoop& loop) {
  using Kind = JobState::Kind;
  const char* local_size = std::getenv(is_mpich_launch() ? "MPI_LOCALNRANKS" : "OMPI_COMM_WORLD_LOCAL_SIZE");
  if (local_size == nullptr) return {};
  const int local = std::atoi(local_size);

  JobState state;
  const auto decide = [&](Kind kind, const std::string& program = {}) {
    state = {kind, program};
    loop.stop();
  };
  vmpi::set_init_mark();  // analyzers are processes of the launch, too
  int seen = 0;
  const auto marks = loop.every(10ms, [&] {
    seen = vmpi::first_without_init_mark(seen, local);
    if (seen == local) decide(Kind::uses_mpi);
  });
  // mpirun starts programs before analyzers, but other analyzers may be missing yet: a result counts only after this
  // many equal checks. Reading the maps of programs stops them for a moment, so the check becomes ever rarer, unless
  // others already wait in MPI_Init.
  constexpr unsigned kSure = 4;
  unsigned looks = 0, alone = 0;
  bool suspects = false;  // a wrapper may briefly run an MPI tool: the same result is required twice
  const auto look = loop.every(500ms, [&] {
    const auto launch = look_at_launch(std::has_single_bit(++looks) || suspects || seen > 0);
    if (suspects && !launch.lacks_library.empty()) return decide(Kind::lacks_library, launch.lacks_library);
    suspects = !launch.lacks_library.empty();
    if (launch.programs > 0) {
      alone = 0;
    } else if (alone++ >= kSure) {
      decide(Kind::ended_without_mpi);
    }
  });
  loop.run();
  return state;
}

}  // namespace ardoise::analyzer
