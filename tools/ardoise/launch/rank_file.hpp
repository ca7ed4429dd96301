// Adds the analyzers to a user's rank file, which names the place of each rank. Open MPI requires places for the
// analyzers, too, whose ranks follow those of the programs. The launch line gets a copy of the file with their lines.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tools/ardoise/launch/launch_line.hpp"

namespace ardoise::launcher {

// `content` with lines for the `analyzers` ranks from `ranks` on that it does not place. Each goes to the machine of a
// program's rank, in turn, on any of its processors. nullopt: all are placed already, or no place could be read.
[[nodiscard]] std::optional<std::string> with_analyzers(const std::string& content, unsigned ranks, unsigned analyzers);

class RankFile {
 public:
  // Changes the option of the line if necessary. Throws UsageError if the copy cannot be written.
  RankFile(LaunchLine& line, unsigned ranks, unsigned analyzers, const std::filesystem::path& folder);
  ~RankFile();  // removes the copy
  RankFile(const RankFile&) = delete;
  RankFile& operator=(const RankFile&) = delete;

 private:
  std::filesystem::path copy_;
};

}  // namespace ardoise::launcher
