// A rank file of the user's names the place of each rank. The analyzers are ranks of the launch, behind those of the
// programs: Open MPI wants places for them, too. A copy of the file with their lines takes its place in the launch
// line.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tools/ardoise/launch/launch_line.hpp"

namespace ardoise::launcher {

// `content` with lines for the ranks from `ranks` on, `analyzers` of them, that it does not place: each on the machine
// of a rank of the programs, these in turn, on any of its processors. Nothing: all are placed, or none is that could be
// read.
[[nodiscard]] std::optional<std::string> with_analyzers(const std::string& content, unsigned ranks, unsigned analyzers);

class RankFile {
 public:
  // Changes the option of the line where that is necessary. Throws UsageError where the copy cannot be written.
  RankFile(LaunchLine& line, unsigned ranks, unsigned analyzers, const std::filesystem::path& folder);
  ~RankFile();  // the copy goes
  RankFile(const RankFile&) = delete;
  RankFile& operator=(const RankFile&) = delete;

 private:
  std::filesystem::path copy_;
};

}  // namespace ardoise::launcher
