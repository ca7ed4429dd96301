// Compares family and major version: within them the meaning of handles and structures is constant.
#include "vmpi/loader/library_check.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace ardoise::vmpi {
namespace {

#if defined(OPEN_MPI)
#define VMPI_TEXT_OF(number) #number
#define VMPI_TEXT(number) VMPI_TEXT_OF(number)
constexpr const char* kExpected = "Open MPI v" VMPI_TEXT(OMPI_MAJOR_VERSION) ".";
#elif defined(MPICH_VERSION)
constexpr const char* kExpected = "MPICH Version";
#else
#error "vmpi knows Open MPI and MPICH; describe this MPI's PMPI_Get_library_version here."
#endif

// True in one process of the launch, as far as the launcher's variables tell.
bool is_reporting_process() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    if (const char* rank = std::getenv(name)) return std::strcmp(rank, "0") == 0;
  }
  return true;
}

bool check() {
  // Longer than MPI_MAX_LIBRARY_VERSION_STRING: another MPI may write more (MPICH up to 8 KiB).
  static char version[64 * 1024];
  int length = 0;
  PMPI_Get_library_version(version, &length);
  version[sizeof version - 1] = '\0';
  if (std::strncmp(version, kExpected, std::strlen(kExpected)) == 0) return true;
  for (char& c : version) c = c == '\t' ? ' ' : c;
  version[std::strcspn(version, ",\n")] = '\0';
  if (is_reporting_process())
    std::fprintf(stderr,
                 "ardoise: this program uses \"%s\", Ardoise was built for \"%s\"; it runs without Ardoise. Build "
                 "Ardoise with that MPI to profile it.\n",
                 version, kExpected);
  return false;
}

}  // namespace

bool is_expected_library() noexcept {
  static const bool answer = check();
  return answer;
}

}  // namespace ardoise::vmpi
