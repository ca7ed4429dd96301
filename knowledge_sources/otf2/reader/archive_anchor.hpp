// The file traces.otf2 of an archive: where it is, and whether OTF2 may be asked to open it.
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace ardoise::knowledge_sources {

struct ArchiveAnchor {
  std::filesystem::path file;    // traces.otf2
  std::filesystem::path folder;  // with a file for each location: traces
  std::filesystem::path definitions, markers;
  std::uint8_t major = 0, minor = 0, bugfix = 0;  // version of OTF2 that wrote it
  std::uint64_t event_chunk_bytes = 0, definition_chunk_bytes = 0;
  std::uint64_t definition_count = 0;  // as it says
  std::string machine, creator, description;
  std::vector<std::pair<std::string, std::string>> properties;

  // Written by Ardoise, of a part of the run: "--trace ranks=0-3". Attributes restrict nothing.
  [[nodiscard]] bool is_selection() const;
};

// Not to be read at all. what(): a sentence.
class UnreadableArchive : public std::exception {
 public:
  explicit UnreadableArchive(std::string sentence) : sentence_(std::move(sentence)) {}
  [[nodiscard]] const char* what() const noexcept override { return sentence_.c_str(); }

 private:
  std::string sentence_;
};

// path: traces.otf2 by any name, its folder, or the folder of a report of Ardoise. Throws UnreadableArchive.
[[nodiscard]] ArchiveAnchor find_archive(const std::filesystem::path& path);

}  // namespace ardoise::knowledge_sources
