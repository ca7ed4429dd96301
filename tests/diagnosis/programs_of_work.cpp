// Programs whose work is uneven, serial, or expensive.
#include <algorithm>

#include "tests/diagnosis/programs.hpp"

namespace ardoise::diagnosis {
namespace {

Task boundary(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault && me.rank() == 2) co_await me.compute({"boundary_cells", 44}, 7 * kMs);
}

Task hotspot(Rank& me, const Case& how, std::uint32_t step) {
  const bool own = step * 5 % me.size() == me.rank();
  co_await me.compute({"refine_cells", 47}, how.fault && own ? 9 * kMs : 1 * kMs);
}

Task every_fifth(Rank& me, const Case& how, std::uint32_t step) {
  if (how.fault && step % 5 == 4 && me.rank() == 1) co_await me.compute({"collect_statistics", 51}, 30 * kMs);
}

Task growing(Rank& me, const Case& how, std::uint32_t step) {
  if (how.fault && me.rank() == 3) co_await me.compute({"move_particles", 55}, step * 0.6 * kMs);
}

// The first third of the run fills it up.
Task growing_until(Rank& me, const Case& how, std::uint32_t step) {
  const double full = how.steps / 3.0;
  if (how.fault && me.rank() == 1) co_await me.compute({"follow_birds", 57}, std::min(1.0, step / full) * 9 * kMs);
}

Task all_grow(Rank& me, const Case& how, std::uint32_t step) {
  co_await me.compute({"search_events", 56}, (how.fault ? step : 1) * 0.6 * kMs);
}

Task from_the_middle(Rank& me, const Case& how, std::uint32_t step) {
  if (how.fault && step >= how.steps / 2 && me.rank() == 0) co_await me.compute({"track_shock", 58}, 9 * kMs);
}

Task heavy_tail(Rank& me, const Case& how, std::uint32_t) {
  const bool rare = me.random() < 0.06;
  co_await me.compute({"sample_paths", 61}, how.fault && rare ? 12 * kMs : 1 * kMs);
}

Task half_of_the_ranks(Rank& me, const Case& how, std::uint32_t) {
  if (!how.fault || me.rank() >= me.size() / 2) co_await me.compute({"radiation", 64}, how.fault ? 6 * kMs : 3 * kMs);
}

Task late_input(Rank& me, const Case& how, std::uint32_t) {
  const double mean = (me.size() - 1) / 2.0;
  co_await me.compute({"chemistry", 67}, (how.fault ? me.rank() * 37 % me.size() : mean) * 1.5 * kMs);
}

// Two parts in which different ranks have more work; a barrier in between.
Task parts_in_turn(Rank& me, const Case& how, std::uint32_t) {
  const auto more_in = [&](std::uint32_t rank, std::uint32_t other) {
    return me.rank() == rank ? 9 * kMs : me.rank() == other ? 1 * kMs : 5 * kMs;
  };
  co_await me.compute({"radiation_part", 68}, more_in(1, 2));
  if (how.fault) co_await me.barrier({"between_parts", 69});
  co_await me.compute({"chemistry_part", 70}, more_in(2, 1));
}

Task asleep(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault && me.rank() == 2) co_await me.sleep(7 * kMs);
}

// A thread that does not work holds the lock.
Task blocked_by_a_thread(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault && me.rank() == 1) co_await me.sleep(7 * kMs, instrument::SleepReason::kThread);
}

// One rank at a time may write.
Task in_turn_by_file_lock(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault) co_await me.sleep(2.0 * me.rank() * kMs, instrument::SleepReason::kFileLock);
  co_await me.write({"append_record", 76}, "records", 64 * kKiB);
}

// All ranks wait for devices, one of them longer.
Task slow_device(Rank& me, const Case& how, std::uint32_t) {
  co_await me.sleep((how.fault && me.rank() == 2 ? 12 : 5) * kMs, instrument::SleepReason::kUnknown);
}

Task serial_part(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault && me.rank() == 0) co_await me.compute({"assemble_matrix", 91}, 8 * kMs);
  if (!how.fault) co_await me.compute({"assemble_matrix", 91}, 8 * kMs / me.size());
  co_await me.bcast({"share_matrix", 92}, 64 * kKiB);
}

Task hot_function(Rank& me, const Case& how, std::uint32_t) {
  co_await me.compute({"interpolate", 241}, how.fault ? 60 * kMs : 6 * kMs);
}

Task more_neighbours(Rank& me, const Case& how, std::uint32_t) {
  // Rank 1 has messages with all others, the others only with rank 1.
  Requests requests;
  constexpr std::uint64_t kBytes = 4 * kMiB;
  for (std::uint32_t peer = 0; peer < me.size() && how.fault; ++peer) {
    if (peer == me.rank() || (peer != 1 && me.rank() != 1)) continue;
    requests.push_back(co_await me.irecv({"exchange_halo", 261}, from(peer), kBytes, 21));
    co_await me.send({"exchange_halo", 262}, peer, 4 * kKiB, 22);
    co_await me.recv({"exchange_halo", 263}, from(peer), 22);
    requests.push_back(co_await me.isend({"exchange_halo", 264}, peer, kBytes, 21));
    co_await me.waitall({"exchange_halo", 265}, requests);
    requests.clear();
  }
}

Task serial_threads(Rank& me, const Case& how) {
  constexpr Place kRegion{"threaded_cells [OpenMP region 1]", 271}, kParallel{"serial_update [OpenMP region 1]", 274};
  for (std::uint32_t i = 0; i < how.steps; ++i) {
    co_await me.compute_in_threads(kRegion, 4 * kMs, 4 * kMs, 4 * kMs, 4 * kMs);
    if (how.fault) co_await me.compute({"serial_update", 273}, 12 * kMs);
    if (!how.fault) co_await me.compute_in_threads(kParallel, 3 * kMs, 3 * kMs, 3 * kMs, 3 * kMs);
    co_await exchange(me, how);
  }
}

Task uneven_threads(Rank& me, const Case& how) {
  constexpr Place kRegion{"triangle_rows [OpenMP region 1]", 277};
  const double most = how.fault ? 14 * kMs : 8 * kMs, least = how.fault ? 2 * kMs : 8 * kMs;
  for (std::uint32_t i = 0; i < how.steps; ++i) {
    co_await me.compute_in_threads(kRegion, most, (2 * most + least) / 3, (most + 2 * least) / 3, least);
    co_await exchange(me, how);
  }
}

Task allocating(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault) co_await me.compute({"malloc", 281}, 6 * kMs);
}

Task prints_numbers(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault) co_await me.compute({"std::ostream::_M_insert<double>", 285}, 6 * kMs);
}

Task page_faults(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault) co_await me.compute({"new_buffer", 283}, 8 * kMs, 0.9);
}

}  // namespace

std::vector<Kind> kinds_of_work() {
  return {
      {"late.static", {"late.static", "serial.rank"}, {"rank 2", "boundary_cells"}, steps(boundary)},
      {"late.moving", {"late.moving"}, {"refine_cells"}, steps(hotspot)},
      {"late.periodic", {"late.periodic"}, {"rank 1", "collect_statistics"}, steps(every_fifth)},
      {"late.growing", {"late.growing"}, {"rank 3", "move_particles"}, steps(growing)},
      {"late.plateau", {"late.growing"}, {"rank 1", "follow_birds"}, steps(growing_until)},
      {"cpu.growing", {"cpu.growing"}, {"search_events"}, steps(all_grow)},
      {"late.phase", {"late.phase"}, {"rank 0", "track_shock"}, steps(from_the_middle)},
      {"late.turns", {"late.turns"}, {"rank 1", "rank 2"}, steps(parts_in_turn)},
      {"late.noise", {"late.noise", "late.moving"}, {"sample_paths"}, steps(heavy_tail)},
      {"late.group", {"late.group", "late.static"}, {"radiation"}, steps(half_of_the_ranks)},
      {"late.input", {"late.input", "late.static"}, {"chemistry"}, steps(late_input)},
      {"late.comm", {"late.comm"}, {"rank 1", "exchange_halo"}, steps(more_neighbours)},
      {"late.asleep", {"late.asleep"}, {"rank 2"}, steps(asleep)},
      {"thr.lock", {"thr.lock"}, {"rank 1"}, steps(blocked_by_a_thread)},
      {"io.lock", {"io.lock"}, {"locks of files"}, steps(in_turn_by_file_lock)},
      {"late.device", {"late.static"}, {"rank 2"}, steps(slow_device)},
      {"serial.rank", {"serial.rank"}, {"rank 0", "assemble_matrix"}, steps(serial_part)},
      {"thr.serial", {"thr.serial"}, {"serial_update"}, serial_threads},
      {"thr.uneven", {"thr.uneven"}, {"triangle_rows"}, uneven_threads},
      {"cpu.hot", {"cpu.hot"}, {"interpolate"}, steps(hot_function)},
      {"mem.alloc", {"mem.alloc"}, {"malloc"}, steps(allocating)},
      {"io.text", {"io.text"}, {"std::ostream"}, steps(prints_numbers)},
      {"mem.faults", {"mem.faults"}, {"new_buffer"}, steps(page_faults)},
  };
}

}  // namespace ardoise::diagnosis
