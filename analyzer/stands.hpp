// Where processes stand that make no progress in MPI, from the files that their survivors keep in the output folder
// (instrument/format/stands.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/remains.hpp"
#include "instrument/format/definitions.hpp"
#include "instrument/format/event_format.hpp"
#include "reports/ending.hpp"

namespace ardoise::analyzer {

// A communicator as one of its processes knows it. Equal keys are one communicator.
struct StandComm {
  struct Key {
    std::uint64_t hash = 0;
    std::uint32_t instance = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  Key key;
  std::vector<std::int32_t> members;  // ranks of the program's world, of the group that peers are numbered in
  std::string name;
};

// An operation that does not come to its end.
struct StandOperation {
  std::string function;  // "MPI_Irecv"
  instrument::Shape shape = instrument::Shape::kLocal;
  std::int32_t peer = instrument::kNoPeer;  // as in a record: in the communicator
  std::int32_t tag = 0;
  std::optional<StandComm> comm;
};

// The call of MPI, or of I/O, that a process is in.
struct StandCall {
  StandOperation operation;
  std::vector<StandOperation> parts;  // that it waits for: requests, the receiving half of MPI_Sendrecv
  reports::StackPlace place;
  double seconds = 0;
};

struct ProcessStand {
  ProcessKey process;
  std::uint64_t tick = 0, since_tick = 0;  // of the look, of its last progress
  double seconds = 0;                      // between these
  std::optional<double> cpu_share;         // CPU time ÷ time, of late
  bool in_finalize = false, is_stopped = false;
  reports::StackPlace computes;      // in no call: where it was sampled last
  std::optional<StandCall> mpi, io;  // of its threads the one that has been in its call longest
};

// Of all files in the folder that can be read; of places only module and offset are known.
[[nodiscard]] std::vector<ProcessStand> read_stands(const std::filesystem::path& folder);
// Looks the rest up in the binaries, which may take a while.
void find_places(std::vector<ProcessStand>& stands);
// Which there are.
[[nodiscard]] std::vector<std::filesystem::path> stand_files(const std::filesystem::path& folder);

}  // namespace ardoise::analyzer
