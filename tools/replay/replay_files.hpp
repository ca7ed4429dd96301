// Files of a replay: of MPI-IO, shared by all processes, and of POSIX, of each process its own. They are in the scratch
// folder under numbers, hold nothing of the program's, and are gone afterwards.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "tools/replay/archive_world.hpp"
#include "tools/replay/call_script.hpp"
#include "tools/replay/replay_comms.hpp"
#include "tools/replay/replay_types.hpp"

namespace ardoise::replay {

class ReplayFiles {
 public:
  ReplayFiles(const ArchiveWorld& world, const std::filesystem::path& scratch) : world_(world), scratch_(scratch) {}
  ~ReplayFiles();
  ReplayFiles(const ReplayFiles&) = delete;
  ReplayFiles& operator=(const ReplayFiles&) = delete;

  // A call of MPI-IO. request: of one that does not block.
  void play(const CallShape& shape, const Lists& lists, const ReplayTypes& types, ReplayComms& comms, void* buffer,
            MPI_Request* request);
  // Reading, writing, flushing of POSIX. Throws ReplayError: the disk is full.
  void play_posix(const CallShape& shape);

 private:
  struct Posix {
    int descriptor = -1;
    std::int64_t read_at = 0, size = 0;
  };
  void open(const CallShape& shape, const Lists& lists, ReplayComms& comms);
  [[nodiscard]] Posix& posix(std::uint32_t handle);

  const ArchiveWorld& world_;
  const std::filesystem::path scratch_;
  std::mutex lock_;
  std::unordered_map<std::uint32_t, MPI_File> files_;  // by handle of the archive
  std::unordered_map<std::uint32_t, Posix> posix_;
  std::vector<char> buffer_;
};

}  // namespace ardoise::replay
