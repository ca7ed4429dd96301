// The epochs of one rank on its windows: converts its calls, in order, to halves of epochs and locks. Each epoch with
// another rank has a number, counted separately for the two roles and each window, so halves may arrive at the match in
// any order.
//
// Memory: open epochs, and a counter for each pair of window and rank with a common epoch, at most kMost; parts on
// communicators whose definition has not arrived yet, which count on the blackboard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "instrument/format/event_reader.hpp"
#include "knowledge_sources/contexts/rank_places.hpp"
#include "knowledge_sources/interface/kept_bytes.hpp"
#include "knowledge_sources/plugins/waits/latest_samples.hpp"
#include "knowledge_sources/plugins/waits/wait_sums.hpp"
#include "knowledge_sources/plugins/waits/window_parts.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe.
class RankWindows {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16;

  explicit RankWindows(std::uint32_t rank) : rank_(rank) {}

  // Before the first call; the board outlives the object's use.
  void count_on(blackboard::Blackboard& board) { early_bytes_.count_on(board); }
  // Missing definitions will not arrive.
  void give_up_missing() {
    unresolved_.incomplete += early_count();
    early_.clear();
    early_bytes_.clear();
  }

  // True: a call that is followed here; collectives on windows are not.
  [[nodiscard]] static bool follows(const instrument::MpiRecord& record);
  // part: times and place of the call.
  void add(const instrument::MpiRecord& record, const Part& part, const CallMoments& call,
           const LatestSamples& samples);
  // Adds the group of the previous call.
  void add(const instrument::GroupExtension& group);
  // Later calls are not followed: `reason` counts the epochs that end in them.
  void give_up(std::uint64_t Unresolved::*reason);
  // Number of epochs that end in these calls; the two halves of one count separately.
  [[nodiscard]] static std::uint64_t epochs_in(std::span<const instrument::MpiRecord> records);
  // Calls after giving up.
  void count(std::span<const instrument::MpiRecord> records) {
    if (given_up_ != nullptr) unresolved_.*given_up_ += epochs_in(records);
  }

  void define(std::uint32_t comm, const CommIdentity& identity, std::uint32_t own_rank, bool within_world);
  void set_clock_error(double ns) { clock_error_ = static_cast<float>(ns); }
  // Parts since the last call.
  [[nodiscard]] std::vector<WindowPart> take() { return std::exchange(parts_, {}); }
  [[nodiscard]] bool has_parts() const { return !parts_.empty(); }

  // After the last call.
  [[nodiscard]] Unresolved unresolved() const;

 private:
  struct With {
    std::uint64_t number;
    WindowCall first = kNoCall;  // operation on it
  };
  // Ranks of the communicator.
  using Group = std::map<std::uint32_t, With>;
  struct OpenAccess {
    WindowCall start;
    ThreadProgress since, last_end;  // end of the previous epoch, of the last operation
    double last_end_time;            // rounded
    Stretch to_start;
    Group targets;
  };
  struct OpenExposure {
    double post;
    ThreadProgress since;
    Stretch to_post;
    Group origins;
  };
  struct OpenLock {
    LockEpoch epoch;
    ThreadProgress got;  // end of the lock call
    bool has_operation = false, has_flush = false;
  };
  struct Window {
    std::uint32_t comm = 0, number = 0;
    bool has_ended = false;  // an epoch has ended, at:
    ThreadProgress last_end{};
    std::optional<OpenAccess> access;
    std::optional<OpenExposure> exposure;
    std::map<std::uint32_t, OpenLock> locks;               // by target
    std::map<std::uint32_t, std::uint64_t> posts, starts;  // with each rank, so far
  };
  struct Definition {
    CommIdentity identity;
    std::uint32_t own_rank;
    bool within_world;
  };
  struct Now;  // the current call

  [[nodiscard]] Window* window_of(const instrument::MpiRecord& record);
  [[nodiscard]] bool has_room();
  void start(Window& window, const Now& now);
  void post(Window& window, const Now& now);
  void complete(Window& window, const Now& now);
  void wait(Window& window, const Now& now, bool waits);
  void operate(Window& window, const Now& now);
  void flush(Window& window, const Now& now);
  void lock(Window& window, const Now& now, std::uint32_t target, bool exclusive);
  void unlock(Window& window, const Now& now, std::uint32_t target);
  static void consider(OpenLock& lock, const Now& now, std::uint32_t target, bool& has_one);
  void end_epoch(Window& window, const Now& now);
  // One half for each rank of the epoch; half: common fields.
  template <class Half>
  void add_halves(const Window& window, const Group& group, Half half);
  void give(std::uint32_t comm, WindowPart part);
  void place(const Definition& definition, WindowPart& part);
  [[nodiscard]] std::uint64_t early_count() const {
    std::uint64_t count = 0;
    for (const auto& [comm, parts] : early_) count += parts.size();
    return count;
  }

  std::uint32_t rank_;
  float clock_error_ = 0;                                              // ns
  std::map<std::pair<std::uint32_t, std::uint32_t>, Window> windows_;  // by communicator and number
  Window* last_ = nullptr;      // most calls use the same window as the previous one
  Window* group_of_ = nullptr;  // the window whose group follows
  bool group_starts_ = false;   // it is the group of MPI_Win_start
  std::size_t used_ = 0;        // of kMost
  std::uint32_t serial_ = 0;
  std::map<std::uint32_t, Definition> comms_;
  std::map<std::uint32_t, std::vector<WindowPart>> early_;  // by communicator, which is not defined yet
  KeptBytes early_bytes_;
  std::vector<WindowPart> parts_;
  std::uint64_t Unresolved::*given_up_ = nullptr;
  Unresolved unresolved_;
};

}  // namespace ardoise::knowledge_sources
