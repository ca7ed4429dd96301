#include "tests/diagnosis/kinds.hpp"

#include <algorithm>
#include <cmath>

#include "reports/findings/findings.hpp"

namespace ardoise::diagnosis {
namespace {

using Requests = std::vector<RequestPointer>;

constexpr Place kSolve{"solve", 11}, kPost{"exchange", 21}, kSend{"exchange", 22}, kWait{"exchange", 24},
    kSum{"residual", 31};
constexpr double kMs = 1e-3, kUs = 1e-6;
constexpr std::uint64_t kKiB = 1024, kMiB = 1024 * 1024;

// Messages of both directions with the next rank on either side.
Task exchange(Rank& me, std::uint64_t bytes) {
  Requests requests;
  const std::uint32_t ranks = me.size();
  for (const std::uint32_t peer : {(me.rank() + 1) % ranks, (me.rank() + ranks - 1) % ranks})
    requests.push_back(co_await me.irecv(kPost, static_cast<std::int32_t>(peer), bytes));
  for (const std::uint32_t peer : {(me.rank() + 1) % ranks, (me.rank() + ranks - 1) % ranks})
    requests.push_back(co_await me.isend(kSend, peer, bytes));
  co_await me.waitall(kWait, requests);
}

// The part of a step that is right in all programs.
Task usual(Rank& me, double seconds = 10 * kMs) {
  co_await me.compute(kSolve, seconds);
  co_await exchange(me, 8 * kKiB);
  co_await me.allreduce(kSum, 8);
}

// A program whose steps begin with `step`, followed by the usual part.
template <class Step>
auto steps(Step step) {
  return [step](Rank& me, const Case& how) -> Task {
    for (std::uint32_t i = 0; i < how.steps; ++i) {
      co_await step(me, how, i);
      co_await usual(me);
    }
  };
}

// ---- uneven work

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

Task from_the_middle(Rank& me, const Case& how, std::uint32_t step) {
  if (how.fault && step >= how.steps / 2 && me.rank() == 0) co_await me.compute({"track_shock", 58}, 9 * kMs);
}

Task heavy_tail(Rank& me, const Case& how, std::uint32_t) {
  const bool rare = me.random() < 0.06;
  co_await me.compute({"sample_paths", 61}, how.fault && rare ? 12 * kMs : 1 * kMs);
}

Task half_of_the_ranks(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault && me.rank() >= me.size() / 2) co_await me.compute({"radiation", 64}, 6 * kMs);
}

Task late_input(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault) co_await me.compute({"chemistry", 67}, (me.rank() * 37 % me.size()) * 1.5 * kMs);
}

// ---- dependences

Task one_after_the_other(Rank& me, const Case& how, std::uint32_t) {
  const auto before = static_cast<std::int32_t>(me.rank()) - 1;
  if (how.fault && before >= 0) co_await me.recv({"take_turn", 71}, before);
  co_await me.compute({"update_block", 72}, 2 * kMs);
  if (how.fault && me.rank() + 1 < me.size()) co_await me.send({"take_turn", 73}, me.rank() + 1, 8);
}

Task coarse_pipeline(Rank& me, const Case& how, std::uint32_t) {
  const auto before = static_cast<std::int32_t>(me.rank()) - 1;
  const int blocks = how.fault ? 3 : 200;
  for (int block = 0; block < blocks; ++block) {
    if (before >= 0) co_await me.recv({"sweep", 76}, before, 5);
    co_await me.compute({"sweep", 77}, 20 * kMs / blocks);
    if (me.rank() + 1 < me.size()) co_await me.send({"sweep", 78}, me.rank() + 1, 1 * kKiB, 5);
  }
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
    requests.push_back(co_await me.irecv({"take_parts", 84}, static_cast<std::int32_t>(peer), 8 * kKiB, 6));
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

Task serial_part(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault && me.rank() == 0) co_await me.compute({"assemble_matrix", 91}, 8 * kMs);
  if (!how.fault) co_await me.compute({"assemble_matrix", 91}, 8 * kMs / me.size());
  co_await me.bcast({"share_matrix", 92}, 64 * kKiB);
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
      co_await me.recv({"sum_fields", 99}, static_cast<std::int32_t>(peer), 8);
      co_await me.compute({"sum_fields", 100}, 0.4 * kMs);
    }
  }
}

// Tasks are handed out on demand; a task takes `task` and its handling `handling`.
Task farm(Rank& me, int tasks, double task, double handling, double last_task) {
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
    co_await me.compute({"run_task", 114}, tag == 4 ? last_task : task);
    co_await me.send({"worker", 115}, 0, 1 * kKiB, 2);
  }
}

Task slow_master(Rank& me, const Case& how) {
  co_await farm(me, 300, 3 * kMs, how.fault ? 1.5 * kMs : 0.05 * kMs, 3 * kMs);
}

Task long_last_task(Rank& me, const Case& how) {
  co_await farm(me, 100, 8 * kMs, 0.05 * kMs, how.fault ? 150 * kMs : 8 * kMs);
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
  const std::uint32_t next = (me.rank() + 1) % me.size(), before = (me.rank() + me.size() - 1) % me.size();
  requests.push_back(co_await me.irecv({"start_shift", 131}, static_cast<std::int32_t>(before), 16 * kMiB, 11));
  requests.push_back(co_await me.isend({"start_shift", 132}, next, 16 * kMiB, 11));
  if (how.fault) co_await me.waitall({"end_shift", 134}, requests);
  co_await me.compute({"inner_cells", 135}, 6 * kMs);
  if (!how.fault) co_await me.waitall({"end_shift", 134}, requests);
}

Task overlap(Rank& me, const Case&, std::uint32_t) {
  Requests requests;
  const std::uint32_t next = (me.rank() + 1) % me.size(), before = (me.rank() + me.size() - 1) % me.size();
  requests.push_back(co_await me.irecv({"start_shift", 141}, static_cast<std::int32_t>(before), 16 * kMiB, 11));
  requests.push_back(co_await me.isend({"start_shift", 142}, next, 16 * kMiB, 11));
  co_await me.compute({"inner_cells", 143}, 6 * kMs);
  co_await me.waitall({"end_shift", 144}, requests);
}

// ---- overhead of calls

Task tiny_messages(Rank& me, const Case& how, std::uint32_t) {
  const std::uint32_t next = (me.rank() + 1) % me.size();
  const auto before = static_cast<std::int32_t>((me.rank() + me.size() - 1) % me.size());
  constexpr unsigned kMessages = 3000;
  for (unsigned i = 0; i < kMessages && how.fault; ++i) {
    co_await me.send({"send_particles", 151}, next, 8, 12);
    co_await me.recv({"take_particles", 152}, before, 12);
  }
  if (how.fault) co_return;
  const RequestPointer request = co_await me.irecv({"take_particles", 154}, before, 8 * kMessages, 12);
  co_await me.send({"send_particles", 155}, next, 8 * kMessages, 12);
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

Task all_to_all(Rank& me, const Case& how, std::uint32_t) {
  co_await me.alltoall({"transpose", 171}, how.fault ? 4 * kMiB : 64 * kKiB);
}

Task busy_testing(Rank& me, const Case& how, std::uint32_t) {
  if (me.rank() == 0) {
    co_await me.compute({"make_input", 175}, 6 * kMs);
    for (std::uint32_t peer = 1; peer < me.size(); ++peer) co_await me.send({"make_input", 176}, peer, 64, 13);
    co_return;
  }
  const RequestPointer request = co_await me.irecv({"wait_for_input", 178}, 0, 64, 13);
  if (!how.fault) {
    co_await me.wait({"wait_for_input", 180}, request);
  } else {
    while (!co_await me.test({"wait_for_input", 182}, request)) co_await me.compute({"wait_for_input", 183}, 1 * kUs);
  }
}

Task sleeping_between_tests(Rank& me, const Case& how, std::uint32_t) {
  if (me.rank() == 0) {
    co_await me.compute({"make_input", 186}, 1 * kMs);
    for (std::uint32_t peer = 1; peer < me.size(); ++peer) co_await me.send({"make_input", 187}, peer, 64, 13);
    co_return;
  }
  const RequestPointer request = co_await me.irecv({"wait_for_input", 189}, 0, 64, 13);
  if (!how.fault) {
    co_await me.wait({"wait_for_input", 190}, request);
  } else {
    while (!co_await me.test({"wait_for_input", 191}, request)) co_await me.sleep(8 * kMs);
  }
}

Task communicator_in_each_step(Rank& me, const Case& how, std::uint32_t step) {
  if (how.fault || step == 0) co_await me.duplicate({"new_communicator", 195}, 4 * kMs);
}

// ---- files

Task small_writes(Rank& me, const Case& how, std::uint32_t) {
  const unsigned calls = how.fault ? 400 : 1;
  for (unsigned i = 0; i < calls; ++i)
    co_await me.write({"write_values", 201}, "result." + std::to_string(me.rank()), 25600 / calls);
}

Task opened_in_each_step(Rank& me, const Case& how, std::uint32_t step) {
  const std::string file = "log." + std::to_string(me.rank());
  for (int i = 0; i < (how.fault ? 80 : 1); ++i) {
    if (how.fault || step == 0) co_await me.open({"append_line", 205}, file);
    co_await me.write({"append_line", 206}, file, how.fault ? 64 : 5120);
    if (how.fault || step + 1 == how.steps) co_await me.close({"append_line", 207}, file);
  }
}

Task one_rank_writes(Rank& me, const Case& how, std::uint32_t) {
  co_await me.gather({"write_fields", 211}, 1 * kMiB);
  if (how.fault && me.rank() == 0) co_await me.write({"write_fields", 212}, "fields", me.size() * kMiB);
  if (!how.fault) co_await me.write({"write_fields", 213}, "fields", 1 * kMiB);
  co_await me.barrier({"write_fields", 214});
}

Task all_read_the_same(Rank& me, const Case& how) {
  const unsigned ranks_that_read = how.fault ? me.size() : 1;
  co_await me.open({"read_input", 221}, "input");
  for (int i = 0; i < 100 && me.rank() < ranks_that_read; ++i) co_await me.read({"read_input", 222}, "input", 4 * kMiB);
  co_await me.close({"read_input", 223}, "input");
  co_await me.bcast({"read_input", 224}, how.fault ? 8 : 400 * kMiB);
  for (std::uint32_t i = 0; i < how.steps; ++i) co_await usual(me);
}

Task checkpoint(Rank& me, const Case& how, std::uint32_t step) {
  if (!how.fault || step % 3 != 2) co_return;
  co_await me.write({"write_checkpoint", 231}, "checkpoint." + std::to_string(me.rank()), 40 * kMiB);
}

// ---- not running

Task asleep(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault && me.rank() == 2) co_await me.sleep(7 * kMs);
}

Task crowded(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault) co_await me.wait_for_processor((3 + 4 * me.random()) * kMs);
}

Task crowded_rank(Rank& me, const Case& how, std::uint32_t) {
  if (how.fault && me.rank() == 3) co_await me.wait_for_processor(7 * kMs);
}

// ---- work

Task hot_function(Rank& me, const Case& how, std::uint32_t) {
  co_await me.compute({"interpolate", 241}, how.fault ? 60 * kMs : 6 * kMs);
}

// ---- right programs

Task nothing(Rank&, const Case&, std::uint32_t) { co_return; }

Task slow_first_step(Rank& me, const Case&, std::uint32_t step) {
  if (step == 0) co_await me.compute({"first_touch", 251}, 8 * kMs);
}

Task fine_pipeline(Rank& me, const Case& how, std::uint32_t step) {
  Case fine = how;
  fine.fault = false;
  co_await coarse_pipeline(me, fine, step);
}

Task few_tiny_messages(Rank& me, const Case&, std::uint32_t) {
  const std::uint32_t next = (me.rank() + 1) % me.size(), before = (me.rank() + me.size() - 1) % me.size();
  for (int i = 0; i < 20; ++i) {
    co_await me.send({"send_flags", 255}, next, 8, 12);
    co_await me.recv({"take_flags", 256}, static_cast<std::int32_t>(before), 12);
  }
}

Task fast_files(Rank& me, const Case&, std::uint32_t step) {
  if (step % 10 == 9) co_await me.write({"write_output", 261}, "out." + std::to_string(me.rank()), 4 * kMiB);
}

Task good_farm(Rank& me, const Case&) { co_await farm(me, 400, 3 * kMs, 0.02 * kMs, 3 * kMs); }

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<std::string> kUneven{"load_imbalance", "rank_clusters", "slowest_rank"};
  static const std::vector<Kind> kAll{
      {"late.static", kUneven, {"rank 2", "boundary_cells"}, steps(boundary)},
      {"late.moving", {"rank_drift", "load_imbalance", "slow_iterations"}, {"refine_cells"}, steps(hotspot)},
      {"late.periodic", {"slow_iterations", "load_imbalance"}, {"rank 1", "collect_statistics"}, steps(every_fifth)},
      {"late.growing", {"iterations_trend", "rank_drift", "load_imbalance"}, {"rank 3", "move_particles"},
       steps(growing)},
      {"late.phase", {"iterations_change", "rank_drift", "load_imbalance"}, {"rank 0", "track_shock"},
       steps(from_the_middle)},
      {"late.noise", {"slow_iterations", "rank_drift", "load_imbalance"}, {"sample_paths"}, steps(heavy_tail)},
      {"late.group", kUneven, {"radiation"}, steps(half_of_the_ranks)},
      {"late.input", kUneven, {"chemistry"}, steps(late_input)},
      {"chain.serial", {"serial_chain"}, {"take_turn"}, steps(one_after_the_other)},
      {"chain.fill", {"serial_chain", "pipeline"}, {"sweep"}, steps(coarse_pipeline)},
      {"order.recv", {"wrong_order"}, {"take_parts"}, steps(fixed_order)},
      {"serial.rank", kUneven, {"rank 0", "assemble_matrix"}, steps(serial_part)},
      {"hub.root", {"hot_rank", "heavy_edge", "load_imbalance"}, {"rank 0", "sum_fields"}, steps(all_to_one)},
      {"hub.master", {"hot_rank", "load_imbalance"}, {"rank 0", "store_result"}, slow_master},
      {"hub.tail", {"load_imbalance"}, {"run_task"}, long_last_task},
      {"order.late_receiver", {"late_receiver"}, {"push_block"}, steps(late_receive)},
      {"prog.false_overlap", {"no_overlap"}, {"end_shift"}, steps(posted_then_computed)},
      {"prog.none", {"no_progress", "late_complete"}, {"end_shift"}, steps(overlap),
       [](Machine& machine) { machine.progress = false; }},
      {"ovh.tiny", {"small_messages"}, {"send_particles"}, steps(tiny_messages)},
      {"ovh.element", {"small_messages", "collective_transfer"}, {"share_coefficients"},
       steps(call_for_each_element)},
      {"ovh.fuse", {"small_messages", "collective_transfer"}, {"sum_mass"}, steps(adjacent_reductions)},
      {"ovh.alltoall", {"collective_transfer", "dominating_call"}, {"transpose"}, steps(all_to_all)},
      {"poll.busy", {"load_imbalance"}, {"make_input"}, steps(busy_testing)},
      {"poll.sleep", {"poll_sleep"}, {"wait_for_input"}, steps(sleeping_between_tests)},
      {"ovh.create", {"leaked_communicators", "management"}, {"new_communicator"}, steps(communicator_in_each_step)},
      {"io.small", {"small_io"}, {"write_values"}, steps(small_writes)},
      {"io.meta", {"metadata_io", "reopened_file", "small_io"}, {"append_line"}, steps(opened_in_each_step)},
      {"io.rank0", {"one_rank_io"}, {"write_fields"}, steps(one_rank_writes)},
      {"io.reread", {"shared_input"}, {"read_input"}, all_read_the_same},
      {"io.checkpoint", {"slow_iterations", "io_share"}, {"write_checkpoint"}, steps(checkpoint)},
      {"late.asleep", {"load_imbalance", "blocked_share", "late_sender"}, {"rank 2"}, steps(asleep)},
      {"node.oversub", {"threads_share_processors", "processors"}, {}, steps(crowded)},
      {"node.foreign", {"threads_share_processors", "processors"}, {"rank 3"}, steps(crowded_rank)},
      {"cpu.hot", {"hot_function"}, {"interpolate"}, steps(hot_function)},
      {"none.balanced", {}, {}, steps(nothing)},
      {"none.first", {}, {}, steps(slow_first_step)},
      {"none.wavefront", {}, {}, steps(fine_pipeline)},
      {"none.tiny", {}, {}, steps(few_tiny_messages)},
      {"none.async", {}, {}, steps(overlap)},
      {"none.device", {}, {}, steps(fast_files)},
      {"none.master", {}, {}, good_farm},
  };
  return kAll;
}

namespace {

bool is_right(const reports::Finding& finding, const Kind& kind) {
  return std::ranges::find(kind.findings, finding.id) != kind.findings.end() &&
         std::ranges::all_of(kind.words,
                             [&](const std::string& word) { return finding.text.find(word) != std::string::npos; });
}

Machine machine_for(const Kind& kind, const Case& how) {
  Machine machine;
  machine.ranks = how.ranks;
  machine.noise = how.noise;
  machine.seed = how.seed;
  if (kind.machine && how.fault) kind.machine(machine);
  return machine;
}

}  // namespace

Diagnosis diagnose(const Kind& kind, const Case& how) {
  Diagnosis result;
  Case without = how;
  without.fault = false;
  Simulation right(machine_for(kind, without));
  result.without_fault = right.run([&](Rank& me) { return kind.body(me, without); });
  Simulation simulation(machine_for(kind, how));
  result.seconds = simulation.run([&](Rank& me) { return kind.body(me, how); });
  const reports::Run run = simulation.analyze();
  result.findings = reports::findings_of(run.applications.at(0));
  const auto& all = result.findings;
  result.right_first = is_right(all.front(), kind);
  result.right_in_three = std::any_of(all.begin(), all.begin() + std::min<std::ptrdiff_t>(3, std::ssize(all)),
                                      [&](const auto& finding) { return is_right(finding, kind); });
  const bool is_known = std::ranges::find(kind.findings, all.front().id) != kind.findings.end();
  result.wrong_remedy = !kind.is_right() && !is_known && !all.front().advice.empty();
  result.false_alarm = kind.is_right() && std::ranges::any_of(all, [](const auto& finding) {
                         return finding.severity != reports::Severity::note;
                       });
  return result;
}

}  // namespace ardoise::diagnosis
