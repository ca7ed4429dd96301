// MPI_Init, MPI_Init_thread and MPI_Finalize: create and end the virtual world around the library's call. Fortran's
// routines, and the MPI_Init of a tool between us and the library, call the PMPI_ twins: the innermost call creates the
// world, so that the tool sees it.
#include <atomic>
#include <cstdlib>

#include "vmpi/loader/library_check.hpp"
#include "vmpi/world/world.hpp"
#include "vmpi/wrappers/observer.hpp"
#include "vmpi/wrappers/special.hpp"

namespace ardoise::vmpi::special {
namespace {

// A session created the world, and the program has not called MPI_Init. Relaxed: MPI orders the callers.
std::atomic<bool> is_hidden{false};

// The library alone handles a second MPI_Init, or one after MPI_Finalize.
bool is_first_init() {
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
  const bool first = is_first_init();
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

// If this call precedes MPI_Init, it makes Open MPI read its parameters from the environment.
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

// For a program without MPI_Init, which has no MPI_Finalize. The end of its last session is too early: it may open
// another one.
void end_hidden_world(int, void*) {
  if (is_hidden.load(std::memory_order_relaxed) && is_running()) Finalize(library);
}

bool make_world_for_sessions() {
  if (!is_first_init() || !is_expected_library()) return false;
  int provided = 0;  // sessions may ask for any level
  if (Init_thread(library, nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS) return false;
  is_hidden.store(true, std::memory_order_relaxed);
  // Not atexit(), which needs __cxa_atexit (loader/kept_objects.cpp).
  return ::on_exit(end_hidden_world, nullptr) == 0;
}

}  // namespace

void make_hidden_world() noexcept { [[maybe_unused]] static const bool is_made = make_world_for_sessions(); }

// MPICH reports the exit code to its launcher only when MPI_COMM_WORLD is aborted; for any other communicator the
// process exits, and the launcher derives a code from the processes that it kills. It kills all of them in either case.
// Open MPI ends the processes of the communicator.
int Abort(const RealFunctions& next, MPI_Comm comm, int code) {
#ifndef OPEN_MPI
  if (to_program(comm) == MPI_COMM_WORLD) return next.Abort(MPI_COMM_WORLD, code);
#endif
  return next.Abort(to_library(comm), code);
}

}  // namespace ardoise::vmpi::special
