// The path by which programs preload our library. The loader ends each entry of LD_PRELOAD at a blank or colon. If the
// folder's path contains one, the library is loaded through a symbolic link in a folder whose path does not.
#pragma once

#include <filesystem>

namespace ardoise::launcher {

class PreloadPath {
 public:
  // Throws UsageError if the link is needed and cannot be made.
  explicit PreloadPath(const std::filesystem::path& library);
  ~PreloadPath();  // removes the link
  PreloadPath(const PreloadPath&) = delete;
  PreloadPath& operator=(const PreloadPath&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_, made_folder_;
};

}  // namespace ardoise::launcher
