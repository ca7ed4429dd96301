// Windows and one-sided communication of a replay. The memory of a window has the recorded size, and is used only where
// data is moved.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "tools/replay/archive_world.hpp"
#include "tools/replay/call_script.hpp"
#include "tools/replay/replay_buffers.hpp"
#include "tools/replay/replay_comms.hpp"

namespace ardoise::replay {

class ReplayWindows {
 public:
  ReplayWindows(const ArchiveWorld& world, ReplayComms& comms) : world_(world), comms_(comms) {}

  // MPI_WIN_NULL: no call of the trace created it.
  [[nodiscard]] MPI_Win get(std::uint32_t number);
  // Creates, synchronises, frees.
  void play(const CallShape& shape, const Lists& lists);

 private:
  void make(const CallShape& shape, const Lists& lists);
  [[nodiscard]] MPI_Group group_of(MPI_Win window, const Lists& lists) const;

  struct Window {
    MPI_Win handle = MPI_WIN_NULL;
    std::unique_ptr<ReplayBuffer> memory;  // nullptr: allocated by MPI
    bool is_tested = false;                // MPI_Win_test has ended the epoch earlier than in the recorded run
  };
  const ArchiveWorld& world_;
  ReplayComms& comms_;
  std::mutex lock_;
  std::unordered_map<std::uint32_t, Window> windows_;
};

}  // namespace ardoise::replay
