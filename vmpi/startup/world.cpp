// Order in MPI_Init: check environment and library, real call, partitions, translation on, notify the observer. Order
// in MPI_Finalize: notify the observer, real call; inside the real call, after the program's attribute callbacks on
// MPI_COMM_SELF, the fence of the program's world and the end of the partitions.
#include "vmpi/world/world.hpp"

#include <climits>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "vmpi/loader/exec_hooks.hpp"
#include "vmpi/loader/launch_environment.hpp"
#include "vmpi/loader/library_check.hpp"
#include "vmpi/loader/preload_environment.hpp"
#include "vmpi/real_functions.hpp"
#include "vmpi/streams/mpi_control.hpp"
#include "vmpi/streams/open_streams.hpp"
#include "vmpi/world/finalize_fence.hpp"
#include "vmpi/world/init_mark.hpp"
#include "vmpi/world/partition_end.hpp"
#include "vmpi/world/partitions.hpp"
#include "vmpi/world/window_files.hpp"
#include "vmpi/wrappers/fortran_handles.hpp"
#include "vmpi/wrappers/observed_call.hpp"
#include "vmpi/wrappers/type_size.hpp"

namespace ardoise::vmpi {

MPI_Comm world = MPI_COMM_WORLD;

namespace {

int marker_keyval = MPI_KEYVAL_INVALID;
int own_application_number = 0;
bool has_application_number = false;
bool is_prepared = false;
bool is_announced = false;
bool is_made = false;

void set_world(MPI_Comm comm) { __atomic_store_n(&world, comm, __ATOMIC_RELAXED); }

// MPI deletes attributes in reverse order of setting. This one is set before the program can set any, so it is deleted
// last.
int end_of_world(MPI_Comm /*self*/, int /*keyval*/, void* /*value*/, void* /*extra*/) {
  send_gone();
  fence(to_library(MPI_COMM_WORLD));
  send_gone();  // for peers that are waiting; later ones learn it from the launcher
  publish_end();
  finalise_partitions();  // delete callbacks of the world's attributes run here and still see MPI_COMM_WORLD
  set_world(MPI_COMM_WORLD);
  return MPI_SUCCESS;
}

bool is_spawned() {
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_get_parent(&parent);
  return parent != MPI_COMM_NULL;
}

// App contexts of a partition are numbered from 0 without gaps, as in a launch of their own, even where contexts of
// other programs lie between them on the launch line. Costs one collective, and one more for each context where there
// are several. True: the partition has several contexts, joined by name.
bool find_application_number(MPI_Comm partition) {
  int* number = nullptr;
  int is_set = 0;
  library.Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &is_set);
  has_application_number = is_set != 0 && number != nullptr;
  const int own = has_application_number ? *number : INT_MAX;
  int bounds[2] = {own, -own};  // lowest and, negated, highest
  PMPI_Allreduce(MPI_IN_PLACE, bounds, 2, MPI_INT, MPI_MIN, partition);
  own_application_number = 0;
  for (int lowest = bounds[0]; lowest < -bounds[1];) {
    if (own > lowest) ++own_application_number;
    const int above = own > lowest ? own : INT_MAX;
    PMPI_Allreduce(&above, &lowest, 1, MPI_INT, MPI_MIN, partition);
  }
  return bounds[0] != -bounds[1];
}

#if defined(OPEN_MPI)
// Numbers of processes of the partition's app contexts, in the order of the contexts.
std::vector<int> context_sizes(MPI_Comm partition, int size) {
  std::vector<int> numbers(static_cast<std::size_t>(size));
  PMPI_Allgather(&own_application_number, 1, MPI_INT, numbers.data(), 1, MPI_INT, partition);
  std::map<int, int> sizes;
  for (const int number : numbers) ++sizes[number];
  std::vector<int> list;
  for (const auto& each : sizes) list.push_back(each.second);
  return list;
}
#endif

bool is_on_one_node() {
#if defined(OPEN_MPI)
  const char* const nodes = std::getenv("OMPI_MCA_orte_num_nodes");
  return nodes != nullptr && std::strcmp(nodes, "1") == 0;
#else
  const char* const local = std::getenv("MPI_LOCALNRANKS");
  const char* const all = std::getenv("PMI_SIZE");
  return local != nullptr && all != nullptr && std::strcmp(local, all) == 0;
#endif
}

// Collective when the partition spans several nodes.
OwnLaunch launch_of(MPI_Comm partition) {
  OwnLaunch launch;
  PMPI_Comm_rank(partition, &launch.rank);
  PMPI_Comm_size(partition, &launch.size);
  launch.local_rank = launch.rank;
  launch.local_size = launch.size;
  if (is_on_one_node()) return launch;
  MPI_Comm node = MPI_COMM_NULL;
  PMPI_Comm_split_type(partition, MPI_COMM_TYPE_SHARED, launch.rank, MPI_INFO_NULL, &node);
  PMPI_Comm_rank(node, &launch.local_rank);
  PMPI_Comm_size(node, &launch.local_size);
  library.Comm_free(&node);
  return launch;
}

// Corrects the environment and, in Open MPI, the predefined info object that repeats it.
void describe_launch(MPI_Comm partition, [[maybe_unused]] bool has_several_contexts) {
#if defined(OPEN_MPI)
  if (!is_preloaded() || !is_one_of_several()) return;
  OwnLaunch launch = launch_of(partition);
  launch.contexts = has_several_contexts ? context_sizes(partition, launch.size) : std::vector<int>{launch.size};
  describe_own_launch(launch);
  const auto size = std::to_string(launch.size);
  const auto set = [](const char* key, const std::string& value) {
    int length = 0;
    int is_there = 0;
    PMPI_Info_get_valuelen(MPI_INFO_ENV, key, &length, &is_there);
    if (is_there != 0) PMPI_Info_set(MPI_INFO_ENV, key, value.c_str());
  };
  set("maxprocs", size);
  set("soft", size);
  for (const auto& [name, value] : describe(launch)) {
    if (name == "OMPI_NUM_APP_CTX") set("ompi_num_apps", value);
    if (name == "OMPI_APP_CTX_NUM_PROCS") set("ompi_np", value);
    if (name == "OMPI_FIRST_RANKS") set("ompi_first_rank", value);
  }
#else
  if (is_preloaded()) describe_own_launch(launch_of(partition));
#endif
}

void mark_the_end() {
  int end_keyval = MPI_KEYVAL_INVALID;
  library.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_of_world, &end_keyval, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, end_keyval, nullptr);
  PMPI_Comm_free_keyval(&end_keyval);  // takes effect when its last attribute is deleted
}

void make_world(int argc, char** argv) {
  mark_the_end();
  if (is_spawned() || !initialise_partitions(argc, argv)) return;
  const MPI_Comm partition = partition_comm();
  try {
    describe_launch(partition, find_application_number(partition));
  } catch (const std::exception&) {
    // Without memory the environment describes the whole launch.
  }
  library.Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &marker_keyval, nullptr);
  PMPI_Comm_set_attr(partition, marker_keyval, nullptr);
  set_world(partition);
}

}  // namespace

void prepare_environment() noexcept {
  if (is_prepared) return;
  is_prepared = true;
  remove_own_preload();
  stop_passing_preload_on();
  restore_launch_environment();  // also when the MPI is another one than ours was built for
  take_name_of_launcher();
  if (!is_expected_library()) return;
  separate_window_files();
  drop_job_fence();
}

void before_init() noexcept {
  if (is_announced) return;
  is_announced = true;
  prepare_environment();
  if (!is_expected_library()) return;
  set_init_mark();
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
  learn_fortran_sentinels();
  make_world(argc, argv);
  clear_init_mark();
  if (!is_virtual()) return;
  if (const Observer* const told = observer.load(std::memory_order_acquire)) {
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    told->after_init(level);
    observing.store(true, std::memory_order_relaxed);
  }
}

void before_finalize() noexcept {
  const bool was_observing = observing.exchange(false, std::memory_order_relaxed);
  const Unobserved unobserved;
  if (const Observer* const told = observer.load(std::memory_order_acquire); told != nullptr && was_observing)
    told->before_finalize();
  end_open_streams();
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
