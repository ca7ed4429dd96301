// A folder of this replay below the scratch folder, for files of MPI-IO, which its processes share. It is exclusive and
// contains nothing else.
#pragma once

#include <filesystem>

namespace ardoise::replay {

class SharedFolder {
 public:
  // Collective over MPI_COMM_WORLD: rank 0 creates it, if needed. Throws ReplayError, in all ranks.
  SharedFolder(const std::filesystem::path& scratch, bool is_needed);
  // Rank 0 removes the folder with its content. The others must not use it any more.
  ~SharedFolder();
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool is_own_ = false;
};

}  // namespace ardoise::replay
