// Measures the rate of the clock and its relation to other clocks, for ClockDefinition.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace ardoise::instrument {

// One moment on three clocks, read together as closely as possible.
struct ClockSample {
  std::uint64_t tick = 0;
  std::uint64_t realtime_ns = 0;   // CLOCK_REALTIME
  std::uint64_t monotonic_ns = 0;  // CLOCK_MONOTONIC
};
[[nodiscard]] ClockSample sample_clocks();

// Computed from two moments as far apart as possible; exactly 1e9 if the clock is CLOCK_MONOTONIC itself.
[[nodiscard]] double ticks_per_second(const ClockSample& early, const ClockSample& late);

// The clock of this process, and its relation to that of rank 0 of the program: with s(t) = realtime_ns / 1e9 + (t -
// tick) / rate, rank 0's clock shows s(t) + offset_seconds ± error_seconds.
struct SynchronizedClock {
  std::uint64_t tick = 0;
  std::uint64_t realtime_ns = 0;
  double rate = 0;  // ticks per second
  double offset_seconds = 0;
  double error_seconds = 0;
  std::uint64_t origin_tick = 0;  // rank 0's origin on this clock
};

// Equal ids share a clock: the boot id of the machine, or its host name if there is none.
[[nodiscard]] std::string node_id();

// Collective over the program's world, which must have no other traffic (it is called inside MPI_Init). On a single
// node all processes use rank 0's calibration, without a measurement. On several nodes, one process of each measures
// against its parent in a tree: log2(nodes) rounds with 16 ping-pongs, of which the one with the shortest round trip
// counts; errors add up along the tree. `origin` of rank 0 becomes the program's time 0.
[[nodiscard]] SynchronizedClock synchronize_clocks(MPI_Comm world, const ClockSample& now, double rate,
                                                   std::uint64_t origin);

}  // namespace ardoise::instrument
