// What a rank does one-sidedly: which of its operations are not complete yet, and the groups of its epochs. As Score-P
// tells it, operations of one kind on one target share an id until something completes them, so that one event ends
// them all; what has a request has an id of its own.
//
//   MPI_Put …                     complete at the origin, and then at the target
//   MPI_Get, MPI_Fetch_and_op …   complete at the target when they are at the origin
//
// Windows have the number trace_window() in the events of a rank. Not thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "instrument/format/event_format.hpp"

namespace ardoise::knowledge_sources {

// Of the rank's communicator and of the window among those of the communicator.
constexpr std::uint32_t trace_window(std::uint32_t comm, std::uint32_t window) {
  return comm << instrument::kWindowBits | window;
}

class TraceWindows {
 public:
  static constexpr std::size_t kMostRequests = 65536, kMostGroups = 65536;

  // Has events.
  void use(std::uint32_t window) { (void)window_of(window); }

  // How far a call completes operations.
  enum class Completes : std::uint8_t {
    kAtOrigin,   // MPI_Win_flush_local: at the origin
    kEpoch,      // MPI_Win_complete: likewise, and nothing more is told of them
    kEverywhere  // MPI_Win_fence, MPI_Win_flush, MPI_Win_unlock
  };
  struct Ended {
    std::uint64_t id;
    bool at_origin, at_target;
  };

  // The id of an operation without a request. next: a new one, where it needs one.
  [[nodiscard]] std::uint64_t operate(std::uint32_t window, std::uint32_t target, bool gets, std::uint32_t& next);
  // An operation with a request; false: there are too many of them, its end at the target is not told.
  [[nodiscard]] bool start(std::uint32_t window, std::uint32_t target, bool gets, std::uint64_t id);
  // Of what was started so: its request is complete. Nothing has ended where something else has completed it before.
  [[nodiscard]] std::optional<Ended> end_request(std::uint32_t window, std::uint64_t id);
  // A call completes what is on its way to a target, or to all.
  [[nodiscard]] std::vector<Ended> complete(std::uint32_t window, std::optional<std::uint32_t> target, Completes how);
  // Operations that are not complete at the origin.
  [[nodiscard]] std::uint64_t open_operations() const;

  // The number of a group of ranks of the communicator; nullopt: there are too many.
  [[nodiscard]] std::optional<std::uint32_t> group(std::uint32_t comm, const std::vector<std::int32_t>& ranks);
  // That of the window's epoch, by its side.
  enum class Side : std::uint8_t { kAccess, kExposure };
  void open(std::uint32_t window, Side side, std::optional<std::uint32_t> group);
  [[nodiscard]] std::optional<std::uint32_t> group_of(std::uint32_t window, Side side) const;
  void close(std::uint32_t window, Side side);

  // Numbers of groups differ from those that another part gave.
  void follow_others() { first_group_ = 1u << 31; }
  using Groups = std::map<std::pair<std::uint32_t, std::vector<std::int32_t>>, std::uint32_t>;
  [[nodiscard]] const Groups& groups() const { return groups_; }
  [[nodiscard]] const auto& windows() const { return windows_; }  // that are used, by number

 private:
  struct Pending {
    std::uint64_t id;
    std::uint32_t target;
    bool gets, at_origin;  // complete there
  };
  struct Window {
    std::map<std::pair<std::uint32_t, bool>, Pending> shared;  // by target and whether they get
    std::vector<Pending> requests;
    std::optional<std::uint32_t> groups[2];  // by side
  };
  // Tells what ends; true: nothing more is to be told of it.
  static bool end(Pending& pending, Completes how, std::vector<Ended>& ended);
  [[nodiscard]] Window& window_of(std::uint32_t number);

  std::unordered_map<std::uint32_t, Window> windows_;
  std::uint32_t last_number_ = 0;
  Window* last_ = nullptr;  // most calls are on the window before
  Groups groups_;
  std::uint32_t first_group_ = 0;
};

}  // namespace ardoise::knowledge_sources
