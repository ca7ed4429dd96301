// One-sided operations of a rank: those not complete yet, and the groups of its epochs. As in Score-P, operations of
// one kind on one target share an id until something completes them, so that one event ends all of them; an operation
// with a request has an id of its own.
//
//   MPI_Put …                     complete at the origin, and then at the target
//   MPI_Get, MPI_Fetch_and_op …   complete at the target when they are at the origin
//
// In the events of a rank, windows have the number trace_window(). Not thread safe.
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

// Combines the rank's communicator and the index of the window on it.
constexpr std::uint32_t trace_window(std::uint32_t comm, std::uint32_t window) {
  return comm << instrument::kWindowBits | window;
}

class TraceWindows {
 public:
  static constexpr std::size_t kMostRequests = 65536, kMostGroups = 65536;

  // The window has events.
  void use(std::uint32_t window) { (void)window_of(window); }

  // How far a call completes operations.
  enum class Completes : std::uint8_t {
    kAtOrigin,   // MPI_Win_flush_local: at the origin
    kEpoch,      // MPI_Win_complete: at the origin; the completion at the target is not reported
    kEverywhere  // MPI_Win_fence, MPI_Win_flush, MPI_Win_unlock
  };
  struct Ended {
    std::uint64_t id;
    bool at_origin, at_target;
  };

  // The id of an operation without a request. next: a new id, if needed.
  [[nodiscard]] std::uint64_t operate(std::uint32_t window, std::uint32_t target, bool gets, std::uint32_t& next);
  // An operation with a request; false: there are too many, and its end at the target is not written.
  [[nodiscard]] bool start(std::uint32_t window, std::uint32_t target, bool gets, std::uint64_t id);
  // The request of such an operation is complete. Empty if another call has completed it before.
  [[nodiscard]] std::optional<Ended> end_request(std::uint32_t window, std::uint64_t id);
  // A call completes the operations in flight to a target, or to all.
  [[nodiscard]] std::vector<Ended> complete(std::uint32_t window, std::optional<std::uint32_t> target, Completes how);
  // Operations not complete at the origin.
  [[nodiscard]] std::uint64_t open_operations() const;

  // The number of a group of ranks of the communicator; nullopt: there are too many.
  [[nodiscard]] std::optional<std::uint32_t> group(std::uint32_t comm, const std::vector<std::int32_t>& ranks);
  // The group of the window's epoch, by side.
  enum class Side : std::uint8_t { kAccess, kExposure };
  void open(std::uint32_t window, Side side, std::optional<std::uint32_t> group);
  [[nodiscard]] std::optional<std::uint32_t> group_of(std::uint32_t window, Side side) const;
  void close(std::uint32_t window, Side side);

  // Numbers of groups must differ from those of another part.
  void follow_others() { first_group_ = 1u << 31; }
  using Groups = std::map<std::pair<std::uint32_t, std::vector<std::int32_t>>, std::uint32_t>;
  [[nodiscard]] const Groups& groups() const { return groups_; }
  [[nodiscard]] const auto& windows() const { return windows_; }  // windows in use, by number

 private:
  struct Pending {
    std::uint64_t id;
    std::uint32_t target;
    bool gets, at_origin;  // at_origin: complete there
  };
  struct Window {
    std::map<std::pair<std::uint32_t, bool>, Pending> shared;  // by target and whether they get
    std::vector<Pending> requests;
    std::optional<std::uint32_t> groups[2];  // by side
  };
  // Writes completed operations; true: they need no further event.
  static bool end(Pending& pending, Completes how, std::vector<Ended>& ended);
  [[nodiscard]] Window& window_of(std::uint32_t number);

  std::unordered_map<std::uint32_t, Window> windows_;
  std::uint32_t last_number_ = 0;
  Window* last_ = nullptr;  // most calls use the same window as the previous call
  Groups groups_;
  std::uint32_t first_group_ = 0;
};

}  // namespace ardoise::knowledge_sources
