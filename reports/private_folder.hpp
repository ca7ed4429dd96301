// A new folder in $TMPDIR, else in /tmp, that no other user can write to. LaTeX and Graphviz run there, so they read
// only files of this program and of their installation. Results are copied out with FolderWriter (folder_writer.hpp).
// Used by render.cpp.
#pragma once

#include <string>

#include "reports/result.hpp"

namespace ardoise::reports {

// The destructor removes the folder with its content.
class PrivateFolder {
 public:
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  // "": the folder exists.
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] const std::string& path() const { return path_; }  // absolute

 private:
  std::string path_, error_;
};

// The error text for a file in it that cannot be written.
[[nodiscard]] std::string cannot_make(const std::string& path, const std::string& why);

}  // namespace ardoise::reports
