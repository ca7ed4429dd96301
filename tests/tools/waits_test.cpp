// Compares waiting with programs of known truth: their ranks are late by sleeping and print, by their own clocks, the
// least and the greatest possible waiting of the others, since a rank may lose its processor at any time.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

constexpr double kWithin = 0.002;  // our clock is calibrated against the program's

constexpr const char* kOfWindow = "be_held_up";

struct Truth {
  double least = 0, most = 0;  // seconds
  unsigned long occurrences = 0;
};

struct Case {
  const char *program, *pattern, *function;
  // Numbers resolved in each of 20 steps.
  bool calls;                          // one of each rank
  unsigned messages, messages_of_all;  // of all others together, and of each other rank
  const char* symbol = "meet";
  bool epochs = false;  // the two halves of one of each other rank
  unsigned once = 0;    // collectives of each rank beside these
};
void PrintTo(const Case& each, std::ostream* out) { *out << each.program; }

double seconds_of(const reports::Waiting& waiting, const char* pattern) {
  const auto found = std::ranges::find(waiting.patterns, pattern, &reports::WaitTotal::pattern);
  return found == waiting.patterns.end() ? 0 : found->seconds;
}

// Waits in one function only: making a window is a fence, too.
reports::WaitTotal total_of(const reports::Waiting& waiting, const Case& of) {
  reports::WaitTotal total{};
  for (const reports::WaitSite& site : waiting.call_sites) {
    if (site.pattern != of.pattern || site.function != of.function) continue;
    total.seconds += site.waiting_seconds;
    total.occurrences += site.occurrences;
  }
  return total;
}

class WaitsTest : public LaunchFixture, public ::testing::WithParamInterface<Case> {
 protected:
  reports::Waiting waiting(const std::string& analyzers, unsigned ranks, Truth& truth) {
    launch(analyzers, {ranks}, truth);
    const auto run = profile();
    if (run.applications.empty()) return {};
    expect_the_same_over_time(run.applications[0]);
    return run.applications[0].waiting;
  }
  // Programs that share MPI_COMM_WORLD; the first prints the truth of all.
  void launch(const std::string& analyzers, const std::vector<unsigned>& programs, Truth& truth) {
    output_ = (folder_ / ("report" + analyzers)).string();
    Words line;
    for (const unsigned ranks : programs) {
      if (!line.empty()) line.emplace_back(":");
      for (const std::string& word : {std::string("-n"), std::to_string(ranks), std::string(LATE_RANKS_PROGRAM),
                                      std::string(GetParam().program), (folder_ / ("entered" + analyzers)).string()})
        line.push_back(word);
    }
    const auto result = ardoise({"--analyzers", analyzers}, line);
    EXPECT_EQ(result.status, 0) << result.output;
    const auto at = result.output.find("truth ");
    if (at == std::string::npos || std::sscanf(result.output.c_str() + at, "truth %lf %lf %lu", &truth.least,
                                               &truth.most, &truth.occurrences) != 3)
      ADD_FAILURE() << result.output;
  }
  // The profile over time has the same waits, whichever analyzer found them.
  static void expect_the_same_over_time(const reports::Application& application) {
    const auto* const intervals = reports::find_series(application.snapshots, "timer");
    ASSERT_NE(intervals, nullptr);
    std::map<std::string, double> less;  // by function
    for (const reports::SnapshotCalls& each : intervals->calls)
      for (const double seconds : each.waiting_seconds) less[each.function] += seconds;
    for (const reports::WaitSite& site : application.waiting.call_sites) less[site.function] -= site.waiting_seconds;
    for (const auto& [function, seconds] : less) EXPECT_NEAR(seconds, 0, 1e-9) << function;
  }
};

TEST_P(WaitsTest, IsWhatTheRanksSay) {
  for (const auto& [analyzers, ranks] : {std::pair("1", 4U), std::pair("2", 2U), std::pair("3", 8U)}) {
    Truth truth;
    const auto waiting = this->waiting(analyzers, ranks, truth);
    // Ranks that are done wait in MPI_Finalize for the others, for any time.
    double at_end = seconds_of(waiting, "finalize");
    const reports::WaitTotal most = total_of(waiting, GetParam());
    const bool has_window = GetParam().symbol == std::string(kOfWindow);
    // In window modes the late rank also makes others wait elsewhere, briefly if nothing delays it.
    for (const char* const other : {"fence", "late_complete", "early_wait", "late_post", "lock"})
      at_end += has_window && other != std::string(GetParam().pattern) ? seconds_of(waiting, other) : 0;
    for (const char* const made : {"fence", "wait_nxn"})  // a window or communicator
      at_end += made == std::string(GetParam().pattern) ? seconds_of(waiting, made) - most.seconds : 0;
    EXPECT_EQ(most.occurrences, truth.occurrences);
    EXPECT_GE(most.seconds, (1 - kWithin) * truth.least);
    EXPECT_LE(most.seconds, (1 + kWithin) * truth.most);
    const unsigned calls =
        20 * (ranks * (GetParam().calls ? 1U : 0U) + 2 * (ranks - 1) * (GetParam().epochs ? 1U : 0U));
    EXPECT_EQ(waiting.resolved_calls, calls + (has_window ? 2 : GetParam().once) * ranks);  // to make and free it
    EXPECT_EQ(waiting.resolved_messages, 20 * (GetParam().messages + (ranks - 1) * GetParam().messages_of_all));
    EXPECT_EQ(waiting.unresolved.message_ends, reports::UnresolvedCounts{});
    EXPECT_EQ(waiting.unresolved.collective_calls.incomplete, 0u);
    EXPECT_EQ(waiting.unresolved.collective_calls.folded, 0u);
    const std::uint32_t late = std::string(GetParam().program) == "early_scan" ? 0 : ranks - 1;
    ASSERT_EQ(waiting.per_rank.caused_seconds.size(), ranks);
    EXPECT_GE(waiting.per_rank.caused_seconds[late], most.seconds - 1e-6);
    EXPECT_LE(waiting.per_rank.caused_seconds[late], most.seconds + at_end + 1e-6);
    // The rank slept; on a busy machine it also waited for a processor.
    ASSERT_FALSE(waiting.causes.empty());
    const auto cause = std::ranges::find(waiting.causes, late, &reports::WaitCause::rank);
    ASSERT_NE(cause, waiting.causes.end());
    EXPECT_EQ(cause->kind, "other");
    EXPECT_GE(cause->seconds, 0.25 * most.seconds);  // otherwise it was in MPI without a processor
    ASSERT_FALSE(waiting.call_sites.empty());
    EXPECT_EQ(waiting.call_sites[0].symbol, GetParam().symbol);
    EXPECT_EQ(waiting.call_sites[0].function, GetParam().function);
    EXPECT_TRUE(waiting.call_sites[0].source_file.ends_with(has_window ? "late_windows.c" : "late_ranks.c"));
  }
}

// The late rank is in the second program, except in a scan.
TEST_P(WaitsTest, IsWhatRanksOfTwoProgramsSay) {
  Truth truth;
  launch("2", {2, 2}, truth);
  const auto run = profile();
  ASSERT_EQ(run.applications.size(), 2u);
  const bool is_scan = std::string(GetParam().program) == "early_scan";
  const reports::Application &first = run.applications[0], &second = run.applications[1];
  reports::WaitTotal most = total_of(first.waiting, GetParam());
  const double of_first = most.seconds;
  most.seconds += total_of(second.waiting, GetParam()).seconds;
  most.occurrences += total_of(second.waiting, GetParam()).occurrences;
  EXPECT_EQ(most.occurrences, truth.occurrences);
  EXPECT_GE(most.seconds, (1 - kWithin) * truth.least);
  EXPECT_LE(most.seconds, (1 + kWithin) * truth.most);
  for (const auto& application : run.applications) {
    EXPECT_EQ(application.waiting.unresolved.message_ends, reports::UnresolvedCounts{});
    EXPECT_EQ(application.waiting.unresolved.collective_calls.other, 0u);
    expect_the_same_over_time(application);
  }
  const reports::Waiting& waits = is_scan ? second.waiting : first.waiting;
  const std::uint32_t late = is_scan ? 0 : 3;
  ASSERT_FALSE(waits.others.empty());
  EXPECT_EQ(waits.others[0].rank, late);
  EXPECT_EQ(waits.others[0].program, is_scan ? first.name : second.name);
  EXPECT_EQ(waits.others[0].cause.kind, "other");  // it slept
  EXPECT_GE(waits.others[0].seconds, is_scan ? 0 : of_first - 1e-6);
  ASSERT_FALSE(waits.call_sites.empty());
  EXPECT_EQ(waits.call_sites[0].awaited_other, late);
  // There is one critical path, most of it in the sleeping rank.
  const double whole = first.waiting.critical_path_seconds + first.waiting.critical_path_elsewhere_seconds;
  EXPECT_NEAR(second.waiting.critical_path_seconds, first.waiting.critical_path_elsewhere_seconds, 1e-9);
  EXPECT_NEAR(first.waiting.critical_path_seconds, second.waiting.critical_path_elsewhere_seconds, 1e-9);
  const auto& in_ranks = (is_scan ? first : second).waiting.per_rank.critical_path_seconds;
  EXPECT_GE(in_ranks.at(is_scan ? 0 : 1), 20 * 0.008 - 1e-3);
  EXPECT_LE(whole, std::max(first.wall_seconds, second.wall_seconds) * 1.05 + 0.05);
}

std::vector<Case> cases() {
  std::vector<Case> cases{{"wait_nxn", "wait_nxn", "MPI_Allreduce", true, 0, 0},
                          {"neighbours", "wait_nxn", "MPI_Neighbor_alltoall", true, 0, 0, "meet", false, 1},
                          {"wait_barrier", "wait_barrier", "MPI_Barrier", true, 0, 0},
                          {"late_broadcast", "late_broadcast", "MPI_Bcast", true, 0, 0},
                          {"early_reduce", "early_reduce", "MPI_Reduce", true, 0, 0},
                          {"early_scan", "early_scan", "MPI_Scan", true, 0, 0},
                          {"nonblocking_collective", "nonblocking_collective", "MPI_Wait", true, 0, 0},
                          {"late_sender", "late_sender", "MPI_Recv", false, 1, 0, "exchange"},
                          {"late_sender_of_many", "late_sender", "MPI_Waitall", false, 0, 1, "exchange"},
                          {"wrong_order", "wrong_order", "MPI_Recv", false, 2, 0, "exchange"},
                          {"late_receiver", "late_receiver", "MPI_Ssend", false, 1, 0, "exchange"},
                          {"late_post", "late_post", "MPI_Win_start", false, 0, 0, kOfWindow, true},
                          {"early_wait", "early_wait", "MPI_Win_wait", false, 0, 0, kOfWindow, true},
                          {"late_complete", "late_complete", "MPI_Win_wait", false, 0, 0, kOfWindow, true},
                          {"fence", "fence", "MPI_Win_fence", true, 0, 0, kOfWindow}};
#if !MPI_IS_MPICH  // there the target must be inside MPI for a lock to be got
  cases.push_back({"lock", "lock", "MPI_Win_lock", true, 0, 0, kOfWindow});
#endif
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Patterns, WaitsTest, ::testing::ValuesIn(cases()),
                         [](const auto& instance) { return std::string(instance.param.program); });

// The awaited rank computes. The cause is the function that only this rank calls. Its wait for a processor depends on
// the machine.
struct WorkCase {
  const char* name;
  Words command;
  const char* function;
  std::uint32_t rank;
};
void PrintTo(const WorkCase& each, std::ostream* out) { *out << each.name; }

class CausesTest : public LaunchFixture, public ::testing::WithParamInterface<WorkCase> {};

TEST_P(CausesTest, AreTheFunctionsThatMakeARankLate) {
  if (GetParam().command[0] == std::string_view(PYTHON) &&
      run_and_read({PYTHON, "-c", "import mpi4py.MPI"}).status != 0)
    GTEST_SKIP() << "mpi4py is not there, or of another MPI";
  Words launch{"-n", "4"};
  launch.insert(launch.end(), GetParam().command.begin(), GetParam().command.end());
  const auto result = ardoise({"--analyzers", "2"}, launch);
  ASSERT_EQ(result.status, 0) << result.output;
  const auto run = profile();
  ASSERT_EQ(run.applications.size(), 1u);
  const reports::Waiting& waiting = run.applications[0].waiting;
  double all = 0, of_functions = 0, of_function = 0;
  std::string causes;
  for (const reports::WaitCause& cause : waiting.causes) {
    causes +=
        std::to_string(cause.rank) + " " + cause.kind + " " + cause.symbol + " " + std::to_string(cause.seconds) + "\n";
    if (cause.rank != GetParam().rank) continue;
    all += cause.seconds;
    if (cause.kind == "computation") of_functions += cause.seconds;
    if (cause.symbol == GetParam().function) of_function += cause.seconds;
  }
  ASSERT_GT(waiting.per_rank.caused_seconds.size(), GetParam().rank);
  EXPECT_LT(all, 1.001 * waiting.per_rank.caused_seconds[GetParam().rank]) << causes;
  EXPECT_GT(of_function, 0.5 * of_functions) << causes;
  EXPECT_GT(of_function, 0.1 * all) << causes;
}

std::vector<WorkCase> work_cases() {
  std::vector<WorkCase> cases{{"imbalance", {FAULTS_PROGRAM, "imbalance", "."}, "expensive_boundary", 2},
                              {"late_root", {FAULTS_PROGRAM, "late_root", "."}, "compute_parameters", 0},
                              {"late_sender", {FAULTS_PROGRAM, "late_sender", "."}, "prepare_message", 0},
                              {"slow_worker", {FAULTS_PROGRAM, "slow_worker", "."}, "solve_large_block", 3}};
  if (*LATE_WORK_PROGRAM != '\0') cases.push_back({"Fortran", {LATE_WORK_PROGRAM}, "boundary", 3});
  if (*PYTHON != '\0') cases.push_back({"Python", {PYTHON, LATE_WORK_SCRIPT}, "boundary", 3});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Programs, CausesTest, ::testing::ValuesIn(work_cases()),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace ardoise::launcher
