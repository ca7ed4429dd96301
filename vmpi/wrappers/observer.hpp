// Interface between the wrappers (vmpi) and the recorder (instrument). With an observer, a wrapper fills one Call and
// notifies enter before and exit after the real MPI function, on the calling thread. Without an observer a wrapper adds
// one load and one test to the call. MPI functions called by MPI itself or by the observer are not reported (per-thread
// depth). The observer must not throw, block on other threads or change errno.
//
// enter and exit are called between after_init and before_finalize, both exclusive. A program spawned by MPI_Comm_spawn
// is a launch of its own: its world is the real one, and no calls are reported.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "vmpi/mpi_functions.hpp"  // generated: FunctionId, function_name(), FunctionTraits

namespace ardoise::vmpi {

struct Argument;
struct CallControl;

// One call, as the wrapper sees it. Pointers are valid from enter to exit. Bytes are 64-bit products of counts and
// datatype sizes, with MPI_IN_PLACE, MPI_PROC_NULL, null datatypes and roots taken into account
// (docs/reference/mpi_functions.md has the rules).
struct Call {
  FunctionId function;
  MPI_Comm comm = MPI_COMM_NULL;         // as the library sees it (translated); MPI_COMM_NULL: none
  const void* return_address = nullptr;  // of the program's call
  std::int32_t peer = MPI_PROC_NULL;     // destination, source, target or root, as the program passed it
  std::int32_t tag = 0;                  // MPI_Abort: the code; MPI_Pcontrol: the level
  std::int32_t source = MPI_PROC_NULL;   // Sendrecv*: of the receiving half
  std::int32_t receive_tag = 0;
  std::int64_t bytes_sent = 0;      // known at enter
  std::int64_t bytes_received = 0;  // receives: capacity at enter, actual at exit
  // Requests started (posted) or completed by this call; `requests` before the call (a copy for completions).
  MPI_Request* requests = nullptr;
  int request_count = 0;
  // Completions, at exit: indices of the completed requests (nullptr: all of them, 0 … completed-1) and statuses.
  const int* completed_indices = nullptr;
  int completed_count = 0;
  const MPI_Status* statuses = nullptr;  // never MPI_STATUS(ES)_IGNORE: private ones replace it
  // Objects that some functions create or use.
  MPI_Comm new_comm = MPI_COMM_NULL;  // at exit: communicator created (MPI_Comm_split, _dup, Cart_create …)
  MPI_File file = MPI_FILE_NULL;
  const char* file_name = nullptr;         // MPI_File_open, _delete
  MPI_Message message = MPI_MESSAGE_NULL;  // taken by the call (MPI_Mprobe, at exit) or received by it (MPI_Mrecv)
  MPI_Win window = MPI_WIN_NULL;
  // group of MPI_Win_post, _start. (MPI_Win_lock: `tag` is the lock type; _test: completed_count says whether the epoch
  // has ended.)
  MPI_Group group = MPI_GROUP_NULL;
  // Neighbourhood collectives: bytes for each destination, in the order of the topology (nullptr: bytes_sent /
  // outdegree).
  const std::int64_t* neighbour_bytes = nullptr;
  const std::int32_t* neighbours = nullptr;  // their ranks in comm; MPI_PROC_NULL at the border of a Cartesian grid
  int neighbour_count = 0;
  // At exit, if the observer wants them: further arguments (call_arguments.hpp). nullptr: none.
  const Argument* arguments = nullptr;
  int argument_count = 0;
  int result = MPI_SUCCESS;  // at exit
  std::uint64_t begin = 0;   // for the observer: tick of enter
};

struct Observer {
  void (*enter)(Call&) noexcept;
  void (*exit)(Call&) noexcept;
  // after_init: MPI is up and the program's world exists. before_finalize: MPI is still up; called once, by the thread
  // in MPI_Finalize.
  void (*after_init)(int thread_level) noexcept;
  void (*before_finalize)() noexcept;
  // Optional: the thread is about to enter the real MPI_Init; no MPI call is allowed yet.
  void (*before_init)() noexcept = nullptr;
  // Optional: before a query (FunctionTraits::is_query). True: the observer has counted it, and gets neither enter nor
  // exit.
  bool (*count)(FunctionId, const void* return_address) noexcept = nullptr;
  bool wants_arguments = false;
  // Optional (call_control.hpp): overrides or notes the outcome of calls.
  const CallControl* control = nullptr;

  [[nodiscard]] bool only_counts(FunctionId function, const void* return_address) const noexcept {
    return count != nullptr && count(function, return_address);
  }
};

// Set by instrument when its library is loaded; nullptr disables observation at any time. A wrapper loads it once with
// acquire order and uses that value for enter and exit, so an Observer must never be destroyed.
inline constinit std::atomic<const Observer*> observer{nullptr};

// The program's MPI_Finalize has returned.
inline constinit std::atomic<bool> is_finalized{false};

}  // namespace ardoise::vmpi
