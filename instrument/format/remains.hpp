// What is left of processes that ended without MPI_Finalize: for each a file of packs (pack_file.hpp) in the output
// folder, written by its survivor (process/ending/survivor.hpp), read by who makes the report. Packs that the analyzer
// has already may be among them: these have the numbers that it knows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ardoise::instrument {

// The output folder, from the command line of the analyzers, which all processes of a launch know: the word behind
// --output, up to the next option, if it is an absolute path. Empty: nothing is left of a process.
[[nodiscard]] inline std::string remains_folder(std::string_view analyzer_command) {
  constexpr std::string_view kOption = " --output ";
  const auto option = analyzer_command.find(kOption);
  if (option == std::string_view::npos) return "";
  const auto begin = option + kOption.size();
  const std::string folder(analyzer_command.substr(begin, analyzer_command.find(" --", begin) - begin));
  return folder.starts_with('/') ? folder : "";
}

inline constexpr const char* kRemainsPrefix = ".remains-";
inline constexpr const char* kUnfinishedRemains = ".part";  // behind the name, while it is being written

[[nodiscard]] inline std::string remains_name(std::uint32_t partition, std::uint32_t rank) {
  return kRemainsPrefix + std::to_string(partition) + "-" + std::to_string(rank);
}

}  // namespace ardoise::instrument
