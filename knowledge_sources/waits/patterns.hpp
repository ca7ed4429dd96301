// The wait states of one collective: who waits for whom, and how long. Definitions after Scalasca's (Wolf, Mohr:
// Automatic performance analysis of hybrid MPI/OpenMP applications, 2003; docs/knowledge_sources.md has the formulas).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "knowledge_sources/waits/collective_kind.hpp"

namespace ardoise::knowledge_sources {

enum class WaitPattern : std::uint8_t { kBarrier, kBarrierCompletion, kAllToAll, kLateRoot, kEarlyRoot, kEarlyScan };
inline constexpr std::size_t kWaitPatterns = 6;
// As in profile.json: "wait_barrier", "barrier_completion", "wait_nxn", "late_broadcast", "early_reduce", "early_scan".
[[nodiscard]] std::string_view pattern_name(WaitPattern pattern);

// One rank's call of a collective. Times are nanoseconds on the program's time axis.
struct Arrival {
  double begin, end;
  double clock_error;       // bound, of the rank's clock against the others'
  std::uint32_t rank;       // in the program
  std::uint32_t comm_rank;  // in the communicator
  std::int32_t root;        // in the communicator; where there is one
  std::uint32_t call_site;
};

inline constexpr std::uint32_t kNobody = 0xFFFFFFFF;

struct Wait {
  WaitPattern pattern;
  std::uint32_t waiter, awaited;  // ranks in the program; awaited: kNobody where it is not one rank
  std::uint32_t call_site;        // of the waiter
  std::uint64_t ns;
  bool certain;  // longer than the error of the two clocks
};

// Appends the waits in a collective of which all arrivals are there; reorders them.
void find_waits(CollectiveKind kind, std::span<Arrival> arrivals, std::vector<Wait>& out);

}  // namespace ardoise::knowledge_sources
