// Programs whose calls cost more than they must.
#include "tests/diagnosis/programs.hpp"

namespace ardoise::diagnosis {
namespace {

Task tiny_messages(Rank& me, const Case& how, std::uint32_t) {
  constexpr unsigned kMessages = 3000;
  for (unsigned i = 0; i < kMessages && how.fault; ++i) {
    co_await me.send({"send_particles", 151}, next_of(me), 8, 12);
    co_await me.recv({"take_particles", 152}, from(before(me)), 12);
  }
  if (how.fault) co_return;
  const RequestPointer request = co_await me.irecv({"take_particles", 154}, from(before(me)), 8 * kMessages, 12);
  co_await me.send({"send_particles", 155}, next_of(me), 8 * kMessages, 12);
  co_await me.wait({"take_particles", 156}, request);
}

Task call_for_each_element(Rank& me, const Case& how, std::uint32_t) {
  const int calls = how.fault ? 1000 : 1;
  for (int i = 0; i < calls; ++i) co_await me.bcast({"share_coefficients", 155}, how.fault ? 8 : 8000);
}

Task adjacent_reductions(Rank& me, const Case& how, std::uint32_t) {
  static constexpr const char* kNames[] = {"sum_mass", "sum_energy", "sum_momentum", "sum_heat", "sum_charge"};
  for (int i = 0; i < 60; ++i) {
    for (std::uint32_t k = 0; k < (how.fault ? 5u : 1u); ++k)
      co_await me.allreduce({kNames[k], 160 + k}, how.fault ? 8 : 40);
    co_await me.compute({"advance", 167}, 0.05 * kMs);
  }
}

// Mean and variance of each point, in turn.
Task reductions_of_each_point(Rank& me, const Case& how, std::uint32_t) {
  const int points = how.fault ? 800 : 1;
  for (int i = 0; i < points; ++i) {
    co_await me.allreduce({"point_mean", 168}, how.fault ? 8 : 6400);
    co_await me.allreduce({"point_variance", 169}, how.fault ? 8 : 6400);
  }
}

Task all_to_all(Rank& me, const Case& how, std::uint32_t) {
  co_await me.alltoall({"transpose", 171}, how.fault ? 4 * kMiB : 64 * kKiB);
}

// Rank 0 makes the input for all, which test for it; a pause of 0: without sleeping in between.
Task tested_input(Rank& me, const Case& how, double making, double pause) {
  if (!how.fault && pause == 0) {
    co_await me.compute({"make_input", 174}, making / me.size());
    co_return;
  }
  if (me.rank() == 0) {
    co_await me.compute({"make_input", 175}, making);
    for (std::uint32_t peer = 1; peer < me.size(); ++peer) co_await me.send({"make_input", 176}, peer, 64, 13);
    co_return;
  }
  const RequestPointer request = co_await me.irecv({"wait_for_input", 178}, 0, 64, 13);
  if (!how.fault) co_await me.wait({"wait_for_input", 180}, request);
  while (how.fault && !co_await me.test({"wait_for_input", 182}, request)) {
    if (pause > 0) co_await me.sleep(pause);
    if (pause == 0) co_await me.compute({"wait_for_input", 184}, 1 * kUs);
  }
}

Task busy_testing(Rank& me, const Case& how, std::uint32_t) { co_await tested_input(me, how, 6 * kMs, 0); }

Task sleeping_between_tests(Rank& me, const Case& how, std::uint32_t) {
  co_await tested_input(me, how, 1 * kMs, 8 * kMs);
}

Task communicator_in_each_step(Rank& me, const Case& how, std::uint32_t step) {
  if (how.fault || step == 0) co_await me.duplicate({"new_communicator", 195}, 4 * kMs);
}

// A broadcast by hand: the root sends to one after the other.
Task broadcast_by_hand(Rank& me, const Case& how, std::uint32_t) {
  constexpr std::uint64_t kBytes = 4 * kMiB;
  if (!how.fault) {
    co_await me.bcast({"share_table", 341}, kBytes);
  } else if (me.rank() == 0) {
    for (std::uint32_t peer = 1; peer < me.size(); ++peer) co_await me.send({"share_table", 343}, peer, kBytes, 17);
  } else {
    co_await me.recv({"share_table", 345}, 0, 17);
  }
}

// A collective in which most ranks have nothing to say.
Task mostly_empty(Rank& me, const Case& how, std::uint32_t) {
  const int calls = how.fault ? 100 : 0;
  for (int i = 0; i < calls; ++i) co_await me.alltoall({"exchange_rare", 348}, 0);
  if (!how.fault && me.rank() < 2) {
    const RequestPointer request = co_await me.irecv({"exchange_rare", 350}, from(1 - me.rank()), 8, 18);
    co_await me.send({"exchange_rare", 351}, 1 - me.rank(), 8, 18);
    co_await me.wait({"exchange_rare", 352}, request);
  }
}

Task probing(Rank& me, const Case& how, std::uint32_t) {
  for (int i = 0; i < 1500; ++i) {
    co_await me.send({"send_item", 355}, next_of(me), 64, 19);
    if (how.fault) co_await me.probe_and_recv({"take_item", 356}, from(before(me)), 19);
    if (!how.fault) co_await me.recv({"take_item", 357}, from(before(me)), 19);
  }
}

// Messages just above the size up to which they are sent at once.
Task above_the_limit(Rank& me, const Case& how, std::uint32_t) {
  for (int i = 0; i < 600; ++i) {
    const std::uint64_t bytes = how.fault ? 4200 : 4000;
    const RequestPointer request = co_await me.irecv({"halo_rows", 361}, from(before(me)), bytes, 20);
    co_await me.send({"halo_rows", 362}, next_of(me), bytes, 20);
    co_await me.wait({"halo_rows", 363}, request);
  }
}

// Columns of a matrix that is stored by rows.
Task columns(Rank& me, const Case& how, std::uint32_t) {
  constexpr std::uint64_t kBytes = 2 * kMiB;
  me.use_short_runs(how.fault);
  Requests requests;
  for (const std::uint32_t peer : {next_of(me), before(me)})
    requests.push_back(co_await me.irecv({"swap_columns", 371}, from(peer), kBytes, 21));
  for (const std::uint32_t peer : {next_of(me), before(me)})
    requests.push_back(co_await me.isend({"swap_columns", 372}, peer, kBytes, 21));
  co_await me.waitall({"swap_columns", 373}, requests);
  me.use_short_runs(false);
}

Task transposed(Rank& me, const Case& how, std::uint32_t) {
  me.use_short_runs(how.fault);
  co_await me.alltoall({"transpose_block", 376}, 4 * kMiB / me.size());
  me.use_short_runs(false);
}

// A barrier before each reduction, which waits for all ranks itself.
Task needless_barriers(Rank& me, const Case& how, std::uint32_t) {
  for (int i = 0; i < 300; ++i) {
    if (how.fault) co_await me.barrier({"check_step", 366});
    co_await me.allreduce({"check_step", 367}, 8);
  }
}

}  // namespace

std::vector<Kind> kinds_of_calls() {
  return {
      {"ovh.tiny", {"ovh.tiny"}, {"_particles"}, steps(tiny_messages)},
      {"ovh.element", {"ovh.element"}, {"share_coefficients"}, steps(call_for_each_element)},
      {"ovh.element", {"ovh.element"}, {"point_mean", "point_variance"}, steps(reductions_of_each_point)},
      {"ovh.fuse", {"ovh.fuse"}, {"sum_mass"}, steps(adjacent_reductions)},
      {"ovh.hand", {"ovh.hand"}, {"share_table"}, steps(broadcast_by_hand)},
      {"ovh.toobig", {"ovh.toobig"}, {"exchange_rare"}, steps(mostly_empty)},
      {"ovh.alltoall", {"ovh.alltoall"}, {"transpose"}, steps(all_to_all)},
      {"ovh.types", {"ovh.types"}, {"swap_columns"}, steps(columns)},
      {"ovh.types", {"ovh.types"}, {"transpose_block"}, steps(transposed)},
      {"ovh.create", {"ovh.create"}, {"new_communicator"}, steps(communicator_in_each_step)},
      {"poll.busy", {"poll.busy", "serial.rank"}, {"make_input"}, steps(busy_testing)},
      {"poll.sleep", {"poll.sleep"}, {"wait_for_input"}, steps(sleeping_between_tests)},
      {"poll.probe", {"poll.probe", "ovh.tiny"}, {"take_item"}, steps(probing)},
      {"net.eager", {"net.eager", "ovh.tiny"}, {"halo_rows"}, steps(above_the_limit)},
      {"sync.barrier", {"sync.barrier"}, {"check_step"}, steps(needless_barriers)},
  };
}

}  // namespace ardoise::diagnosis
