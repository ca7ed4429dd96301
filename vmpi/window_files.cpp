// See window_files.hpp.
#include "vmpi/window_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "vmpi/partitions.hpp"

namespace ardoise::vmpi {
namespace {

constexpr const char* kVariable = "OMPI_MCA_osc_rdma_backing_directory";
char folder[160];  // "": none made

// Fails while another process of the partition still has a file in it; the last one succeeds.
[[gnu::destructor]] void remove_folder() {
  if (folder[0] != '\0') rmdir(folder);
}

}  // namespace

void separate_window_files() noexcept {
  const char* const contexts = std::getenv("OMPI_NUM_APP_CTX");
  const char* const job = std::getenv("OMPI_MCA_ess_base_jobid");
  const char* const context = std::getenv("OMPI_MCA_orte_app_num");
  if (contexts == nullptr || std::strcmp(contexts, "1") == 0 || job == nullptr || context == nullptr) return;
  if (std::getenv(kVariable) != nullptr) return;
  const auto name = requested_partition_name();
  if (name.empty()) {
    std::snprintf(folder, sizeof folder, "/dev/shm/ardoise.%.32s.%.32s", job, context);
  } else {
    std::snprintf(folder, sizeof folder, "/dev/shm/ardoise.%.32s.name-%zx", job, std::hash<std::string_view>{}(name));
  }
  struct stat found;
  if (mkdir(folder, 0700) != 0 && (stat(folder, &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid())) {
    folder[0] = '\0';
    return;
  }
  setenv(kVariable, folder, 1);
}

void restore_window_environment() noexcept {
  if (folder[0] != '\0') unsetenv(kVariable);
}

}  // namespace ardoise::vmpi
