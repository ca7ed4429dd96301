// Programs whose ranks wait for each other in turn, in the wrong order, or for one of them.
#include "tests/diagnosis/programs.hpp"

namespace ardoise::diagnosis {

Task overlap(Rank& me, const Case&, std::uint32_t) {
  Requests requests;
  requests.push_back(co_await me.irecv({"start_shift", 335}, from(before(me)), 16 * kMiB, 11));
  requests.push_back(co_await me.isend({"start_shift", 336}, next_of(me), 16 * kMiB, 11));
  co_await me.compute({"inner_cells", 337}, 6 * kMs);
  co_await me.waitall({"end_shift", 338}, requests);
}

Task pipeline(Rank& me, int blocks, double seconds, std::uint64_t bytes) {
  const std::int32_t previous = from(me.rank()) - 1;
  for (int block = 0; block < blocks; ++block) {
    if (previous >= 0) co_await me.recv({"sweep", 76}, previous, 5);
    co_await me.compute({"sweep", 77}, seconds / blocks);
    if (me.rank() + 1 < me.size()) co_await me.send({"sweep", 78}, me.rank() + 1, bytes, 5);
  }
}

Task farm(Rank& me, int tasks, double task, double handling, double last_task, bool on_device) {
  if (me.rank() == 0) {
    std::uint32_t busy = 0;
    int next = 0;
    for (std::uint32_t worker = 1; worker < me.size(); ++worker, ++busy, ++next)
      co_await me.send({"hand_out", 104}, worker, 64, 1);
    while (busy != 0) {
      co_await me.recv({"master", 106}, instrument::kAnySource, 2);
      const auto worker = static_cast<std::uint32_t>(me.last_source());
      co_await me.compute({"store_result", 108}, handling);
      const bool more = next++ < tasks;
      co_await me.send({"hand_out", 109}, worker, 64, more ? next == tasks ? 4 : 1 : 3);
      if (!more) --busy;
    }
    co_return;
  }
  while (true) {
    const std::int32_t tag = co_await me.recv_tag({"worker", 112}, 0);
    if (tag == 3) co_return;
    if (on_device) co_await me.sleep(task);
    if (!on_device) co_await me.compute({"run_task", 114}, tag == 4 ? last_task : task);
    co_await me.send({"worker", 115}, 0, 1 * kKiB, 2);
  }
}

namespace {

Task coarse_pipeline(Rank& me, const Case& how, std::uint32_t) {
  co_await pipeline(me, how.fault ? 3 : 200, 20 * kMs, 1 * kKiB);
}

// Its messages cost more than its work.
Task fine_blocks(Rank& me, const Case& how, std::uint32_t) {
  co_await pipeline(me, how.fault ? 4000 : 200, 4 * kMs, 64);
}

Task one_after_the_other(Rank& me, const Case& how, std::uint32_t) {
  const std::int32_t previous = from(me.rank()) - 1;
  if (how.fault && previous >= 0) co_await me.recv({"take_turn", 71}, previous);
  co_await me.compute({"update_block", 72}, 2 * kMs);
  if (how.fault && me.rank() + 1 < me.size()) co_await me.send({"take_turn", 73}, me.rank() + 1, 8);
}

// Sweeps over all ranks in both directions, each with the whole result of the rank before; then work of all.
Task sweeps(Rank& me, const Case& how, std::uint32_t) {
  const std::int32_t self = from(me.rank()), last = from(me.size()) - 1;
  for (const std::int32_t direction : {1, -1}) {
    const std::int32_t previous = self - direction, next = self + direction;
    if (how.fault && previous >= 0 && previous <= last) co_await me.recv({"take_edge", 131}, previous, 37);
    co_await me.compute({"sweep_rows", 132}, 1 * kMs);
    if (how.fault && next >= 0 && next <= last)
      co_await me.send({"take_edge", 133}, static_cast<std::uint32_t>(next), 4 * kKiB, 37);
  }
  co_await me.compute({"add_source", 134}, 0.4 * kMs);
}

// A permission goes round; its owner waits for a device.
Task device_in_turn(Rank& me, const Case& how, std::uint32_t) {
  const std::int32_t previous = from(me.rank()) - 1;
  if (how.fault && previous >= 0) co_await me.recv({"read_device", 74}, previous, 33);
  co_await me.sleep(2 * kMs);
  if (how.fault && me.rank() + 1 < me.size()) co_await me.send({"read_device", 75}, me.rank() + 1, 8, 33);
}

Task fixed_order(Rank& me, const Case& how, std::uint32_t step) {
  if (me.rank() != 0) {
    // The first ones in rank order are the last ones in time, in every step others.
    co_await me.compute({"prepare_part", 81}, 1 * kMs + (me.rank() * 3 + step) % me.size() * 1.5 * kMs);
    co_await me.send({"prepare_part", 82}, 0, 8 * kKiB, 6);
    co_return;
  }
  Requests requests;
  for (std::uint32_t peer = 1; peer < me.size(); ++peer)
    requests.push_back(co_await me.irecv({"take_parts", 84}, from(peer), 8 * kKiB, 6));
  for (std::uint32_t i = 1; i < me.size(); ++i) {
    if (how.fault) {
      co_await me.wait({"take_parts", 86}, requests[i - 1]);
    } else {
      const std::size_t place = co_await me.waitany({"take_parts", 86}, requests);
      requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(place));
    }
    co_await me.compute({"take_parts", 87}, 1.4 * kMs);
  }
}

// Two messages of one rank: the first one ready is taken last.
Task far_first(Rank& me, const Case& how, std::uint32_t) {
  const std::uint32_t pair = me.rank() ^ 1;
  if (pair >= me.size()) co_return;
  constexpr std::uint64_t kBytes = 64 * kKiB;
  if (me.rank() % 2 == 0) {
    Requests requests;
    co_await me.compute({"make_gathers", 88}, 4 * kMs);
    requests.push_back(co_await me.isend({"make_gathers", 89}, pair, kBytes, 34));
    co_await me.compute({"make_gathers", 90}, 6 * kMs);
    requests.push_back(co_await me.isend({"make_gathers", 91}, pair, kBytes, 35));
    co_await me.waitall({"make_gathers", 92}, requests);
    co_return;
  }
  for (const bool near : {!how.fault, how.fault}) {
    co_await me.recv({"take_gathers", 93}, from(pair), near ? 34 : 35);
    co_await me.compute({"take_gathers", 94}, near ? 6 * kMs : 3 * kMs);
  }
}

Task all_to_one(Rank& me, const Case& how, std::uint32_t) {
  if (!how.fault) {
    co_await me.reduce({"sum_fields", 95}, 64 * kKiB);
    co_return;
  }
  if (me.rank() != 0) {
    co_await me.send({"sum_fields", 97}, 0, 2 * kMiB, 8);
  } else {
    for (std::uint32_t peer = 1; peer < me.size(); ++peer) {
      co_await me.recv({"sum_fields", 99}, from(peer), 8);
      co_await me.compute({"sum_fields", 100}, 0.4 * kMs);
    }
  }
}

Task slow_master(Rank& me, const Case& how) {
  co_await farm(me, 300, 3 * kMs, how.fault ? 1.5 * kMs : 0.05 * kMs, 3 * kMs);
}

Task long_last_task(Rank& me, const Case& how) {
  co_await farm(me, 100, 8 * kMs, 0.05 * kMs, how.fault ? 150 * kMs : 8 * kMs);
}

// Workers give their tasks to a device, and sleep meanwhile; the master prepares each task only then.
Task slow_master_of_devices(Rank& me, const Case& how) {
  co_await farm(me, 300, 3 * kMs, how.fault ? 1.5 * kMs : 0.05 * kMs, 3 * kMs, true);
}

// The ranks of one half work first, then those of the other half with their data.
Task half_after_half(Rank& me, const Case& how, std::uint32_t) {
  const std::uint32_t pair = me.rank() ^ 1u;
  const bool first = me.rank() % 2 == 0;
  if (pair >= me.size()) co_return;
  if (!how.fault) {
    co_await me.compute({first ? "downward" : "upward", 126}, 4 * kMs);
    co_return;
  }
  if (first) {
    co_await me.compute({"downward", 127}, 4 * kMs);
    co_await me.send({"to_upward", 128}, pair, 2 * kKiB, 36);
  } else {
    co_await me.recv({"from_downward", 130}, from(pair), 36);
    co_await me.compute({"upward", 131}, 4 * kMs);
  }
}

// Tasks in rounds: rank 0 takes the results in rank order, so all wait for the longest task of the round.
Task rounds_of_tasks(Rank& me, const Case& how) {
  constexpr int kRounds = 60;
  if (!how.fault) {
    co_await farm(me, static_cast<int>(me.size() - 1) * kRounds, 4 * kMs, 0.05 * kMs, 4 * kMs);
    co_return;
  }
  for (int round = 0; round < kRounds; ++round) {
    if (me.rank() == 0) {
      for (std::uint32_t worker = 1; worker < me.size(); ++worker) co_await me.send({"give_round", 117}, worker, 64, 1);
      for (std::uint32_t worker = 1; worker < me.size(); ++worker)
        co_await me.recv({"take_round", 118}, from(worker), 2);
    } else {
      co_await me.recv({"round_worker", 119}, 0, 1);
      co_await me.compute({"run_one_task", 120}, (1 + 6 * me.random()) * kMs);
      co_await me.send({"round_worker", 121}, 0, 1 * kKiB, 2);
    }
  }
}

// A sum over all ranks by hand: rank 0 takes the vectors, adds them, and sends the result to each.
Task sum_by_hand(Rank& me, const Case& how, std::uint32_t) {
  constexpr std::uint64_t kBytes = 2 * kMiB;
  if (!how.fault) {
    co_await me.allreduce({"combine_vectors", 123}, kBytes);
  } else if (me.rank() != 0) {
    co_await me.send({"combine_vectors", 125}, 0, kBytes, 31);
    co_await me.recv({"combine_vectors", 126}, 0, 32);
  } else {
    for (std::uint32_t peer = 1; peer < me.size(); ++peer) {
      co_await me.recv({"combine_vectors", 128}, from(peer), 31);
      co_await me.compute({"combine_vectors", 129}, 0.1 * kMs);
    }
    for (std::uint32_t peer = 1; peer < me.size(); ++peer) co_await me.send({"combine_vectors", 130}, peer, kBytes, 32);
  }
}

Task late_receive(Rank& me, const Case& how, std::uint32_t) {
  const std::uint32_t pair = me.rank() ^ 1;
  if (pair >= me.size()) co_return;
  if (me.rank() % 2 == 0) {
    co_await me.send({"push_block", 121}, pair, 256 * kKiB, 9);
    co_await me.compute({"after_block", 122}, 6 * kMs);
  } else {
    if (how.fault) co_await me.compute({"before_block", 124}, 6 * kMs);
    co_await me.recv({"pull_block", 125}, static_cast<std::int32_t>(pair), 9);
    if (!how.fault) co_await me.compute({"before_block", 124}, 6 * kMs);
  }
}

Task posted_then_computed(Rank& me, const Case& how, std::uint32_t) {
  Requests requests;
  requests.push_back(co_await me.irecv({"start_shift", 131}, from(before(me)), 16 * kMiB, 11));
  requests.push_back(co_await me.isend({"start_shift", 132}, next_of(me), 16 * kMiB, 11));
  if (how.fault) co_await me.waitall({"end_shift", 134}, requests);
  co_await me.compute({"inner_cells", 135}, 6 * kMs);
  if (!how.fault) co_await me.waitall({"end_shift", 134}, requests);
}

// Each rank sends first, then receives; the last one receives first. Large messages make a cycle of waits.
Task blocking_ring(Rank& me, const Case& how, std::uint32_t) {
  constexpr std::uint64_t kBytes = 8 * kMiB;
  if (!how.fault) {
    const RequestPointer request = co_await me.irecv({"shift_ring", 291}, from(before(me)), kBytes, 14);
    co_await me.send({"shift_ring", 292}, next_of(me), kBytes, 14);
    co_await me.wait({"shift_ring", 293}, request);
  } else if (me.rank() + 1 == me.size()) {
    co_await me.recv({"shift_ring", 295}, from(before(me)), 14);
    co_await me.send({"shift_ring", 296}, next_of(me), kBytes, 14);
  } else {
    co_await me.send({"shift_ring", 298}, next_of(me), kBytes, 14);
    co_await me.recv({"shift_ring", 299}, from(before(me)), 14);
  }
}

// A permission goes around before each exclusive section.
Task token(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault && me.rank() != 0) co_await me.recv({"take_permission", 301}, from(before(me)), 15);
  co_await me.compute({"append_results", 302}, 1.2 * kMs);
  if (how.fault) co_await me.send({"pass_permission", 303}, next_of(me), 4, 15);
  if (how.fault && me.rank() == 0) co_await me.recv({"take_permission", 304}, from(before(me)), 15);
}

// One straggler among the senders holds back the work on all messages.
Task waiting_for_all(Rank& me, const Case& how, std::uint32_t step) {
  constexpr double kAll = 8.4 * kMs;
  if (me.rank() != 0) {
    co_await me.compute({"make_part", 311}, me.rank() == 1 + step % (me.size() - 1) ? 9 * kMs : 1 * kMs);
    co_await me.send({"make_part", 312}, 0, 4 * kKiB, 16);
    co_return;
  }
  Requests requests;
  for (std::uint32_t peer = 1; peer < me.size(); ++peer)
    requests.push_back(co_await me.irecv({"use_parts", 315}, from(peer), 4 * kKiB, 16));
  if (how.fault) co_await me.waitall({"use_parts", 316}, requests);
  while (!how.fault && !requests.empty()) {
    const std::size_t place = co_await me.waitany({"use_parts", 318}, requests);
    requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(place));
    co_await me.compute({"use_parts", 320}, kAll / (me.size() - 1));
  }
  if (how.fault) co_await me.compute({"use_parts", 321}, kAll);
}

Task contended_lock(Rank& me, const Case& how, std::uint32_t) {
  for (int i = 0; i < 4; ++i)
    co_await me.lock_and_put({"next_index", 325}, how.fault ? 0 : me.rank(), 8, how.fault ? 0.25 * kMs : 1 * kUs);
}

}  // namespace

std::vector<Kind> kinds_of_dependence() {
  return {
      {"chain.serial", {"chain.serial"}, {"take_turn"}, steps(one_after_the_other)},
      {"chain.sweeps", {"chain.serial", "chain.fill"}, {"take_edge"}, steps(sweeps)},
      {"chain.fill", {"chain.fill"}, {"sweep"}, steps(coarse_pipeline)},
      {"chain.grain", {"chain.grain"}, {"sweep"}, steps(fine_blocks)},
      {"chain.ring", {"chain.ring"}, {"shift_ring"}, steps(blocking_ring)},
      {"chain.token", {"chain.token"}, {"take_permission"}, steps(token)},
      {"order.recv", {"order.recv"}, {"take_parts"}, steps(fixed_order)},
      {"chain.device", {"chain.serial"}, {"one after the other", "read_device"}, steps(device_in_turn)},
      {"order.tags", {"order.recv"}, {"take_gathers"}, steps(far_first)},
      {"order.rounds", {"order.recv"}, {"rank 0", "take_round"}, rounds_of_tasks},
      {"ovh.hand_sum", {"ovh.hand"}, {"rank 0", "combine_vectors"}, steps(sum_by_hand)},
      {"order.late_receiver", {"order.late_receiver"}, {"push_block"}, steps(late_receive)},
      {"msg.head", {"msg.head"}, {"use_parts"}, steps(waiting_for_all)},
      {"hub.root", {"hub.root"}, {"rank 0", "sum_fields"}, steps(all_to_one)},
      {"hub.master", {"hub.master"}, {"rank 0", "store_result"}, slow_master},
      {"hub.device", {"hub.master"}, {"rank 0", "store_result"}, slow_master_of_devices},
      {"chain.halves", {"chain.serial"}, {"downward"}, steps(half_after_half), {}, {"late.turns"}},
      {"hub.tail", {"hub.tail"}, {"run_task"}, long_last_task},
      {"rma.lock", {"rma.lock"}, {"next_index"}, steps(contended_lock)},
      {"prog.false_overlap", {"prog.false_overlap"}, {"end_shift"}, steps(posted_then_computed)},
      {"prog.none", {"prog.none"}, {"end_shift"}, steps(overlap), [](Machine& machine) { machine.progress = false; }},
  };
}

}  // namespace ardoise::diagnosis
