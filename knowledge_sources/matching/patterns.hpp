// The wait states of one operation: who waits for whom, and how long. Definitions after Scalasca's (Wolf, Mohr:
// Automatic performance analysis of hybrid MPI/OpenMP applications, 2003; docs/internals/knowledge_sources.md has the
// formulas).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "knowledge_sources/matching/collective_kind.hpp"
#include "knowledge_sources/matching/stretch.hpp"

namespace ardoise::knowledge_sources {

enum class WaitPattern : std::uint8_t {
  kBarrier,
  kBarrierCompletion,
  kAllToAll,
  kLateRoot,
  kEarlyRoot,
  kEarlyScan,
  kNonblocking,
  kLateSender,
  kWrongOrder,
  kLateReceiver,
  kFence,
  kInit,
  kFinalize,
  kLatePost,
  kEarlyWait,
  kLateComplete,
  kLock
};
inline constexpr std::size_t kWaitPatterns = 17;
// As in profile.json: "wait_barrier", "barrier_completion", "wait_nxn", "late_broadcast", "early_reduce", "early_scan",
// "nonblocking_collective", "late_sender", "wrong_order", "late_receiver", "fence", "init", "finalize",
// "late_post", "early_wait", "late_complete", "lock".
[[nodiscard]] std::string_view pattern_name(WaitPattern pattern);

// One rank's part in an operation. The rank waits in the call that starts and ends it, or in the call that completes
// it. Times are nanoseconds on the program's time axis.
struct Part {
  double posted;                      // begin of the call that started the operation
  double begin, end;                  // of the waiting call; equal if the rank does not wait
  float clock_error;                  // bound of the rank's clock against the others'
  std::uint32_t call;                 // number, in the rank, of a call that completes several operations
  std::uint32_t operations;           // completed by the call: it waits for the last of them
  std::uint32_t rank;                 // in the world
  std::uint32_t call_site, function;  // of the waiting call
  std::uint32_t order;                // of a receive: its number among the rank's completed ones on the communicator
  // Since the last operation of the kind: on the communicator, or of messages with the same peer and tag. Up to the
  // begin of the operation; for a receive, to that of the completing call.
  Stretch stretch;
  float asked = 0;  // of a receive: ns before its begin in which the rank only asked for messages, and did not work
};

// A rank's part in a collective.
struct Arrival {
  Part part;
  std::uint32_t comm_rank;  // in the communicator
  std::int32_t root;        // in the communicator; if there is one
};

inline constexpr std::uint32_t kNobody = 0xFFFFFFFF;

struct Wait {
  WaitPattern pattern;
  bool certain;                           // longer than the error of the two clocks
  bool is_reported;                       // already sent to the owner of the waiter's calls: WaitSums::report_early()
  std::uint32_t waiter, awaited;          // world ranks; awaited: kNobody unless it is one rank
  std::uint32_t call_site, function;      // of the waiter
  std::uint32_t operations, call, order;  // as in Part
  double call_begin, begin;               // of the call, and of the wait in it; ns on the program's time axis
  std::uint64_t ns;
  Stretch of_waiter, of_awaited;  // of_awaited: if it is one rank
};

// These append the waits in an operation with all parts present. A call that completes several operations gets one for
// each, even if it is 0 ns.
void find_waits(CollectiveKind kind, bool nonblocking, std::span<Arrival> arrivals,
                std::vector<Wait>& out);  // reorders
// A neighbourhood collective: each rank waits for those that have sent to it. Ranks in the communicator; sorts
// arrivals.
struct Neighbours {
  std::uint32_t source, destination;
};
void find_neighbour_waits(bool nonblocking, std::span<Arrival> arrivals, std::span<const Neighbours> neighbours,
                          std::vector<Wait>& out);
void find_message_waits(const Part& send, const Part& receive, std::vector<Wait>& out);

// Sets the rounded length of the wait and the awaited rank; error: of the two clocks, beyond which the wait is certain.
// False, without a change: there was no wait.
bool set_length(Wait& wait, double ns, double error, std::uint32_t awaited);

// For an operation whose other parts will stay unknown, of a call that also completes others.
[[nodiscard]] Wait no_wait(const Part& part);

}  // namespace ardoise::knowledge_sources
