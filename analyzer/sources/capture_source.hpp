// Packs of captured files, for ardoise-analyzer --replay and for tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/sources/pack_source.hpp"
#include "instrument/format/pack_file.hpp"
#include "knowledge_sources/reduction/level.hpp"

namespace ardoise::analyzer {

// Packs of capture files in memory.
struct Capture {
  std::vector<instrument::PackFile> files;
  std::vector<knowledge_sources::Program> programs;  // from the process definitions
  std::vector<std::string> complaints;               // files that could not be read to the end, and why
};

// Reads files, and all files of folders, in alphabetical order. If the files belong to fewer than one rank in 1,024,
// the result has no files and programs, and a complaint.
[[nodiscard]] Capture read_capture(const std::vector<std::string>& paths);
// Files of this user in an output folder (own_files.hpp).
[[nodiscard]] Capture read_own_capture(const std::vector<std::filesystem::path>& files);

class CaptureSource final : public PackSource {
 public:
  // Packs whose rank modulo `parts` is `part`, as one of `parts` analyzers would receive them. The capture outlives the
  // source and its packs.
  explicit CaptureSource(Capture& capture, std::uint32_t part = 0, std::uint32_t parts = 1)
      : capture_(capture), part_(part), parts_(parts) {}

  [[nodiscard]] Next next(SourcedPack& pack) override;
  [[nodiscard]] std::vector<std::string> complaints() const override { return capture_.complaints; }

 private:
  Capture& capture_;
  std::uint32_t part_, parts_;
  std::size_t file_ = 0;
  std::optional<instrument::PackSequence> packs_;  // of the current file
};

}  // namespace ardoise::analyzer
