// See world.hpp. The order in MPI_Init: environment and library checks, the real call, partitions, the translation on,
// the observer told. In MPI_Finalize: the observer told, the real call, and inside it, when the program's own attribute
// callbacks on MPI_COMM_SELF have run, the fence of the program's own world and the partitions' end.
#include "vmpi/world.hpp"

#include <climits>

#include "vmpi/finalize_fence.hpp"
#include "vmpi/library_check.hpp"
#include "vmpi/observed_call.hpp"
#include "vmpi/partitions.hpp"
#include "vmpi/preload_environment.hpp"
#include "vmpi/real_functions.hpp"
#include "vmpi/type_size.hpp"
#include "vmpi/window_files.hpp"

namespace ardoise::vmpi {

MPI_Comm world = MPI_COMM_WORLD;

namespace {

int marker_keyval = MPI_KEYVAL_INVALID;
int own_application_number = 0;
bool has_application_number = false;
bool is_prepared = false;
bool is_made = false;

void set_world(MPI_Comm comm) { __atomic_store_n(&world, comm, __ATOMIC_RELAXED); }

// MPI deletes attributes in the reverse order of their setting, so this one, set before the program had a chance to
// set its own, comes last.
int end_of_world(MPI_Comm /*self*/, int /*keyval*/, void* /*value*/, void* /*extra*/) {
  fence(to_library(MPI_COMM_WORLD));
  finalise_partitions();  // delete callbacks of the world's attributes run here and still see MPI_COMM_WORLD
  set_world(MPI_COMM_WORLD);
  return MPI_SUCCESS;
}

bool is_spawned() {
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_get_parent(&parent);
  return parent != MPI_COMM_NULL;
}

// Contexts of a partition number from 0, as they do in a launch of their own.
void find_application_number(MPI_Comm partition) {
  int* number = nullptr;
  int is_set = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &is_set);
  has_application_number = is_set != 0 && number != nullptr;
  const int own = has_application_number ? *number : INT_MAX;
  int lowest = own;
  PMPI_Allreduce(&own, &lowest, 1, MPI_INT, MPI_MIN, partition);
  own_application_number = own - lowest;
}

void mark_the_end() {
  int end_keyval = MPI_KEYVAL_INVALID;
  library.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_of_world, &end_keyval, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, end_keyval, nullptr);
  PMPI_Comm_free_keyval(&end_keyval);  // when its last attribute goes
}

void make_world(int argc, char** argv) {
  mark_the_end();
  if (is_spawned() || !initialise_partitions(argc, argv)) return;
  const MPI_Comm partition = partition_comm();
  find_application_number(partition);
  library.Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &marker_keyval, nullptr);
  PMPI_Comm_set_attr(partition, marker_keyval, nullptr);
  set_world(partition);
}

}  // namespace

void before_init() noexcept {
  if (is_prepared) return;
  is_prepared = true;
  remove_own_preload();
  if (!is_expected_library()) return;
  separate_window_files();
  drop_job_fence();
  if (const Observer* const told = observer.load(std::memory_order_acquire); told != nullptr && told->before_init)
    told->before_init();
}

void after_init(int argc, char** argv) noexcept {
  if (is_made || !is_expected_library()) return;
  is_made = true;
  restore_window_environment();
  restore_fence_environment();
  const Unobserved unobserved;
  type_sizes::initialise();
  make_world(argc, argv);
  if (!is_virtual()) return;
  if (const Observer* const told = observer.load(std::memory_order_acquire)) {
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    told->after_init(level);
    observing.store(true, std::memory_order_relaxed);
  }
}

void before_finalize() noexcept {
  if (!observing.exchange(false, std::memory_order_relaxed)) return;
  const Unobserved unobserved;
  if (const Observer* const told = observer.load(std::memory_order_acquire)) told->before_finalize();
}

bool has_world_attributes(MPI_Comm comm) noexcept {
  if (comm == MPI_COMM_WORLD) return true;
  if (comm == MPI_COMM_NULL || marker_keyval == MPI_KEYVAL_INVALID) return false;
  void* value = nullptr;
  int is_marked = 0;
  library.Comm_get_attr(to_library(comm), marker_keyval, &value, &is_marked);
  return is_marked != 0;
}

int* application_number() noexcept { return has_application_number ? &own_application_number : nullptr; }

}  // namespace ardoise::vmpi
