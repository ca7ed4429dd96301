// The file traces.otf2 of an archive: its location, and whether OTF2 may open it.
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
  std::filesystem::path folder;  // contains a file for each location: traces
  std::filesystem::path definitions, markers;
  std::uint8_t major = 0, minor = 0, bugfix = 0;  // OTF2 version of the writer
  std::uint64_t event_chunk_bytes = 0, definition_chunk_bytes = 0;
  std::uint64_t definition_count = 0;  // as the file says
  std::string machine, creator, description;
  std::vector<std::pair<std::string, std::string>> properties;

  // Written by Ardoise for a part of the run: "--trace ranks=0-3". Attributes restrict nothing.
  [[nodiscard]] bool is_selection() const;
};

// The archive cannot be read at all. what(): a sentence.
class UnreadableArchive : public std::exception {
 public:
  explicit UnreadableArchive(std::string sentence) : sentence_(std::move(sentence)) {}
  [[nodiscard]] const char* what() const noexcept override { return sentence_.c_str(); }

 private:
  std::string sentence_;
};

// find_archive() finds an anchor file there; opens no file, which may be damaged.
[[nodiscard]] bool has_archive(const std::filesystem::path& path);

// path: traces.otf2 under any name, its folder, or the folder of an Ardoise report. Throws UnreadableArchive.
[[nodiscard]] ArchiveAnchor find_archive(const std::filesystem::path& path);

}  // namespace ardoise::knowledge_sources
