// A folder of the replay's own below the scratch folder, for what its processes share: files of MPI-IO. No other replay
// has it, and nothing else is in it.
#pragma once

#include <filesystem>

namespace ardoise::replay {

class SharedFolder {
 public:
  // Collective, in MPI_COMM_WORLD: rank 0 makes it. Without need there is none. Throws ReplayError, in all ranks.
  SharedFolder(const std::filesystem::path& scratch, bool is_needed);
  // In rank 0: removes it, with all that is in it. The others no longer use it then.
  ~SharedFolder();
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool is_own_ = false;
};

}  // namespace ardoise::replay
