#include "vmpi/world/window_files.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <string>

#include "vmpi/loader/launch_environment.hpp"
#include "vmpi/world/partitions.hpp"
#include "vmpi/world/window_folders.hpp"

namespace ardoise::vmpi {
namespace {

constexpr const char* kVariable = "OMPI_MCA_osc_rdma_backing_directory";
char folder[256];  // "": none made

[[gnu::destructor]] void remove_at_end() { remove_window_folder(); }

// mpirun's process id, from the name of its session folder; 0: unknown, or on another node.
long launcher_process() {
  const char* const session = std::getenv("OMPI_MCA_orte_jobfam_session_dir");
  const char* const nodes = std::getenv("OMPI_MCA_orte_num_nodes");
  if (session == nullptr || nodes == nullptr || std::strcmp(nodes, "1") != 0) return 0;
  const char* const name = std::strrchr(session, '/');
  return name != nullptr && std::strncmp(name, "/pid.", 5) == 0 ? std::strtol(name + 5, nullptr, 10) : 0;
}

void make_folder() {
  const char* const job = std::getenv("OMPI_MCA_ess_base_jobid");
  const char* const context = std::getenv("OMPI_MCA_orte_app_num");
  if (job == nullptr || context == nullptr) return;
  const auto name = requested_partition_name();
  const std::string program = name.empty() ? context : "name-" + std::to_string(std::hash<std::string_view>{}(name));
  const auto path = std::string(kWindowFolderRoot) + '/' + window_folder_name(launcher_process(), job, program);
  if (path.size() >= sizeof folder) return;
  bool is_new = false;
  if (!make_window_folder(path, is_new)) return;
  if (is_new) remove_stale_window_folders();  // the first process of each program removes stale folders
  if (setenv(kVariable, path.c_str(), 1) == 0) path.copy(folder, path.size());
}

}  // namespace

void remove_window_folder() noexcept {
  if (folder[0] != '\0') rmdir(folder);
}

void separate_window_files() noexcept {
  // Programs that were spawned together share a world and its windows.
  if (!is_one_of_several() || is_spawned_job() || std::getenv(kVariable) != nullptr) return;
  try {
    make_folder();
  } catch (const std::exception&) {
    // Without memory for a path the programs share a folder.
  }
}

void restore_window_environment() noexcept {
  if (folder[0] != '\0') unsetenv(kVariable);
}

}  // namespace ardoise::vmpi
