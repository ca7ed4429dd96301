// Turns the calls that the wrappers tell into records, totals, requests and definitions. The observer that session.cpp
// installs calls it; tests call it with Calls and answers of their own, without MPI.
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
#include "vmpi/wrappers/observer.hpp"

namespace ardoise::instrument {

// What has to be asked of MPI: mpi_queries.cpp asks, tests answer.
struct MpiQueries {
  std::int64_t (*received_bytes)(const MPI_Status& status);
  bool (*is_cancelled)(const MPI_Status& status);
  CommunicatorFacts (*describe)(MPI_Comm comm);  // collective over nobody; comm is valid
  // Ranks of the group's members, from its `first` on, in the group of the window: as many as there are and fit.
  std::size_t (*window_ranks)(MPI_Win window, MPI_Group group, std::size_t first, std::span<int> ranks);
  // Of a datatype's word (vmpi::handle_word); no text: there is none.
  DatatypeFacts (*describe_type)(std::int64_t word);
  // Whether an active request is complete, by a look at it; empty: it cannot be seen. Allowed to who may not call MPI.
  std::optional<bool> (*is_complete)(std::uint64_t request) = [](std::uint64_t) { return std::optional<bool>(); };
};

// One word from a handle, whatever the MPI library makes handles of.
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
        datatypes_(recorder.definitions, queries.describe_type) {}

  // The program's world first: it gets number kWorldComm. thread: that made it.
  void define(MPI_Comm comm, std::uint32_t thread = 0);

  // Call.begin is set, the call has ended at `end`. The thread stays in kRecording.
  void record(ThreadRecorder& thread, const vmpi::Call& call, std::uint64_t end);

  // A call that has not ended at `tick`, without its call site; then what it waits for (kPendingPart). As many as there
  // are and fit; at least one does. Changes nothing.
  std::size_t open_call(const vmpi::Call& call, std::uint64_t tick, std::span<RecentCall> parts);

  [[nodiscard]] const Communicators& communicators() const noexcept { return communicators_; }
  // A call was not told: it may have been a collective.
  void miss_call() noexcept { communicators_.become_unsure(); }

 private:
  struct Event;

  [[nodiscard]] std::uint32_t comm_of(ThreadRecorder& thread, const vmpi::Call& call);
  [[nodiscard]] std::uint32_t file_of(ThreadRecorder& thread, const vmpi::Call& call);  // Files::kUnknown: none
  [[nodiscard]] std::uint32_t id_of(ThreadRecorder& thread, HandleKind kind, std::uint64_t handle,
                                    std::uint32_t missing);
  bool tell_counted(const Event& event);
  void write(Event& event);
  void post(const Event& event, std::uint64_t handle, bool persistent);
  void receive_probed(Event& event);
  void write_neighbours(const Event& event);
  void write_group(const Event& event);
  void write_started(Event& event);
  void write_completions(const Event& event);
  void tell_empty_statuses();
  void complete(const Event& event, std::uint64_t handle, const MPI_Status* status);
  void write_completion(const Event& event, const Request& request, std::int32_t peer, std::int32_t tag,
                        std::uint64_t bytes);
  void follow_objects(const Event& event);
  [[nodiscard]] std::int64_t request_argument(std::uint64_t handle, std::uint64_t begin);
  void write_arguments(const Event& event);

  Recorder& recorder_;
  const MpiQueries queries_;
  Communicators communicators_;
  Datatypes datatypes_;
  // A program that never cancels is spared a question for each completed receive. Relaxed: a cancel precedes the
  // completion of its request in the program's own order.
  std::atomic<bool> has_cancelled_ = false;
  std::atomic<bool> has_told_empty_ = false;  // relaxed: of two that tell at once, one is enough, and both say the same
};

}  // namespace ardoise::instrument
