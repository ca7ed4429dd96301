// Files of a replay: files of MPI-IO, shared by all processes, numbered in a separate folder, and POSIX files, unnamed
// and per process. They contain zeros, as many as were written or are read, and are removed afterwards.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/replay/archive_world.hpp"
#include "tools/replay/call_script.hpp"
#include "tools/replay/replay_comms.hpp"
#include "tools/replay/replay_types.hpp"

namespace ardoise::replay {

class ReplayFiles {
 public:
  // shared: folder for MPI-IO files. A file keeps its content when it is opened again.
  ReplayFiles(const ArchiveWorld& world, const std::filesystem::path& scratch, const std::filesystem::path& shared)
      : world_(world), scratch_(scratch), shared_(shared) {}
  ~ReplayFiles();
  ReplayFiles(const ReplayFiles&) = delete;
  ReplayFiles& operator=(const ReplayFiles&) = delete;

  // A call of MPI-IO. request: of a non-blocking one.
  void play(const CallShape& shape, const Lists& lists, const ReplayTypes& types, ReplayComms& comms, void* buffer,
            MPI_Request* request);
  // POSIX read, write and flush. Throws ReplayError: the disk is full.
  void play_posix(const CallShape& shape);

 private:
  struct Posix {
    int descriptor = -1;
    std::int64_t read_at = 0, size = 0;
  };
  struct Shared {
    MPI_File file = MPI_FILE_NULL;
    std::int64_t etype_bytes = 1;
    int ranks = 1;
  };
  void open(const CallShape& shape, ReplayComms& comms);
  [[nodiscard]] std::string name_of(std::uint32_t object) const;
  // Extends the file to the end of an MPI-IO read, which may be beyond the written data.
  void extend(const CallShape& shape, const Shared& file, MPI_Offset offset, const ReplayTypes& types) const;
  [[nodiscard]] Posix& posix(std::uint32_t handle);

  const ArchiveWorld& world_;
  const std::filesystem::path scratch_, shared_;
  std::mutex lock_;
  std::unordered_map<std::uint32_t, Shared> files_;  // by handle of the archive
  std::unordered_map<std::uint32_t, Posix> posix_;
  std::vector<char> buffer_;
};

}  // namespace ardoise::replay
