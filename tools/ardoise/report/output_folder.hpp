// The folder of the report. It is made and claimed before the launch: a wrong name is reported before a long run, and
// simultaneous launches never share a folder.
#pragma once

#include <filesystem>
#include <string>

namespace ardoise::launcher {

// The file by which a launch claims its folder. The analyzer writes its exit status into it (--status-file).
[[nodiscard]] std::filesystem::path status_file_in(const std::filesystem::path& folder);

class OutputFolder {
 public:
  // Takes `wished`. If another launch has it, it is not empty, it is not this user's, or others can write to it, takes
  // the first usable of wished-2, wished-3 …. A new folder is for this user alone (0700), because its files name paths,
  // hosts and arguments. Throws UsageError if none can be made.
  explicit OutputFolder(const std::filesystem::path& wished);
  // Releases the claim. Removes the folder if it was made here and is still empty.
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }  // absolute
  // Reason why the wished name was not taken, "is taken"; "": it was.
  [[nodiscard]] const std::string& why_renamed() const { return why_renamed_; }

 private:
  std::filesystem::path path_;
  std::string why_renamed_;
  bool made_ = false;  // did not exist before
};

// Removes the claim, even one of a killed launcher. True: the folder was made for a launch.
bool remove_claim(const std::filesystem::path& folder);

// Makes a folder if there is none. Throws UsageError with the same message if it cannot be written.
void make_writable_folder(const std::filesystem::path& folder);

}  // namespace ardoise::launcher
