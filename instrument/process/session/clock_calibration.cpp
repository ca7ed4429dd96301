#include "instrument/process/session/clock_calibration.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <functional>
#include <limits>
#include <string_view>

#include "instrument/machine/clock.hpp"
#include "instrument/machine/small_file.hpp"

namespace ardoise::instrument {
namespace {

constexpr int kTag = 32000;  // within the smallest MPI_TAG_UB that the standard allows
constexpr int kPingPongs = 16;
// An upper bound of the difference of the counters of two cores of one node, on machines with a kernel that trusts
// them.
constexpr double kSkewOnNode = 1e-7;

std::uint64_t read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

// On the time axis of rank 0. Integers, as a double has too few digits for nanoseconds since 1970.
std::int64_t time_on_root(const SynchronizedClock& clock, std::uint64_t tick) {
  const double since = static_cast<double>(static_cast<std::int64_t>(tick - clock.tick)) / clock.rate;
  return static_cast<std::int64_t>(clock.realtime_ns) + std::llround((since + clock.offset_seconds) * 1e9);
}

void answer(MPI_Comm comm, int child, const SynchronizedClock& clock) {
  for (int i = 0; i < kPingPongs; ++i) {
    PMPI_Recv(nullptr, 0, MPI_BYTE, child, kTag, comm, MPI_STATUS_IGNORE);
    const std::int64_t time = time_on_root(clock, now());
    PMPI_Send(&time, 1, MPI_INT64_T, child, kTag, comm);
  }
  PMPI_Send(&clock.error_seconds, 1, MPI_DOUBLE, child, kTag, comm);
}

void measure(MPI_Comm comm, int parent, SynchronizedClock& clock) {
  double best = std::numeric_limits<double>::infinity();
  double offset = 0, parent_error = 0;
  clock.offset_seconds = 0;
  for (int i = 0; i < kPingPongs; ++i) {
    std::int64_t remote = 0;
    const std::uint64_t begin = now();
    PMPI_Send(nullptr, 0, MPI_BYTE, parent, kTag, comm);
    PMPI_Recv(&remote, 1, MPI_INT64_T, parent, kTag, comm, MPI_STATUS_IGNORE);
    const std::uint64_t end = now();
    const double round_trip = static_cast<double>(end - begin) / clock.rate;
    if (round_trip >= best) continue;
    best = round_trip;
    offset = static_cast<double>(remote - time_on_root(clock, begin + (end - begin) / 2)) * 1e-9;
  }
  PMPI_Recv(&parent_error, 1, MPI_DOUBLE, parent, kTag, comm, MPI_STATUS_IGNORE);
  clock.offset_seconds = offset;
  clock.error_seconds = parent_error + best / 2;
}

// Rank 0 knows the time; in each round the ranks that know it pass it to as many others.
void synchronize_leaders(MPI_Comm leaders, SynchronizedClock& clock) {
  int rank = 0, size = 0;
  PMPI_Comm_rank(leaders, &rank);
  PMPI_Comm_size(leaders, &size);
  for (int known = 1; known < size; known *= 2) {
    if (rank < known && rank + known < size) answer(leaders, rank + known, clock);
    if (rank >= known && rank < 2 * known) measure(leaders, rank - known, clock);
  }
}

void broadcast(MPI_Comm comm, SynchronizedClock& clock) {
  PMPI_Bcast(&clock, static_cast<int>(sizeof(clock)), MPI_BYTE, 0, comm);
}

}  // namespace

ClockSample sample_clocks() {
  ClockSample best;
  std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t begin = now();
    const std::uint64_t monotonic = read_clock(CLOCK_MONOTONIC), realtime = read_clock(CLOCK_REALTIME);
    const std::uint64_t end = now();
    if (end - begin >= shortest) continue;
    shortest = end - begin;
    best = {begin + (end - begin) / 2, realtime, monotonic};
  }
  return best;
}

double ticks_per_second(const ClockSample& early, const ClockSample& late) {
  if (!detail::clock_uses_tsc || late.monotonic_ns <= early.monotonic_ns || late.tick <= early.tick) return 1e9;
  return static_cast<double>(late.tick - early.tick) * 1e9 /
         static_cast<double>(late.monotonic_ns - early.monotonic_ns);
}

std::string node_id() {
  std::array<char, 64> id{};
  const std::string_view text = read_small_file("/proc/sys/kernel/random/boot_id", id);
  if (const std::string_view line = text.substr(0, text.find('\n')); !line.empty()) return std::string(line);
  ::gethostname(id.data(), id.size() - 1);
  return id.data();
}

SynchronizedClock synchronize_clocks(MPI_Comm world, const ClockSample& now_sample, double rate, std::uint64_t origin) {
  SynchronizedClock clock{now_sample.tick, now_sample.realtime_ns, rate, 0, kSkewOnNode, origin};
  const auto node = static_cast<std::uint64_t>(std::hash<std::string>{}(node_id())) >> 1;
  std::array<std::uint64_t, 2> range{node, ~node}, least{};  // the least ~node belongs to the greatest node
  PMPI_Allreduce(range.data(), least.data(), 2, MPI_UINT64_T, MPI_MIN, world);
  if (least[0] == ~least[1]) {
    broadcast(world, clock);
    return clock;
  }

  int rank = 0, rank_on_node = 0;
  PMPI_Comm_rank(world, &rank);
  MPI_Comm neighbours = MPI_COMM_NULL, leaders = MPI_COMM_NULL;
  PMPI_Comm_split(world, static_cast<int>(node & 0x7FFFFFFF), rank, &neighbours);
  PMPI_Comm_rank(neighbours, &rank_on_node);
  PMPI_Comm_split(world, rank_on_node == 0 ? 0 : MPI_UNDEFINED, rank, &leaders);
  if (leaders != MPI_COMM_NULL) {
    synchronize_leaders(leaders, clock);
    PMPI_Comm_free(&leaders);
  }
  broadcast(neighbours, clock);
  PMPI_Comm_free(&neighbours);

  std::int64_t origin_time = time_on_root(clock, origin);  // of rank 0: its own
  PMPI_Bcast(&origin_time, 1, MPI_INT64_T, 0, world);
  const double since = static_cast<double>(origin_time - time_on_root(clock, clock.tick)) * 1e-9;
  clock.origin_tick = clock.tick + static_cast<std::uint64_t>(std::llround(since * clock.rate));
  return clock;
}

}  // namespace ardoise::instrument
