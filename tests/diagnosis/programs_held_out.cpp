// Programs that were written after the rules, to measure how far these carry: other shapes, sizes, ranks and names.
#include "tests/diagnosis/programs.hpp"

namespace ardoise::diagnosis {
namespace {

// Ranks that meet in a barrier only.
Task two_late(Rank& me, const Case& how) {
  const bool late = me.rank() == 3 || me.rank() == me.size() - 2;
  for (std::uint32_t i = 0; i < how.steps; ++i) {
    co_await me.compute({"advance_cells", 501}, 6 * kMs);
    if (how.fault && late) co_await me.compute({"wall_model", 502}, 4 * kMs);
    if (!how.fault) co_await me.compute({"wall_model", 502}, 8 * kMs / me.size());
    co_await me.barrier({"end_of_step", 503});
  }
}

// Rank 3 prepares the parameters of all and sends them one by one.
Task parameters_of_one(Rank& me, const Case& how, std::uint32_t) {
  if (!how.fault) {
    co_await me.compute({"prepare_parameters", 511}, 6 * kMs / me.size());
  } else if (me.rank() == 3) {
    co_await me.compute({"prepare_parameters", 513}, 6 * kMs);
    for (std::uint32_t peer = 0; peer < me.size(); ++peer)
      if (peer != 3) co_await me.send({"send_parameters", 515}, peer, 1 * kKiB, 31);
  } else {
    co_await me.recv({"take_parameters", 517}, 3, 31);
  }
}

Task half_grows(Rank& me, const Case& how, std::uint32_t step) {
  const double mean = step * 0.2 * kMs;
  const bool grows = me.rank() < me.size() / 2;
  co_await me.compute({"add_particles", 521}, !how.fault ? mean : grows ? 2 * mean : 0.01 * kMs);
}

Task first_third(Rank& me, const Case& how, std::uint32_t step) {
  if (step >= how.steps / 3) co_return;
  if (how.fault && me.rank() == 5 % me.size()) co_await me.compute({"warm_up_tables", 525}, 12 * kMs);
}

// From the last rank to the first one.
Task backwards(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault && me.rank() + 1 < me.size()) co_await me.recv({"wait_for_neighbour", 531}, from(me.rank() + 1), 32);
  co_await me.compute({"solve_lines", 532}, 1.5 * kMs);
  if (how.fault && me.rank() > 0) co_await me.send({"notify_neighbour", 533}, me.rank() - 1, 64 * kKiB, 32);
}

// Rank 2 takes results in the order of ranks, which end in another order.
Task collector(Rank& me, const Case& how, std::uint32_t step) {
  constexpr std::uint32_t kCollector = 2;
  if (me.rank() != kCollector) {
    co_await me.compute({"trace_rays", 541}, 1 * kMs + (me.rank() * 5 + step) % me.size() * 2 * kMs);
    co_await me.send({"trace_rays", 542}, kCollector, 2 * kKiB, 33);
    co_return;
  }
  for (std::uint32_t peer = 0; peer < me.size(); ++peer) {
    if (peer == kCollector) continue;
    co_await me.recv({"gather_image", 545}, how.fault ? from(peer) : instrument::kAnySource, 33);
    co_await me.compute({"gather_image", 546}, 1.8 * kMs);
  }
}

Task tiny_nonblocking(Rank& me, const Case& how, std::uint32_t) {
  for (int i = 0; i < (how.fault ? 1200 : 0); ++i) {
    Requests requests;
    requests.push_back(co_await me.irecv({"swap_ghosts", 551}, from(before(me)), 16, 34));
    requests.push_back(co_await me.isend({"swap_ghosts", 552}, next_of(me), 16, 34));
    co_await me.waitall({"swap_ghosts", 553}, requests);
  }
}

Task reduction_of_each(Rank& me, const Case& how, std::uint32_t) {
  for (int i = 0; i < (how.fault ? 800 : 1); ++i) co_await me.allreduce({"sum_bins", 561}, how.fault ? 8 : 6400);
}

Task root_reads(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault && me.rank() == 0) co_await me.read({"load_forcing", 571}, "forcing", 4 * kMiB);
  if (!how.fault) co_await me.read({"load_forcing", 572}, "forcing", 4 * kMiB / me.size());
  co_await me.bcast({"load_forcing", 573}, 4 * kMiB);
}

Task small_reads(Rank& me, const Case& how, std::uint32_t) {
  const unsigned calls = how.fault ? 500 : 1;
  for (unsigned i = 0; i < calls; ++i)
    co_await me.read({"read_records", 581}, "records." + std::to_string(me.rank()), 32000 / calls);
}

Task half_asleep(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault && me.rank() % 2 == 1) co_await me.sleep(5 * kMs);
}

Task two_crowded(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault && (me.rank() == 1 || me.rank() == 2)) co_await me.wait_for_processor(6 * kMs);
}

Task late_receives(Rank& me, const Case& how, std::uint32_t) {
  const std::uint32_t half = me.size() / 2;
  if (me.rank() < half) {
    co_await me.send({"hand_over", 591}, me.rank() + half, 1 * kMiB, 35);
    co_await me.compute({"refill", 592}, 5 * kMs);
  } else if (me.rank() < 2 * half) {
    if (how.fault) co_await me.compute({"drain", 593}, 5 * kMs);
    co_await me.recv({"take_over", 594}, from(me.rank() - half), 35);
    if (!how.fault) co_await me.compute({"drain", 593}, 5 * kMs);
  }
}

Task one_long_thread(Rank& me, const Case& how) {
  constexpr Place kRegion{"sparse_rows [OpenMP region 1]", 601};
  for (std::uint32_t i = 0; i < how.steps; ++i) {
    if (how.fault) co_await me.compute_in_threads(kRegion, 16 * kMs, 4 * kMs, 4 * kMs, 4 * kMs);
    if (!how.fault) co_await me.compute_in_threads(kRegion, 7 * kMs, 7 * kMs, 7 * kMs, 7 * kMs);
    co_await exchange(me, how);
  }
}

Task fresh_pages(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault) co_await me.compute({"temporary_array", 611}, 10 * kMs, 0.6);
}

// The imbalance costs more than the small messages.
Task two_losses(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault && me.rank() == 4 % me.size()) co_await me.compute({"contact_search", 621}, 9 * kMs);
  if (!how.fault) co_await me.compute({"contact_search", 621}, 9 * kMs / me.size());
  for (int i = 0; i < 300; ++i) {
    co_await me.send({"send_contacts", 623}, next_of(me), 24, 36);
    co_await me.recv({"take_contacts", 624}, from(before(me)), 36);
  }
}

Task busy_master(Rank& me, const Case& how) {
  co_await farm(me, 1500, 0.5 * kMs, how.fault ? 0.25 * kMs : 0.01 * kMs, 0.5 * kMs);
}

// A stage in each step on one rank that the next step of all needs.
Task one_rank_solves(Rank& me, const Case& how, std::uint32_t) {
  co_await me.gather({"collect_coarse", 631}, 4 * kKiB);
  if (!how.fault) co_await me.compute({"coarse_solve", 632}, 7 * kMs / me.size());
  if (how.fault && me.rank() == 0) co_await me.compute({"coarse_solve", 632}, 7 * kMs);
  co_await me.bcast({"spread_coarse", 633}, 4 * kKiB);
}

Task large_halo(Rank& me, const Case& how, std::uint32_t) {
  Requests requests;
  const std::uint64_t bytes = how.fault ? 24 * kMiB : 1 * kMiB;
  for (const std::uint32_t peer : {next_of(me), before(me)})
    requests.push_back(co_await me.irecv({"swap_planes", 641}, from(peer), bytes, 37));
  for (const std::uint32_t peer : {next_of(me), before(me)})
    requests.push_back(co_await me.isend({"swap_planes", 642}, peer, bytes, 37));
  co_await me.waitall({"swap_planes", 643}, requests);
}

Task three_reductions(Rank& me, const Case&, std::uint32_t) {
  for (int i = 0; i < 3; ++i) {
    co_await me.compute({"dot_product", 651}, 3 * kMs);
    co_await me.allreduce({"dot_product", 652}, 8);
  }
}

Task large_farm(Rank& me, const Case&) { co_await farm(me, 900, 1.2 * kMs, 0.01 * kMs, 1.2 * kMs); }

Task much_work_beside(Rank& me, const Case&, std::uint32_t) {
  Requests requests;
  requests.push_back(co_await me.irecv({"begin_swap", 661}, from(before(me)), 2 * kMiB, 38));
  requests.push_back(co_await me.isend({"begin_swap", 662}, next_of(me), 2 * kMiB, 38));
  co_await me.compute({"interior", 663}, 15 * kMs);
  co_await me.waitall({"end_swap", 664}, requests);
}

Task rare_output(Rank& me, const Case& how, std::uint32_t step) {
  if (step + 1 == how.steps && me.rank() == 0) co_await me.write({"write_summary", 671}, "summary", 64 * kKiB);
}

Task slight_differences(Rank& me, const Case&, std::uint32_t) {
  co_await me.compute({"similar_blocks", 675}, (10 + 0.1 * (me.rank() % 4)) * kMs);
}

}  // namespace

std::vector<Kind> held_out_kinds() {
  return {
      {"late.static", {"late.static", "late.group"}, {"wall_model"}, two_late},
      {"serial.rank", {"serial.rank", "late.static"}, {"rank 3", "prepare_parameters"}, steps(parameters_of_one)},
      {"late.growing", {"late.growing"}, {"add_particles"}, steps(half_grows)},
      {"late.phase", {"late.phase"}, {"warm_up_tables"}, steps(first_third)},
      {"chain.serial", {"chain.serial"}, {"wait_for_neighbour"}, steps(backwards)},
      {"order.recv", {"order.recv", "hub.root"}, {"gather_image"}, steps(collector)},
      {"ovh.tiny", {"ovh.tiny"}, {"swap_ghosts"}, steps(tiny_nonblocking)},
      {"ovh.element", {"ovh.element"}, {"sum_bins"}, steps(reduction_of_each)},
      {"io.rank0", {"io.rank0"}, {"rank 0", "load_forcing"}, steps(root_reads)},
      {"io.small", {"io.small"}, {"read_records"}, steps(small_reads)},
      {"late.asleep", {"late.asleep"}, {"ranks 1, 3, 5, 7"}, steps(half_asleep)},
      {"node.foreign", {"node.foreign"}, {"ranks 1, 2"}, steps(two_crowded)},
      {"order.late_receiver", {"order.late_receiver"}, {"hand_over"}, steps(late_receives)},
      {"thr.uneven", {"thr.uneven"}, {"sparse_rows"}, one_long_thread},
      {"mem.faults", {"mem.faults"}, {"temporary_array"}, steps(fresh_pages)},
      {"late.static", {"late.static", "serial.rank"}, {"contact_search"}, steps(two_losses)},
      {"hub.master", {"hub.master"}, {"rank 0", "store_result"}, busy_master},
      {"serial.rank", {"serial.rank"}, {"rank 0", "coarse_solve"}, steps(one_rank_solves)},
      {"ovh.volume", {"ovh.volume", "prog.false_overlap"}, {"swap_planes"}, steps(large_halo)},
      {"none.reductions", {}, {}, steps(three_reductions)},
      {"none.farm", {}, {}, large_farm},
      {"none.overlap", {}, {}, steps(much_work_beside)},
      {"none.output", {}, {}, steps(rare_output)},
      {"none.similar", {}, {}, steps(slight_differences)},
  };
}

}  // namespace ardoise::diagnosis
