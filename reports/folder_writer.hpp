// Copies files into a folder that may hold anything: beside the old ones, then renamed over them. The folder itself may
// be named by a link, for the user named it. In it no link is followed: one that stands where a file or a folder
// belongs is replaced. Used by render.cpp, for what was made in a private folder.
#pragma once

#include <string>

#include "reports/result.hpp"

namespace ardoise::reports {

// A writer that has failed does nothing more, and says the first error again.
class FolderWriter {
 public:
  explicit FolderWriter(const std::string& path);  // an existing folder
  ~FolderWriter();
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;

  // The folder `name` in it, made where it is not there.
  [[nodiscard]] FolderWriter folder(const std::string& name);
  // One file from `from`, to `name`.
  Outcome copy(const std::string& from, const std::string& name);
  // All files that lie in the folder `from`.
  Outcome copy_all(const std::string& from);

 private:
  FolderWriter(std::string path, int folder, std::string error);
  Outcome fail(const std::string& name, int error_number);

  std::string path_, error_;
  int folder_ = -1;
};

}  // namespace ardoise::reports
