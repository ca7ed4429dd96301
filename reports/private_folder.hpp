// Where the report is made: a fresh folder that no other user can write to, in $TMPDIR, else in /tmp. LaTeX and
// Graphviz run there, so they read what this program wrote and their own installation, and no file that lies in a
// folder of the user's or of somebody else's. What they made is copied out with FolderWriter (folder_writer.hpp). Used
// by render.cpp.
#pragma once

#include <string>

#include "reports/result.hpp"

namespace ardoise::reports {

// Removed with all that is in it when this object ends.
class PrivateFolder {
 public:
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  // Why there is none.
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] const std::string& path() const { return path_; }  // absolute

 private:
  std::string path_, error_;
};

// The sentence for a file there that cannot be written.
[[nodiscard]] std::string cannot_make(const std::string& path, const std::string& why);

}  // namespace ardoise::reports
