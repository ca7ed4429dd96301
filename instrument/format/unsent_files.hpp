// Files of processes that ended without MPI_Finalize: one file of packs (pack_file.hpp) per process in the output
// folder. The survivor (process/ending/survivor.hpp) writes it and the analyzer reads it. Packs that the analyzer
// received before may be among them, with the same sequence numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ardoise::instrument {

// The output folder from the analyzers' command line, which all processes of a launch know: the word after --output, up
// to the next option, if it is an absolute path. Empty: survivors write no files.
[[nodiscard]] inline std::string output_folder_of(std::string_view analyzer_command) {
  constexpr std::string_view kOption = " --output ";
  const auto option = analyzer_command.find(kOption);
  if (option == std::string_view::npos) return "";
  const auto begin = option + kOption.size();
  const std::string folder(analyzer_command.substr(begin, analyzer_command.find(" --", begin) - begin));
  return folder.starts_with('/') ? folder : "";
}

inline constexpr const char* kUnsentPrefix = ".unsent-";
inline constexpr const char* kUnfinishedSuffix = ".part";  // appended to the name while the file is incomplete

[[nodiscard]] inline std::string unsent_file_name(std::uint32_t partition, std::uint32_t rank) {
  return kUnsentPrefix + std::to_string(partition) + "-" + std::to_string(rank);
}

}  // namespace ardoise::instrument
