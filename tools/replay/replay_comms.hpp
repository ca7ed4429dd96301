// The communicators of a replay, by their numbers in the archive. Communicators that no call of the trace creates are
// created before it begins. The replay's own calls use PMPI, past tools that measure it.
#pragma once

#include <mpi.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/replay/archive_world.hpp"
#include "tools/replay/call_script.hpp"

namespace ardoise::replay {

// Thread safe once made.
class ReplayComms {
 public:
  // Collective over MPI_COMM_WORLD. made_by_calls: created by calls of this process; a communicator counts if that
  // holds in all of its members, otherwise its calls are skipped.
  ReplayComms(const ArchiveWorld& world, std::int32_t rank, const std::set<std::uint32_t>& made_by_calls,
              bool has_threads);

  // Waits until another thread has created it. Throws ReplayError if none does.
  [[nodiscard]] MPI_Comm get(std::uint32_t number) {
    const MPI_Comm comm = has_threads_ ? MPI_COMM_NULL : find(number);
    return comm != MPI_COMM_NULL ? comm : wait_for(number);
  }
  // Called before MPI_Finalize.
  void finish_duplicates();
  [[nodiscard]] bool is_made_by_call(std::uint32_t number) const { return by_calls_.contains(number); }

  // Replays the call that created shape.object from shape.comm, or freed shape.comm.
  void play(const CallShape& shape, MPI_Request* request);

 private:
  // MPI_COMM_NULL: not created so far.
  [[nodiscard]] MPI_Comm find(std::uint32_t number) const {
    const auto found = comms_.find(number);
    return found == comms_.end() ? MPI_COMM_NULL : found->second;
  }
  [[nodiscard]] MPI_Comm wait_for(std::uint32_t number);
  void put(std::uint32_t number, MPI_Comm comm);
  [[nodiscard]] MPI_Comm take(std::uint32_t number);
  void make_before(const ReplayComm& comm);
  // is_programs: a call of the program, visible to tools.
  [[nodiscard]] MPI_Comm split(MPI_Comm parent, const ReplayComm* made, bool is_programs) const;
  [[nodiscard]] MPI_Comm make(const CallShape& shape, const ReplayComm* made, MPI_Comm parent, MPI_Request* request);
  [[nodiscard]] MPI_Group group_of(std::span<const std::int32_t> world_ranks) const;
  [[nodiscard]] bool keeps_order(const CallShape& shape, const ReplayComm& made) const;

  const ArchiveWorld& world_;
  const std::int32_t rank_;
  std::set<std::uint32_t> by_calls_;
  std::mutex lock_;
  std::condition_variable made_;
  const bool has_threads_;
  std::unordered_map<std::uint32_t, MPI_Comm> comms_;        // by the trace's numbers, which are arbitrary
  std::deque<std::pair<MPI_Comm, MPI_Request>> duplicates_;  // by MPI_Comm_idup, unused
  std::vector<MPI_Comm> alone_;  // made by calls, of this process only: calls on them use MPI_COMM_SELF
};

}  // namespace ardoise::replay
