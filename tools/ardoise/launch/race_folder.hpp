// Handles folders with recorded races (docs/guide/races.md) in the launcher: checks them before the programs start, and
// adds the names of call sites after the programs have ended.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ardoise::launcher {

// For --record-races: makes the folder. Throws UsageError if it cannot be written or already has a record.
void prepare_race_folder(const std::filesystem::path& folder);

// For --replay-races. ranks: of the launch, if its line names the number; programs: for each context the file if it is
// linked with MPI, "" if it starts others. Throws UsageError if the record is of another kind of launch.
void check_race_folder(const std::filesystem::path& folder, std::optional<unsigned> ranks,
                       const std::vector<std::string>& programs);

struct RecordedRaces {
  unsigned ranks = 0;
  unsigned incomplete = 0;  // ranks whose record ends before MPI_Finalize
  std::uint64_t decisions = 0;
  std::uint64_t bytes = 0;
};
// After --record-races: looks up the call sites in the programs and writes their names into the folder (sites.txt).
// Processes that diverge from the record read them there.
RecordedRaces name_race_sites(const std::filesystem::path& folder);

// After --replay-races: a clause for each process that diverged from the record, "rank 3 has diverged in MPI_Iprobe at
// main in solver.c:12". Removes their notes from the output folder.
std::vector<std::string> take_divergences(const std::filesystem::path& output);

}  // namespace ardoise::launcher
