// The folder that the report goes into: made and claimed before the launch, so that a wrong name is told before a long
// run, and launches that run side by side never share one.
#pragma once

#include <filesystem>
#include <string>

namespace ardoise::launcher {

// The file by which a launch claims its folder, and in which the analyzer leaves its exit status (its --status-file).
[[nodiscard]] std::filesystem::path status_file_in(const std::filesystem::path& folder);

class OutputFolder {
 public:
  // Takes `wished` or, where another launch has it, it is not empty, not this user's, or others can write to it, the
  // first of wished-2, wished-3 … that is none of these. A new one is made for this user alone (0700): what is in it
  // names paths, hosts and arguments. Throws UsageError when none can be made.
  explicit OutputFolder(const std::filesystem::path& wished);
  // Gives up the claim. A folder that was made here and is still empty goes, too.
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }  // absolute
  // What kept it from taking the wished name, "is taken"; "": nothing did.
  [[nodiscard]] const std::string& why_renamed() const { return why_renamed_; }

 private:
  std::filesystem::path path_;
  std::string why_renamed_;
  bool made_ = false;  // was not there before
};

// Also that of a launcher that was killed. True: the folder was made for a launch.
bool remove_claim(const std::filesystem::path& folder);

// Makes a folder where there is none, with the same sentence when it cannot be written into.
void make_writable_folder(const std::filesystem::path& folder);

}  // namespace ardoise::launcher
