// Turns the calls that the wrappers report into records, totals, requests and definitions. The observer of session.cpp
// calls it; tests call it without MPI, with their own Calls and MpiQueries.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "instrument/record/communicators.hpp"
#include "instrument/record/datatypes.hpp"
#include "instrument/record/recorder.hpp"
#include "instrument/record/short_runs.hpp"
#include "vmpi/wrappers/observer.hpp"

namespace ardoise::instrument {

// The questions to MPI: mpi_queries.cpp asks the library, tests supply answers.
struct MpiQueries {
  std::int64_t (*received_bytes)(const MPI_Status& status);
  bool (*is_cancelled)(const MPI_Status& status);
  CommunicatorFacts (*describe)(MPI_Comm comm);  // local; comm is valid
  // Ranks in the window's group of the members of `group`, from `first` on, as many as fit. Returns how many.
  std::size_t (*window_ranks)(MPI_Win window, MPI_Group group, std::size_t first, std::span<int> ranks);
  // The facts of a datatype by its word (vmpi::handle_word); empty text: none.
  DatatypeFacts (*describe_type)(std::int64_t word);
  // Whether an active request is complete, by inspection of its memory; empty: unknown. Calls no MPI.
  std::optional<bool> (*is_complete)(std::uint64_t request) = [](std::uint64_t) { return std::optional<bool>(); };
  // MPI_Isendrecv may return zeros in place of a status (MPICH 4.0).
  bool has_zero_statuses = false;
};

// One word from a handle, for every type that MPI libraries use for handles.
template <class Handle>
[[nodiscard]] std::uint64_t handle_value(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::uint64_t>(handle);
  } else {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(handle));
  }
}

class MpiRecorder {
 public:
  MpiRecorder(Recorder& recorder, const MpiQueries& queries)
      : recorder_(recorder),
        queries_(queries),
        communicators_(recorder.definitions),
        datatypes_(recorder.definitions, queries.describe_type),
        short_runs_(recorder.definitions) {}

  // Defines a communicator. The program's world comes first and gets number kWorldComm. thread: its creator.
  void define(MPI_Comm comm, std::uint32_t thread = 0);

  // Call.begin is set, the call ended at `end`. The thread stays in kRecording.
  void record(ThreadRecorder& thread, const vmpi::Call& call, std::uint64_t end);

  // Writes a call that is open at `tick`, without its call site, then the operations for which it waits (kPendingPart),
  // as many as fit and at least one element. Returns how many. Changes nothing.
  std::size_t open_call(const vmpi::Call& call, std::uint64_t tick, std::span<RecentCall> parts);

  [[nodiscard]] const Communicators& communicators() const noexcept { return communicators_; }
  // A call was not reported: it may have been a collective.
  void miss_call() noexcept { communicators_.become_unsure(); }

 private:
  struct Ended;
  struct Event;

  [[nodiscard]] std::uint32_t comm_of(ThreadRecorder& thread, const vmpi::Call& call);
  [[nodiscard]] std::uint32_t rare_comm_of(ThreadRecorder& thread, const vmpi::Call& call);
  [[nodiscard]] std::uint32_t file_of(ThreadRecorder& thread, const vmpi::Call& call);  // Files::kUnknown: none
  // The id + 1 from the thread's own cache; 0: not there.
  [[nodiscard]] std::uint32_t cached_id(const ThreadRecorder& thread, std::uint64_t key) const noexcept {
    return thread.handle_generation == recorder_.handles.generation() ? thread.handles.find(key) : 0;
  }
  [[nodiscard]] std::uint32_t id_of(ThreadRecorder& thread, HandleKind kind, std::uint64_t handle,
                                    std::uint32_t missing);
  bool record_counted(const Event& event);
  void record_rare(Event event);
  void write(const Event& event);
  void post(const Event& event, std::uint64_t handle, bool persistent);
  void receive_probed(Event& event);
  void write_neighbours(const Event& event);
  void write_group(const Event& event);
  void write_started(Event& event);
  void write_completions(const Ended& ended);
  void report_empty_statuses();
  [[nodiscard]] bool is_empty(const MPI_Status& status, std::uint32_t function, std::uint64_t bytes) const;
  void complete(const Ended& ended, std::uint64_t handle, const MPI_Status* status);
  void write_completion(const Ended& ended, const Request& request, std::int32_t peer, std::int32_t tag,
                        std::uint64_t bytes);
  void follow_objects(const Event& event);
  [[nodiscard]] std::int64_t request_argument(std::uint64_t handle, std::uint64_t begin);
  void write_arguments(const Event& event);

  Recorder& recorder_;
  const MpiQueries queries_;
  Communicators communicators_;
  Datatypes datatypes_;
  ShortRuns short_runs_;
  // Programs that never cancel need no query for each completed receive. Relaxed: a cancel precedes the completion of
  // its request in the program's own order.
  std::atomic<bool> has_cancelled_ = false;
  std::atomic<bool> has_reported_empty_ = false;  // relaxed: a duplicate report is harmless
};

}  // namespace ardoise::instrument
