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

// One rank's part in an operation. It waits in the call that starts and ends it, or in the one that completes it. Times
// are nanoseconds on the program's time axis.
struct Part {
  double posted;                      // begin of the call that started the operation
  double begin, end;                  // of the call in which the rank waits; equal where that does not wait
  float clock_error;                  // bound, of the rank's clock against the others'
  std::uint32_t call;                 // number in the rank of a call that completes several operations
  std::uint32_t operations;           // that it completes: it waits for the last of them
  std::uint32_t rank;                 // in the world
  std::uint32_t call_site, function;  // of the call in which the rank waits
  std::uint32_t order;                // of a receive: its number among those of the rank on the communicator that ended
  // Since the last operation of the kind: on the communicator, or of messages with the same peer and tag. Up to the
  // begin of the operation, for a receive to that of the call that ends it.
  Stretch stretch;
};

// In a collective.
struct Arrival {
  Part part;
  std::uint32_t comm_rank;  // in the communicator
  std::int32_t root;        // in the communicator; where there is one
};

inline constexpr std::uint32_t kNobody = 0xFFFFFFFF;

struct Wait {
  WaitPattern pattern;
  bool certain;                           // longer than the error of the two clocks
  bool is_told;                           // to who keeps the waiter's calls: WaitSums::tell_early()
  std::uint32_t waiter, awaited;          // ranks in the world; awaited: kNobody where it is not one rank
  std::uint32_t call_site, function;      // of the waiter
  std::uint32_t operations, call, order;  // as in Part
  double call_begin, begin;               // of the call, and of the wait in it; ns on the program's time axis
  std::uint64_t ns;
  Stretch of_waiter, of_awaited;  // of_awaited: where it is one rank
};

// These append the waits in an operation whose parts are all there. A call that completes several operations has one
// for each, be it of 0 ns.
void find_waits(CollectiveKind kind, bool nonblocking, std::span<Arrival> arrivals,
                std::vector<Wait>& out);  // reorders
// Of a neighbourhood collective: each waits for those that have sent to it. Ranks in the communicator; sorts arrivals.
struct Neighbours {
  std::uint32_t source, destination;
};
void find_neighbour_waits(bool nonblocking, std::span<Arrival> arrivals, std::span<const Neighbours> neighbours,
                          std::vector<Wait>& out);
void find_message_waits(const Part& send, const Part& receive, std::vector<Wait>& out);

// Gives the wait its length, rounded, and the rank that it is for; error: of the two clocks, beyond which it is
// certain. Leaves it as it is, and says no, where that is none.
bool set_length(Wait& wait, double ns, double error, std::uint32_t awaited);

// Of an operation whose other parts will not be known, for a call that completes others, too.
[[nodiscard]] Wait no_wait(const Part& part);

}  // namespace ardoise::knowledge_sources
