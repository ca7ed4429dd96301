// The folder that the report goes into: made before the launch, so that a wrong name is told before a long run.
#pragma once

#include <filesystem>

namespace ardoise::launcher {

struct OutputFolder {
  std::filesystem::path path;  // absolute
  bool renamed = false;        // the wished name was taken by an earlier report, `path` has a number behind it
  bool made = false;           // was not there before
};

// Makes `wished` or, where that is not empty, the first free of wished-2, wished-3 … Throws UsageError when the folder
// cannot be made or written into.
[[nodiscard]] OutputFolder make_output_folder(const std::filesystem::path& wished);

// Makes a folder where there is none, with the same sentence when it cannot be written into.
void make_writable_folder(const std::filesystem::path& folder);

// Removes it again where it is still empty and was made here.
void remove_if_empty(const OutputFolder& folder);

}  // namespace ardoise::launcher
