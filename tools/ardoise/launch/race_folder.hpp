// Folders of records of races (docs/guide/races.md) as the launcher sees them: looked at before the programs start, and
// given the names of call sites after they have ended.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ardoise::launcher {

// For --record-races: makes it. Throws UsageError where it cannot be written, or has a record already.
void prepare_race_folder(const std::filesystem::path& folder);

// For --replay-races. ranks: of the launch, where its line says them; programs: files of those that are linked with
// MPI, one for each context, "" for what starts others. Throws UsageError where the record is not of such a launch.
void check_race_folder(const std::filesystem::path& folder, std::optional<unsigned> ranks,
                       const std::vector<std::string>& programs);

struct RecordedRaces {
  unsigned ranks = 0;
  unsigned incomplete = 0;  // ranks whose record ends before MPI_Finalize
  std::uint64_t decisions = 0;
  std::uint64_t bytes = 0;
};
// After --record-races: looks call sites up in the programs, and leaves their names in the folder (sites.txt), where
// processes that diverge from the record find them.
RecordedRaces name_race_sites(const std::filesystem::path& folder);

// After --replay-races: where processes have diverged from the record, a clause for each: "rank 3 has diverged in
// MPI_Iprobe at main in solver.c:12". Their notes are removed from the output folder.
std::vector<std::string> take_divergences(const std::filesystem::path& output);

}  // namespace ardoise::launcher
