// Replays the calls of a script: a Player for each thread, with shared data in a Stage.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <vector>

#include "tools/replay/call_script.hpp"
#include "tools/replay/replay_buffers.hpp"
#include "tools/replay/replay_comms.hpp"
#include "tools/replay/replay_files.hpp"
#include "tools/replay/replay_options.hpp"
#include "tools/replay/replay_types.hpp"
#include "tools/replay/replay_windows.hpp"
#include "tools/replay/script_compiler.hpp"

namespace ardoise::replay {

// An operation that one call starts and another completes. For a persistent one it holds a copy of the handle.
struct Slot {
  enum State : int { kIdle, kStarted, kDone };  // kDone: earlier than in the recorded run
  MPI_Request request = MPI_REQUEST_NULL;
  std::atomic<int> state = kIdle;  // release by the starting, acquire by the completing thread
};

struct Prepared {
  MPI_Request request = MPI_REQUEST_NULL;
  const CallShape* collective = nullptr;  // started by the function without _init
  const CallShape* receive = nullptr;     // with a wildcard: each start receives the message of the recorded run
};

// Shared data of a process.
struct Stage {
  Stage(const ArchiveWorld& archive, std::int32_t own_rank, CallScript& calls, const ReplayOptions& how,
        const std::set<std::uint32_t>& made, const std::filesystem::path& shared_folder,
        std::vector<std::string>& not_made)
      : world(archive),
        rank(own_rank),
        script(calls),
        options(how),
        types(calls.texts(), not_made),
        comms(archive, own_rank, made, calls.threads() > 1),
        windows(archive, comms),
        files(archive, how.scratch, shared_folder),
        slots(calls.slots),
        prepared(calls.prepared),
        done(calls.threads()) {}

  const ArchiveWorld& world;
  const std::int32_t rank;
  CallScript& script;
  const ReplayOptions& options;
  ReplayTypes types;
  ReplayComms comms;
  ReplayWindows windows;
  ReplayFiles files;
  std::vector<Slot> slots;
  std::vector<Prepared> prepared;
  // Limits of replayed messages for channels with unmatched ones. Empty: none.
  std::map<Channel, std::uint64_t> most_sends, most_receives;
  std::vector<std::atomic<std::uint64_t>> done;  // calls, by thread; release by it, acquire by others
  std::mutex messages_lock;
  std::map<Channel, std::deque<MPI_Message>> messages;  // taken by MPI_Mprobe
  MPI_Op user_operation = MPI_OP_NULL, user_operation_in_order = MPI_OP_NULL;
};

// Operation of a number of vmpi::kOperationNames; MPI_OP_NULL: a user-defined one.
[[nodiscard]] MPI_Op predefined_operation(std::uint8_t number);

struct FunctionTimes {
  std::uint64_t calls = 0, recorded = 0, replayed = 0;  // ns
};

// Current call of a thread, for the stall watch.
struct Progress {
  std::atomic<std::uint64_t> step{0};  // relaxed, as the others: for display only
  std::atomic<std::uint32_t> shape{kLong};
  std::atomic<std::int64_t> since{0};  // ns of the steady clock; 0: outside calls
};

class Player {
 public:
  Player(Stage& stage, std::size_t thread);

  // Replays all calls. Throws ReplayError.
  void play();

  [[nodiscard]] const std::vector<FunctionTimes>& times() const { return times_; }  // by function of CallShape
  struct Pauses {
    std::uint64_t asked = 0, taken = 0;  // ns
  };
  [[nodiscard]] const Pauses& pauses() const { return pauses_; }
  [[nodiscard]] std::uint64_t shared_buffers() const { return buffers_.shared(); }
  [[nodiscard]] const Progress& progress() const { return progress_; }

 private:
  [[nodiscard]] std::uint64_t last_as_long(std::uint64_t until) const;
  void make(const CallShape& shape, std::uint32_t slot);
  void wait_for_threads(const Lists& lists) const;
  void make_message(const CallShape& shape, const Lists& lists, std::uint32_t slot);
  void make_probe(const CallShape& shape);
  void post_prepared(const CallShape& made, std::int32_t source, std::int32_t tag, std::uint32_t slot);
  void start_prepared(const CallShape& shape, const Lists& lists, std::uint32_t slot);
  void free_request(const CallShape& shape, const Lists& lists);
  void make_completion(const CallShape& shape, const Lists& lists);
  void make_test(const CallShape& shape, const Lists& lists);
  void make_wait(const CallShape& shape, const Lists& lists);
  void make_collective(const CallShape& shape, const Lists& lists, MPI_Request* request, std::uint32_t slot);
  void make_neighbourhood(const CallShape& shape, const Lists& lists, MPI_Request* request, std::uint32_t slot);
  void make_one_sided(const CallShape& shape, const Lists& lists, std::uint32_t slot);

  // Collects requests of slots that are neither done nor idle.
  void gather(std::span<const std::int64_t> slots);
  void end_gathered(int place);
  void end_slots(std::span<const std::int64_t> slots);
  [[nodiscard]] MPI_Request* begin(std::uint32_t slot);
  void begun(std::uint32_t slot);
  void pass(std::uint32_t slot);  // marks it done, without having been started

  // Counts and displacements of one side of a call, for each peer: MPI reads the arrays until the operation is
  // complete.
  struct Side {
    std::vector<int> counts, displacements;
    std::vector<MPI_Aint> addresses;
    std::vector<MPI_Datatype> types;
  };
  struct Sides {
    Side out, in;
  };
  [[nodiscard]] Sides& sides_of(std::uint32_t slot) { return slot == kNothing ? sides_ : own_sides_[slot]; }
  [[nodiscard]] Extent fill(Side& side, std::span<const std::int64_t> counts, std::span<const std::int64_t> places,
                            std::span<const std::int64_t> types, const ReplayType& type);
  [[nodiscard]] bool is_left_out(const CallShape& shape, bool sends);
  [[nodiscard]] std::int64_t scaled(std::int64_t count) const;
  [[nodiscard]] Extent extent(std::int64_t count, const ReplayType& type) const;
  [[nodiscard]] MPI_Op operation(const CallShape& shape, const ReplayType& type) const;
  [[nodiscard]] int source_of(const CallShape& shape) const;
  [[nodiscard]] int tag_of(const CallShape& shape) const;
  [[nodiscard]] std::uint64_t wait_for(std::uint64_t pause, std::uint64_t last_end);

  Stage& stage_;
  const std::size_t thread_;
  ReplayBuffers buffers_;
  std::vector<FunctionTimes> times_;
  Pauses pauses_;
  Progress progress_;
  std::minstd_rand random_;
  const double slowed_;
  std::map<Channel, std::uint64_t> sent_, received_;  // of channels with a limit
  std::vector<MPI_Request> requests_;                 // collected, with their slots
  std::vector<std::uint32_t> request_slots_;
  std::vector<int> indices_;
  Sides sides_;
  std::unordered_map<std::uint32_t, Sides> own_sides_;  // of pending operations, by slot
};

}  // namespace ardoise::replay
