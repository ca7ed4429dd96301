// A simulated program: ranks on a periodic 3-D grid exchange with up to 26 neighbours, step by step, and write now and
// then. Produces the packs of one rank at a time, so that a hundred thousand ranks need the memory of one, and every
// number of the result can be computed by hand:
//
//   a step = neighbours x MPI_Irecv, neighbours x MPI_Isend, 1 MPI_Waitall that completes them all,
//            1 MPI_Allreduce, every 10th step 1 MPI_Barrier and 1 write
//
// Sends go over a Cartesian communicator (number 1) whose order is that of the world.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "replay/pack_maker.hpp"

namespace ardoise::replay {

struct SyntheticProgram {
  std::uint32_t partition = 0;
  std::uint32_t ranks = 27;
  std::uint32_t steps = 10;
  std::uint32_t halo_bytes = 8192;    // of each message
  std::uint32_t allreduce_bytes = 8;  // sent and received
  std::uint32_t write_bytes = 1 << 20;
  std::size_t records_per_pack = 2044;  // 64 KiB
  std::uint32_t late_ticks = 0;         // ranks with odd numbers send so much later: the even ones wait for them
  std::uint32_t samples = 0;            // of each step, with as many contexts; and calls by context
};

// Extents of a grid of `ranks` cells that is as near to a cube as the divisors allow.
[[nodiscard]] std::array<std::uint32_t, 3> grid_extents(std::uint32_t ranks);
// The neighbours of a rank, without itself, each once, ascending.
[[nodiscard]] std::vector<std::uint32_t> grid_neighbours(std::array<std::uint32_t, 3> extents, std::uint32_t rank);

// All packs of one rank, in the order of sending.
[[nodiscard]] std::vector<Pack> synthetic_packs(const SyntheticProgram& program, std::uint32_t rank);

// Clocks differ between the ranks: rank r starts at tick 1,000,000 + 10 r. All tick at 1 GHz.
[[nodiscard]] constexpr std::uint64_t synthetic_origin(std::uint32_t rank) { return 1'000'000 + 10ull * rank; }
// Ticks of each call, and of a step.
inline constexpr std::uint32_t kIrecvTicks = 150, kIsendTicks = 400, kWaitallTicks = 20'000, kAllreduceTicks = 9'000,
                               kBarrierTicks = 3'000, kWriteTicks = 50'000, kStepTicks = 250'000;
inline constexpr std::uint32_t kCommCart = 1;
// Call sites of the calls of a step.
enum SyntheticSite : std::uint32_t {
  kSiteIrecv = 101,
  kSiteIsend = 102,
  kSiteWaitall = 103,
  kSiteAllreduce = 104,
  kSiteBarrier = 105,
  kSiteWrite = 106,
};

}  // namespace ardoise::replay
