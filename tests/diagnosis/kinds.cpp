#include "tests/diagnosis/kinds.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "reports/text/units.hpp"
#include "tests/diagnosis/programs.hpp"

namespace ardoise::diagnosis {

namespace {

constexpr std::int32_t kStep = 61, kEnd = 62, kForcing = 63;

// The second program: a step for each one of the first program.
Task partner(Rank& me, std::uint32_t first) {
  while (true) {
    const std::int32_t tag = co_await me.recv_tag({"take_fluxes", 45}, from(first));
    if (tag == kEnd) co_return;
    co_await me.compute({"other_model", 46}, 7 * kMs);
    co_await me.allreduce({"other_model", 47}, 8);
    co_await me.send({"give_forcing", 48}, first, 2 * kKiB, kForcing);
  }
}

}  // namespace

Task exchange(Rank& me, const Case& how) {
  constexpr Place kPost{"exchange", 21}, kSend{"exchange", 22};
  Requests requests;
  for (const std::uint32_t peer : {next_of(me), before(me)})
    requests.push_back(co_await me.irecv(kPost, from(peer), 8 * kKiB));
  for (const std::uint32_t peer : {next_of(me), before(me)})
    requests.push_back(co_await me.isend(kSend, peer, 8 * kKiB));
  co_await me.waitall({"exchange", 24}, requests);
  if (how.context == Context::kSubCommunicators) co_await me.allreduce({"group_residual", 27}, 8, 1 + me.rank() % 2);
  co_await me.allreduce({"residual", 31}, 8);
}

Task usual(Rank& me, const Case& how) {
  const int inner = how.context == Context::kNestedLoops ? 5 : 1;
  const bool coupled = how.context == Context::kTwoPrograms && me.rank() < me.size() / 2;
  if (coupled) co_await me.send({"give_fluxes", 41}, me.size() + me.rank(), 2 * kKiB, kStep);
  for (int i = 0; i < inner; ++i) {
    co_await me.compute({"solve", 11}, 10 * kMs / inner);
    co_await exchange(me, how);
  }
  if (coupled) co_await me.recv({"take_forcing", 43}, from(me.size() + me.rank()), kForcing);
  if (how.context == Context::kSecondFault && me.rank() == me.size() - 1)
    co_await me.compute({"second_fault", 35}, 0.6 * kMs);
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kAll = [] {
    std::vector<Kind> all;
    for (auto* const list : {kinds_of_work, kinds_of_dependence, kinds_of_chains, kinds_of_calls, kinds_of_files,
                             kinds_of_machines, right_kinds})
      std::ranges::move(list(), std::back_inserter(all));
    return all;
  }();
  return kAll;
}

const std::vector<Kind>& kinds_on_many_ranks() {
  static const std::vector<Kind> kSome = [] {
    const std::set<std::string> codes{
        "late.static",   "late.moving",  "late.growing", "late.group", "late.asleep", "serial.rank",
        "chain.ring",    "chain.serial", "chain.token",  "hub.root",   "prog.none",   "order.late_receiver",
        "io.rank0",      "io.meta",      "node.oversub", "late.node",  "ovh.create",  "ovh.fuse",
        "none.balanced", "none.first",   "none.partner", "none.async", "none.unit",   "none.noise",
        "none.barrier",  "none.device"};
    std::vector<Kind> some;
    std::ranges::copy_if(kinds(), std::back_inserter(some),
                         [&](const Kind& kind) { return codes.contains(kind.code); });
    return some;
  }();
  return kSome;
}

const std::vector<Kind>& held_out() {
  static const std::vector<Kind> kAll = held_out_kinds();
  return kAll;
}

std::vector<NamedCase> contexts() {
  return {{"alone, 8 ranks", {}},
          {"3 ranks", {.ranks = 3}},
          {"4 ranks", {.ranks = 4}},
          {"64 ranks", {.ranks = 64}},
          {"512 ranks, some kinds", {.ranks = 512, .steps = 16}},
          {"two coupled programs", {.context = Context::kTwoPrograms}},
          {"200 steps", {.steps = 200}},
          {"noise of 5 %", {.noise = 0.05}},
          {"noise of 20 %", {.noise = 0.2}},
          {"a second, smaller fault", {.context = Context::kSecondFault}},
          {"nested loops", {.context = Context::kNestedLoops}},
          {"sub-communicators", {.context = Context::kSubCommunicators}},
          {"a loaded machine", {.context = Context::kLoaded}},
          {"preempted in calls", {.context = Context::kPreempted}},
          {"a busy machine", {.steps = 200, .context = Context::kBusy}},
          {"names of Fortran", {.context = Context::kFortran}}};
}

namespace {

constexpr double kLoss = 0.02;  // of the run

// In nested loops, lateness once in an outer step is lateness in every n-th round.
bool is_known(const reports::Finding& finding, const Kind& kind, const Case& how) {
  const bool once_a_step =
      how.context == Context::kNestedLoops && kind.code.starts_with("late.") && finding.id == "late.periodic";
  const auto has = [&](const std::vector<std::string>& codes) {
    return std::ranges::find(codes, finding.id) != codes.end();
  };
  return once_a_step || has(kind.findings) || (how.ranks == 3 && has(kind.with_three_ranks));
}

bool is_right(const reports::Finding& finding, const Kind& kind, const Case& how) {
  return is_known(finding, kind, how) && std::ranges::all_of(kind.words, [&](const std::string& word) {
           // A name at the begin of a sentence has a capital.
           return finding.text.find(word) != std::string::npos || finding.text.starts_with(reports::capitalised(word));
         });
}

Machine machine_for(const Kind& kind, const Case& how) {
  Machine machine;
  machine.ranks = how.ranks;
  machine.noise = how.noise;
  machine.seed = how.seed;
  if (how.context == Context::kLoaded) machine.crowding = 0.1;
  if (how.context == Context::kTwoPrograms) machine.partner_ranks = how.ranks / 2;
  if (how.context == Context::kPreempted) machine.preemption = 30 * kMs;
  if (how.context == Context::kBusy) machine.crowding = 0.7, machine.preemption = 30 * kMs;
  if (how.context == Context::kFortran) machine.suffix = "_";
  if (kind.machine && how.fault) kind.machine(machine);
  return machine;
}

// The context is a loss itself, and this finding names it.
bool is_of_the_context(const reports::Finding& finding, const Case& how) {
  if (how.context == Context::kSecondFault) return finding.text.find("second_fault") != std::string::npos;
  if (how.context == Context::kLoaded || how.context == Context::kPreempted || how.context == Context::kBusy)
    return finding.id.starts_with("node.");
  // Noise of threads, too.
  return how.noise >= 0.2 && (finding.id == "late.noise" || finding.id == "thr.uneven");
}

Task first_program(Rank& me, const Kind& kind, const Case& how) {
  co_await kind.body(me, how);
  if (how.context == Context::kTwoPrograms && me.rank() < me.size() / 2)
    co_await me.send({"end_of_coupling", 49}, me.size() + me.rank(), 8, kEnd);
}

// Runs the program and returns its seconds.
double run(Simulation& simulation, const Kind& kind, const Case& how) {
  std::vector<std::uint32_t> even, odd;
  for (std::uint32_t rank = 0; rank < how.ranks; ++rank) (rank % 2 == 0 ? even : odd).push_back(rank);
  (void)simulation.communicator(even);
  (void)simulation.communicator(odd);
  return simulation.run(
      [&](Rank& me) { return me.is_partner() ? partner(me, me.rank()) : first_program(me, kind, how); });
}

// The same program and loss, where ranks have neither noise nor another trouble.
double seconds_without_context(const Kind& kind, Case how) {
  how.noise = 0;
  for (const Context each : {Context::kSecondFault, Context::kLoaded, Context::kPreempted, Context::kBusy})
    if (how.context == each) how.context = Context::kAlone;
  Simulation simulation(machine_for(kind, how));
  return run(simulation, kind, how);
}

}  // namespace

Diagnosis diagnose(const Kind& kind, const Case& how) {
  Diagnosis result;
  Case without = how;
  without.fault = false;
  Simulation right(machine_for(kind, without));
  result.without_fault = run(right, kind, without);
  Simulation simulation(machine_for(kind, how));
  result.seconds = run(simulation, kind, how);
  const reports::Run run = simulation.analyze();
  result.findings = reports::findings_of(run.applications.at(0));
  const auto& all = result.findings;
  result.right_first = is_right(all.front(), kind, how);
  result.right_in_three = std::any_of(all.begin(), all.begin() + std::min<std::ptrdiff_t>(3, std::ssize(all)),
                                      [&](const auto& finding) { return is_right(finding, kind, how); });
  const auto named = std::ranges::find_if(all, [&](const auto& finding) { return is_right(finding, kind, how); });
  if (named != all.end() && named->id == kind.code) {
    for (const auto& [name, value] : named->evidence) {
      if (name == "ceiling_seconds") result.ceiling = value;
    }
  }
  const double loss = result.seconds - result.without_fault;
  result.of_context = result.seconds - seconds_without_context(kind, how);
  result.is_loss = !kind.is_right() && loss >= kLoss * result.seconds;
  // Work in a hot place is told after all losses.
  result.is_greatest = result.is_loss && result.of_context <= (kind.code == "cpu.hot" ? kLoss * result.seconds : loss);
  const bool names_greater = !result.is_greatest && is_of_the_context(all.front(), how);
  result.wrong_remedy =
      result.is_loss && !is_known(all.front(), kind, how) && !names_greater && !all.front().advice.empty();
  result.false_alarm = kind.is_right() && std::ranges::any_of(all, [&](const auto& finding) {
                         return finding.severity != reports::Severity::note && !is_of_the_context(finding, how);
                       });
  return result;
}

}  // namespace ardoise::diagnosis
