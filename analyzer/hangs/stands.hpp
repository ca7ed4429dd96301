// Where processes stand that make no progress in MPI, from the files that their survivors keep in the output folder
// (instrument/format/stands.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/sources/remains.hpp"
#include "instrument/format/definitions.hpp"
#include "instrument/format/event_format.hpp"
#include "reports/ending.hpp"

namespace ardoise::analyzer {

// A communicator as one of its processes knows it. Equal keys are one communicator.
struct StandComm {
  struct Key {
    std::uint64_t hash = 0;
    std::uint32_t instance = 0;  // among those of the same ranks, in the order in which they were made
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  Key key;
  std::vector<std::int32_t> members;  // ranks of the program's world, of the group that peers are numbered in
  std::string name;
  bool is_inter = false;
  bool is_whole = true;  // all members are known, and in the program's world; else none is
};

// An operation that does not come to its end.
struct StandOperation {
  std::string function;  // "MPI_Irecv"
  instrument::Shape shape = instrument::Shape::kLocal;
  std::int32_t peer = instrument::kNoPeer;  // as in a record: in the communicator
  std::int32_t tag = 0;
  std::shared_ptr<const StandComm> comm = nullptr;  // nullptr: none, or not known
  // For a collective: how many its process had begun before on the communicator.
  std::optional<std::uint32_t> number = std::nullopt;
  bool may_be_done = false;  // of a part, or of a call with parts, for all that is known
};

// The call of MPI, or of I/O, that a process is in.
struct StandCall {
  StandOperation operation;
  // That it waits for: requests that are not complete, the receiving half of MPI_Sendrecv.
  std::vector<StandOperation> parts;
  bool parts_missing = false;  // and for more
  reports::StackPlace place;
  double seconds = 0;
};

// The collectives that a process has called on a communicator.
struct StandCollectives {
  std::uint32_t begun = 0;  // without a call that it is in
  struct Call {
    std::string function;
    std::int32_t root = instrument::kNoPeer;  // as far as collective_word() holds it
  };
  std::vector<Call> last;  // of the numbers before `begun`, in their order
};

struct ProcessStand {
  ProcessKey process;
  std::uint64_t tick = 0, since_tick = 0;  // of the look, of its last progress
  double seconds = 0;                      // between these
  std::optional<double> cpu_share;         // CPU time ÷ time, of late
  bool in_finalize = false, is_stopped = false;
  bool sleeps = false;               // its first thread slept or was blocked at the look
  bool has_free_threads = false;     // that may call MPI, and are in no call of it
  reports::StackPlace computes;      // in no call: where it was sampled last
  std::optional<StandCall> mpi, io;  // of its threads the one that has been in its call longest
  std::vector<StandCall> others;     // of MPI, of its other threads
  std::map<StandComm::Key, StandCollectives> collectives;
  bool knows_all_collectives = true;  // on other communicators it has begun none
};

// Of all files in the folder that can be read; of places only module and offset are known.
[[nodiscard]] std::vector<ProcessStand> read_stands(const std::filesystem::path& folder);
// Looks the rest up in the binaries, which may take a while.
void find_places(std::vector<ProcessStand>& stands);
// Which there are.
[[nodiscard]] std::vector<std::filesystem::path> stand_files(const std::filesystem::path& folder);

}  // namespace ardoise::analyzer
