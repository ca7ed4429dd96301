// Open MPI keeps files of a running job, such as shared file pointers of MPI-IO, in the job's folder. Each process asks
// the launcher, through PMIx, to remove that folder recursively when the process leaves MPI_Finalize. Without the fence
// over the job (finalize_fence.hpp) the first program that ends would remove the files of the others. This hook narrows
// the request to the process's own subfolder; the job's folder is removed with the job.
//
// PMIx_Job_control_nb is interposed like MPI functions. PMIx's headers may be missing where Ardoise is built, so the
// used part of the interface is declared here; it has not changed since PMIx 2.
#include <mpi.h>

#if defined(OPEN_MPI)
#include <dlfcn.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "vmpi/export.hpp"
#include "vmpi/loader/loaded_library.hpp"
#include "vmpi/world/finalize_fence.hpp"

namespace {

constexpr int kNotSupported = -47;                 // PMIX_ERR_NOT_SUPPORTED
constexpr std::uint16_t kString = 3;               // PMIX_STRING
constexpr char kFolder[] = "pmix.reg.cleanupdir";  // PMIX_REGISTER_CLEANUP_DIR

// The beginning of a pmix_info_t.
struct Directive {
  char key[512];
  std::uint32_t flags;
  struct {
    std::uint16_t type;
    union {
      char* string;
    } data;
  } value;
};
static_assert(offsetof(Directive, value.type) == 520 && offsetof(Directive, value.data.string) == 528);

using JobControl = int(const void*, std::size_t, Directive*, std::size_t, void*, void*);

// The caller, Open MPI's PMIx component, is loaded where only its own dependencies see libpmix.
JobControl* real_job_control(const void* caller) {
  constexpr const char* kName = "PMIx_Job_control_nb";
  void* const library = ardoise::vmpi::handle_of(caller);
  if (library == nullptr) return reinterpret_cast<JobControl*>(dlsym(RTLD_NEXT, kName));
  auto* const found = reinterpret_cast<JobControl*>(dlsym(library, kName));
  dlclose(library);  // stays loaded: it is calling us
  return found;
}

bool names_a_folder(const Directive* directives, std::size_t count) {
  return count > 0 && directives != nullptr && std::strncmp(directives->key, kFolder, sizeof kFolder) == 0 &&
         directives->value.type == kString && directives->value.data.string != nullptr;
}

}  // namespace

// The request is packed before the real function returns, so the caller's directive can hold another path meanwhile.
VMPI_EXPORT int PMIx_Job_control_nb(const void* targets, std::size_t target_count, Directive* directives,
                                    std::size_t count, void* callback, void* data) {
  JobControl* const real = real_job_control(__builtin_return_address(0));
  if (real == nullptr) return kNotSupported;
  const char* const rank = std::getenv("PMIX_RANK");
  if (!ardoise::vmpi::job_fence_is_dropped() || rank == nullptr || !names_a_folder(directives, count)) {
    return real(targets, target_count, directives, count, callback, data);
  }
  char* const whole = directives->value.data.string;
  char own[PATH_MAX];
  const int length = std::snprintf(own, sizeof own, "%s/%s", whole, rank);
  if (length > 0 && length < int{sizeof own}) directives->value.data.string = own;
  const int result = real(targets, target_count, directives, count, callback, data);
  directives->value.data.string = whole;
  return result;
}
#endif
