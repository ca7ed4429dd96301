// Processes that make no progress in MPI, read from the files that their survivors keep in the output folder
// (instrument/format/process_states.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/sources/unsent_packs.hpp"
#include "instrument/format/definitions.hpp"
#include "instrument/format/event_format.hpp"
#include "reports/ending.hpp"

namespace ardoise::analyzer {

// A communicator as one of its processes knows it. Equal keys mean the same communicator.
struct CommView {
  struct Key {
    std::uint64_t hash = 0;
    std::uint32_t instance = 0;  // counter among communicators of the same ranks, in order of creation
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  Key key;
  std::vector<std::int32_t> members;  // world ranks, in the group in which peers are numbered
  std::string name;
  bool is_inter = false;
  bool is_whole = true;  // all members are known and in the program's world; otherwise members is empty
};

// An operation that has not completed.
struct PendingOperation {
  std::string function;  // "MPI_Irecv"
  instrument::Shape shape = instrument::Shape::kLocal;
  std::int32_t peer = instrument::kNoPeer;  // as in a record: rank in the communicator
  std::int32_t tag = 0;
  std::shared_ptr<const CommView> comm = nullptr;  // nullptr: none, or unknown
  // For a collective: number of collectives that its process had begun before on the communicator.
  std::optional<std::uint32_t> number = std::nullopt;
  bool may_be_done = false;  // it, or the operations of its call, may have completed
};

// The MPI or I/O call that a process is in.
struct PendingCall {
  PendingOperation operation;
  // Operations that it waits for: incomplete requests, the receiving half of MPI_Sendrecv.
  std::vector<PendingOperation> parts;
  bool parts_missing = false;  // and further, unknown ones
  reports::StackPlace place;
  double seconds = 0;
};

// The collectives that a process has called on a communicator.
struct CollectiveHistory {
  std::uint32_t begun = 0;  // without the call that it is in
  struct Call {
    std::string function;
    std::int32_t root = instrument::kNoPeer;  // as far as collective_word() stores it
  };
  std::vector<Call> last;  // the calls before `begun`, in order
};

struct StalledProcess {
  ProcessKey process;
  std::uint64_t tick = 0, since_tick = 0;  // of the check, of its last progress
  double seconds = 0;                      // between the two ticks
  std::optional<double> cpu_share;         // recent CPU time ÷ time
  bool in_finalize = false, is_stopped = false;
  bool sleeps = false;                 // its first thread slept or was blocked at the check
  bool has_free_threads = false;       // threads that may call MPI and are outside MPI
  reports::StackPlace computes;        // outside calls: location of its last sample
  std::optional<PendingCall> mpi, io;  // of the thread that has been longest in its call
  std::vector<PendingCall> others;     // MPI calls of its other threads
  std::map<CommView::Key, CollectiveHistory> collectives;
  bool knows_all_collectives = true;  // it has begun none on other communicators
};

// Reads all readable files of the folder; places have only module and offset.
[[nodiscard]] std::vector<StalledProcess> read_stalled_processes(const std::filesystem::path& folder);
// Resolves the places in the binaries, which may take a while.
void find_places(std::vector<StalledProcess>& processes);
// Names of these files.
[[nodiscard]] std::vector<std::filesystem::path> position_files(const std::filesystem::path& folder);

}  // namespace ardoise::analyzer
