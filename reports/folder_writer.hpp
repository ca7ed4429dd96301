// Copies files into a folder with untrusted content, each as a temporary file that is renamed. The folder's own path
// may be a link, because the user named it. Inside it no link is followed: a link in place of a file or folder is
// replaced. Used by render.cpp for results from a private folder.
#pragma once

#include <string>

#include "reports/result.hpp"

namespace ardoise::reports {

// After a failure, all functions do nothing and return the first error.
class FolderWriter {
 public:
  explicit FolderWriter(const std::string& path);  // an existing folder
  ~FolderWriter();
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;

  // The folder `name` in it, created if missing.
  [[nodiscard]] FolderWriter folder(const std::string& name);
  // Copies the file `from` to `name`.
  Outcome copy(const std::string& from, const std::string& name);
  // Copies all files of the folder `from`.
  Outcome copy_all(const std::string& from);

 private:
  FolderWriter(std::string path, int folder, std::string error);
  Outcome fail(const std::string& name, int error_number);

  std::string path_, error_;
  int folder_ = -1;
};

}  // namespace ardoise::reports
