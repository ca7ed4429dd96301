// MPI_Init, MPI_Init_thread and MPI_Finalize: the library's call, with the making and the end of the virtual world
// around it. Fortran's routines call the PMPI_ twins, and so does the MPI_Init of a tool between us and the library:
// the innermost call makes the world, so that the tool finds it.
#include <atomic>
#include <cstdlib>

#include "vmpi/loader/library_check.hpp"
#include "vmpi/world/world.hpp"
#include "vmpi/wrappers/observer.hpp"
#include "vmpi/wrappers/special.hpp"

namespace ardoise::vmpi::special {
namespace {

// The world was made for sessions, and the program has not called MPI_Init. Relaxed: callers are in the order that MPI
// asks of the program.
std::atomic<bool> is_hidden{false};

// A second MPI_Init, or one after MPI_Finalize, is the library's business alone.
bool comes_first() {
  int initialised = 0;
  library.Initialized(&initialised);
  return initialised == 0;
}

bool is_running() {
  int initialised = 0;
  int finalised = 0;
  library.Initialized(&initialised);
  PMPI_Finalized(&finalised);
  return initialised != 0 && finalised == 0;
}

template <class Call>
int initialise(const Call& call, int* argc, char*** argv) {
  const bool first = comes_first();
  if (first) before_init();
  const int code = call();
  if (first && code == MPI_SUCCESS) after_init(argc != nullptr ? *argc : 0, argv != nullptr ? *argv : nullptr);
  return code;
}

}  // namespace

int Init(const RealFunctions& next, int* argc, char*** argv) {
  if (is_hidden.exchange(false, std::memory_order_relaxed)) return MPI_SUCCESS;
  return initialise([&] { return next.Init(argc, argv); }, argc, argv);
}

int Init_thread(const RealFunctions& next, int* argc, char*** argv, int required, int* provided) {
  if (is_hidden.exchange(false, std::memory_order_relaxed)) return PMPI_Query_thread(provided);
  return initialise([&] { return next.Init_thread(argc, argv, required, provided); }, argc, argv);
}

// Before MPI_Init, it makes Open MPI read its parameters from the environment.
int T_init_thread(const RealFunctions& next, int required, int* provided) {
  prepare_environment();
  return next.T_init_thread(required, provided);
}

int Finalize(const RealFunctions& next) {
  if (is_running()) before_finalize();
  const int code = next.Finalize();
  is_finalized.store(true, std::memory_order_relaxed);
  return code;
}

int Initialized(const RealFunctions& next, int* flag) {
  const int code = next.Initialized(flag);
  if (code == MPI_SUCCESS && is_hidden.load(std::memory_order_relaxed)) *flag = 0;
  return code;
}

namespace {

// A program without MPI_Init has no MPI_Finalize. Not with its last session: it may open another one.
void end_hidden_world() {
  if (is_hidden.load(std::memory_order_relaxed) && is_running()) Finalize(library);
}

bool make_world_for_sessions() {
  if (!comes_first() || !is_expected_library()) return false;
  int provided = 0;  // sessions may ask for any level
  if (Init_thread(library, nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS) return false;
  is_hidden.store(true, std::memory_order_relaxed);
  std::atexit(end_hidden_world);
  return true;
}

}  // namespace

void make_hidden_world() noexcept { [[maybe_unused]] static const bool is_made = make_world_for_sessions(); }

// MPICH tells its launcher of the exit code only when MPI_COMM_WORLD is aborted; from any other communicator the
// process just exits, and the launcher makes a code of its own from those of the processes that it ends then. It ends
// all of them in either case. Open MPI ends the processes of the communicator.
int Abort(const RealFunctions& next, MPI_Comm comm, int code) {
#ifndef OPEN_MPI
  if (to_program(comm) == MPI_COMM_WORLD) return next.Abort(MPI_COMM_WORLD, code);
#endif
  return next.Abort(to_library(comm), code);
}

}  // namespace ardoise::vmpi::special
