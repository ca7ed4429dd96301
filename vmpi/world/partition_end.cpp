#include "vmpi/world/partition_end.hpp"

#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "vmpi/real_functions.hpp"
#include "vmpi/world/partitions.hpp"

namespace ardoise::vmpi {
namespace {

// Errors of these calls belong to no communicator and go to the world's handler, which may end the job. This returns
// them instead.
class ReturnedErrors {
 public:
  ReturnedErrors() {
    library.Comm_get_errhandler(MPI_COMM_WORLD, &before_);
    library.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  ~ReturnedErrors() {
    library.Comm_set_errhandler(MPI_COMM_WORLD, before_);
    library.Errhandler_free(&before_);
  }
  ReturnedErrors(const ReturnedErrors&) = delete;
  ReturnedErrors& operator=(const ReturnedErrors&) = delete;

 private:
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

// Names may outlive a job when one server keeps those of several.
std::array<char, 128> name_of(int partition) {
  const char* job = std::getenv("PMIX_NAMESPACE");
  std::array<char, 128> name{};
  std::snprintf(name.data(), name.size(), "ardoise-ended-%.64s-%d", job == nullptr ? "" : job, partition);
  return name;
}

}  // namespace

void publish_end() noexcept {
  const auto* all = partitions();
  if (all == nullptr || all->rank != 0 || all->table.count() == 1) return;
  const ReturnedErrors returned;
  library.Publish_name(name_of(all->id).data(), MPI_INFO_NULL, "ended");
}

bool partition_has_ended(int partition) noexcept {
  const ReturnedErrors returned;
  std::array<char, MPI_MAX_PORT_NAME> port{};
  return library.Lookup_name(name_of(partition).data(), MPI_INFO_NULL, port.data()) == MPI_SUCCESS;
}

}  // namespace ardoise::vmpi
