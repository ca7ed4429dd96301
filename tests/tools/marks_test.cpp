// Marks and conditions in C, Fortran and Python programs: snapshots are numbered, named, and summed.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>

#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr std::uint64_t kSteps = 40;  // of the program
constexpr std::uint64_t kRanks = 3;

template <class List>
auto sum(const List& list) {
  return std::accumulate(list.begin(), list.end(), typename List::value_type{});
}

const reports::SnapshotSeries& series(const reports::Snapshots& snapshots, const std::string& trigger,
                                      const std::string& name = "") {
  static const reports::SnapshotSeries none;
  const auto found = std::ranges::find_if(
      snapshots.series, [&](const auto& each) { return each.trigger == trigger && each.name == name; });
  return found == snapshots.series.end() ? none : *found;
}

// Over all snapshots, calls and bytes equal those of the profile. Times differ by at most a nanosecond a call and the
// error of the clock's rate at that time.
void expect_all_of_it(const reports::SnapshotSeries& series, const reports::Application& application) {
  for (const auto* const list : {&application.mpi, &application.posix}) {
    for (const reports::FunctionProfile& function : *list) {
      std::uint64_t calls = 0, bytes = 0;
      double seconds = 0;
      for (const reports::SnapshotCalls& each : series.calls) {
        if (each.function != function.function) continue;
        calls += sum(each.calls);
        bytes += sum(each.bytes);
        seconds += sum(each.seconds);
      }
      EXPECT_EQ(calls, function.calls) << series.trigger << " " << function.function;
      EXPECT_EQ(bytes, function.bytes) << series.trigger << " " << function.function;
      EXPECT_NEAR(seconds, function.seconds, 1e-9 * static_cast<double>(calls) + 1e-4 * function.seconds);
    }
  }
  std::map<std::string, double> waiting;  // minus the waits of the program, by function
  for (const reports::SnapshotCalls& each : series.calls) waiting[each.function] += sum(each.waiting_seconds);
  for (const reports::WaitSite& site : application.waiting.call_sites) waiting[site.function] -= site.waiting_seconds;
  for (const auto& [function, seconds] : waiting) EXPECT_NEAR(seconds, 0, 1e-9) << series.trigger << " " << function;
}

class MarksTest : public LaunchFixture, public ::testing::WithParamInterface<std::string> {
 protected:
  reports::Application application_of(const Words& program, Words options = {}) {
    options.insert(options.end(), {"--analyzers", GetParam()});
    Words launch{"-n", std::to_string(kRanks)};
    launch.insert(launch.end(), program.begin(), program.end());
    const auto result = ardoise(options, launch);
    EXPECT_EQ(result.status, 0) << result.output;
    const auto run = profile();
    return run.applications.empty() ? reports::Application{} : run.applications[0];
  }
};
INSTANTIATE_TEST_SUITE_P(Analyzers, MarksTest, ::testing::Values("1", "3"));

TEST_P(MarksTest, SnapshotsPhasesAndValuesAreThere) {
  const auto application = application_of({MARKS_PROGRAM});
  const reports::Snapshots& snapshots = application.snapshots;
  const auto& step = series(snapshots, "snapshot", "step");
  ASSERT_THAT(step.seconds, SizeIs(kSteps + 1));
  EXPECT_EQ(step.ranks, kRanks);
  EXPECT_EQ(step.numbers[0], 100);
  EXPECT_EQ(step.numbers[17], 117);
  // Step 18 sleeps for 300 ms. The first includes the time before the loop, the last the time after it.
  EXPECT_EQ(std::ranges::max_element(step.seconds.begin() + 1, step.seconds.end() - 1) - step.seconds.begin(), 17);
  expect_all_of_it(step, application);
  ASSERT_THAT(step.values, SizeIs(1));
  EXPECT_EQ(step.values[0].name, "residual");
  EXPECT_EQ(step.values[0].count[3], kRanks);
  EXPECT_DOUBLE_EQ(step.values[0].most[3], 0.25);

  const auto& solve = series(snapshots, "phase", "solve");
  EXPECT_EQ(sum(solve.rounds), kSteps);
  ASSERT_THAT(solve.calls, SizeIs(1));
  EXPECT_EQ(solve.calls[0].function, "MPI_Allreduce");
  EXPECT_THAT(solve.calls[0].calls, Each(kRanks));
  const auto& output = series(snapshots, "phase", "output");
  ASSERT_THAT(output.calls, SizeIs(1));
  EXPECT_EQ(output.calls[0].function, "fwrite");
  EXPECT_THAT(output.calls[0].bytes, ElementsAre(3000, 3000, 3000, 3000));

  const auto& level = series(snapshots, "pcontrol");
  EXPECT_THAT(level.numbers, ElementsAre(1, 1, 0));
  EXPECT_EQ(level.symbol, "main");
  expect_all_of_it(level, application);
  expect_all_of_it(series(snapshots, "timer"), application);
  EXPECT_EQ(snapshots.unfinished_phases + snapshots.unbegun_phases + snapshots.marks_of_other_threads, 0u);
}

TEST_P(MarksTest, WhatIsWrongIsCounted) {
  const auto application = application_of({MARKS_PROGRAM, "bad"});
  EXPECT_EQ(application.snapshots.unfinished_phases, kRanks);
  EXPECT_EQ(application.snapshots.unbegun_phases, kRanks);
  const auto& step = series(application.snapshots, "snapshot", "step");
  EXPECT_EQ(sum(step.rounds), kSteps + 1);
  ASSERT_FALSE(step.values.empty());
  std::uint64_t told = 0;
  for (const auto& value : step.values) told += sum(value.count);
  EXPECT_EQ(told, (kSteps - 1 + 5000) * kRanks) << "but for the one before the first mark";
}

TEST_P(MarksTest, ValuesOfAnotherThreadCountAndItCutsNothing) {
  const auto application = application_of({MARKS_PROGRAM, "thread"});
  EXPECT_EQ(application.snapshots.marks_of_other_threads, kRanks);
  const auto& step = series(application.snapshots, "snapshot", "step");
  EXPECT_EQ(sum(step.rounds), kSteps + 1);
  ASSERT_THAT(step.values, SizeIs(2));
  EXPECT_EQ(step.values[0].name, "beside");
  EXPECT_EQ(sum(step.values[0].count), 1000 * kRanks);
  // The second thread makes no MPI calls, so the waits of the first thread are known.
  EXPECT_EQ(application.waiting.unresolved.collective_calls.other, 0u);
}

// Marks stay if calls become sums. Sums are spread over the time in which their calls were made.
TEST_P(MarksTest, WithoutSingleCallsNoneIsLost) {
  const auto application = application_of({MARKS_PROGRAM}, {"--record", "sums"});
  EXPECT_EQ(application.snapshots.ranks_with_sums, kRanks);
  EXPECT_EQ(application.snapshots.ranks_with_gaps, 0u);
  EXPECT_EQ(series(application.snapshots, "iteration").ranks, 0u);
  const auto& step = series(application.snapshots, "snapshot", "step");
  ASSERT_THAT(step.seconds, SizeIs(kSteps + 1));
  EXPECT_EQ(step.numbers[17], 117);
  EXPECT_GT(step.seconds[17], 0.3) << "times are measured, not spread";
  expect_all_of_it(step, application);
  expect_all_of_it(series(application.snapshots, "pcontrol"), application);
}

TEST_P(MarksTest, ConditionsTakeSnapshotsAndMistakesAreNamed) {
  const auto application = application_of(
      {MARKS_PROGRAM}, {"--snapshot-when", "calls(MPI_Allreduce) % 10 == 0", "--snapshot-when",
                        "bytes(fwrite) >= 2 kB since last", "--snapshot-when", "value(residual) < 0.1",
                        "--snapshot-when", "calls(world) % 21 == 0", "--snapshot-when", "value(no) > 1"});
  const auto& tens = series(application.snapshots, "condition", "calls(MPI_Allreduce) % 10 == 0");
  EXPECT_THAT(tens.numbers, ElementsAre(1, 2, 3, 4, 5));
  const auto reduce = std::ranges::find(tens.calls, "MPI_Allreduce", &reports::SnapshotCalls::function);
  ASSERT_NE(reduce, tens.calls.end());
  EXPECT_THAT(reduce->calls, ElementsAre(30, 30, 30, 30, 0));
  expect_all_of_it(tens, application);
  EXPECT_THAT(series(application.snapshots, "condition", "bytes(fwrite) >= 2 kB since last").rounds, SizeIs(3));
  EXPECT_THAT(series(application.snapshots, "condition", "value(residual) < 0.1").rounds, SizeIs(2));
  const auto& in_step = series(application.snapshots, "condition", "calls(world) % 21 == 0");
  EXPECT_THAT(in_step.rounds, SizeIs(3)) << "40 of MPI_Allreduce, 2 of MPI_Barrier";
  EXPECT_EQ(in_step.ranks, kRanks);
  EXPECT_THAT(application.quality.notices,
              Contains("The condition \"value(no) > 1\" (--snapshot-when) never became true."));
  const auto of_all = ardoise({"--snapshot-when", "balance() < 0.5"}, {"-n", "1", MARKS_PROGRAM});
  EXPECT_EQ(of_all.status, 2);
  EXPECT_THAT(of_all.output, HasSubstr("balance() is for --rules"));
  const auto wrong = ardoise({"--snapshot-when", "calls(MPI_Altoall) > 1"}, {"-n", "1", MARKS_PROGRAM});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.output, HasSubstr("\"calls(MPI_Altoall) > 1\" cannot be read at \"MPI_Altoall) > 1\""));
}

// Captured packs give the same result, and other conditions can be tried.
TEST_P(MarksTest, CapturedPacksSayTheSame) {
  const std::string capture = (folder_ / "packs").string(), again = (folder_ / "again").string();
  const auto online =
      application_of({MARKS_PROGRAM}, {"--capture", capture, "--snapshot-when", "calls(MPI_Allreduce) % 10 == 0"});
  const auto replay = [&](const std::string& condition) {
    const auto result = run_and_read(
        {ARDOISE, "report", capture, "--no-report", "--quiet", "--output", again, "--snapshot-when", condition});
    EXPECT_EQ(result.status, 0) << result.output;
    const auto run = reports::read_profile_json(again + "/profile.json");
    EXPECT_TRUE(run) << run.error;
    return run && !run.value->applications.empty() ? run.value->applications[0] : reports::Application{};
  };
  const auto later = replay("calls(MPI_Allreduce) % 10 == 0");
  ASSERT_EQ(later.snapshots.series.size(), online.snapshots.series.size());
  for (std::size_t i = 0; i < later.snapshots.series.size(); ++i) {
    const auto &a = online.snapshots.series[i], &b = later.snapshots.series[i];
    EXPECT_EQ(a.trigger + a.name, b.trigger + b.name);
    EXPECT_EQ(a.rounds, b.rounds);
    EXPECT_EQ(a.numbers, b.numbers);
    ASSERT_EQ(a.calls.size(), b.calls.size()) << a.trigger;
    for (std::size_t call = 0; call < a.calls.size(); ++call) {
      EXPECT_EQ(a.calls[call].function, b.calls[call].function);
      EXPECT_EQ(a.calls[call].calls, b.calls[call].calls);
      EXPECT_EQ(a.calls[call].bytes, b.calls[call].bytes);
      EXPECT_EQ(a.calls[call].seconds, b.calls[call].seconds);
      EXPECT_EQ(a.calls[call].waiting_seconds, b.calls[call].waiting_seconds);
    }
  }
  const auto other = replay("calls(fwrite) > 1 since last");
  EXPECT_THAT(series(other.snapshots, "condition", "calls(fwrite) > 1 since last").rounds, SizeIs(3));
}

// The file has the snapshots of each rank. The sum of a series equals the profile.
TEST_P(MarksTest, AFileHasAllSnapshotsOfAllRanks) {
  const std::string capture = (folder_ / "packs").string(), again = (folder_ / "again").string();
  const auto application = application_of({MARKS_PROGRAM}, {"--snapshot-every", "0.02", "--capture", capture});
  const auto profile_of = [](const std::string& folder, const std::string& trigger,
                             std::map<std::string, double>* waiting = nullptr) {
    const auto said = run_and_read({ARDOISE, "snapshots", "profile", folder, "--csv", "--trigger", trigger});
    EXPECT_EQ(said.status, 0) << said.output;
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> calls;  // number and bytes, by function
    std::istringstream lines(said.output);
    std::string line;
    for (std::getline(lines, line); std::getline(lines, line);) {
      std::vector<std::string> fields;
      std::istringstream of_line(line);
      for (std::string field; std::getline(of_line, field, ',');) fields.push_back(field);
      if (fields.size() != 7) ADD_FAILURE() << line;
      if (fields.size() != 7 || fields[3] == "0") continue;  // a sampled function
      calls[fields[1]].first += std::stoull(fields[3]);
      calls[fields[1]].second += std::stoull(fields[6]);
      if (waiting != nullptr) (*waiting)[fields[1]] += std::stod(fields[5]);
    }
    return calls;
  };
  for (const std::string trigger : {"snapshot", "timer", "pcontrol"}) {
    std::map<std::string, double> waiting;
    const auto calls = profile_of(output_, trigger, &waiting);
    for (const reports::WaitSite& site : application.waiting.call_sites) waiting[site.function] -= site.waiting_seconds;
    for (const auto& [function, seconds] : waiting) EXPECT_NEAR(seconds, 0, 1e-8) << trigger << " " << function;
    std::size_t functions = 0;
    for (const auto* const list : {&application.mpi, &application.posix}) {
      for (const reports::FunctionProfile& function : *list) {
        if (function.calls == 0) continue;
        ++functions;
        EXPECT_EQ(calls.at(function.function), std::pair(function.calls, function.bytes)) << trigger;
      }
    }
    EXPECT_EQ(calls.size(), functions);
  }
  EXPECT_EQ(profile_of(output_, "iteration").at("MPI_Allreduce").first, kSteps * kRanks);

  const auto replayed = run_and_read(
      {ARDOISE, "report", capture, "--no-report", "--quiet", "--output", again, "--snapshot-every", "0.02"});
  EXPECT_EQ(replayed.status, 0) << replayed.output;
  const auto each = [](const std::string& folder) {
    return run_and_read({ARDOISE, "snapshots", "calls", folder, "--csv", "--trigger", "snapshot"}).output;
  };
  EXPECT_EQ(each(output_), each(again));

  // Cutting in three and merging in another order gives the same file; impossible requests are refused.
  const auto cut = [&](const Words& which, const std::string& name) {
    Words words{ARDOISE, "snapshots", "extract", output_, "--trigger", "snapshot", "-o", (folder_ / name).string()};
    words.insert(words.end(), which.begin(), which.end());
    EXPECT_EQ(run_and_read(words).status, 0);
    return (folder_ / name).string();
  };
  const std::string whole = (folder_ / "whole.ards").string();
  const auto merged = run_and_read({ARDOISE, "snapshots", "merge", cut({"--from", "120"}, "c"),
                                    cut({"--to", "119", "--ranks", "0"}, "a"),
                                    cut({"--to", "119", "--ranks", "1-2"}, "b"), "-o", whole});
  EXPECT_EQ(merged.status, 0) << merged.output;
  EXPECT_EQ(each(whole), each(output_));
  const auto other = run_and_read({ARDOISE, "snapshots", "list", output_, again});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.output, HasSubstr("is of another run than"));
  const auto several = run_and_read({ARDOISE, "snapshots", "profile", output_});
  EXPECT_EQ(several.status, 2);
  EXPECT_THAT(several.output, HasSubstr("--trigger phase --name 'solve'"));
  const auto none = run_and_read({ARDOISE, "snapshots", "counters", output_, "--trigger", "snapshot"});
  EXPECT_EQ(none.output,
            "ardoise snapshots: these snapshots have no counters: a run counts the events that --counters names.\n");
}

// The second thread's calls are separate, and its samples have their callers.
TEST_P(MarksTest, AFileOfSnapshotsKnowsThreadsAndStacks) {
  const auto result = ardoise(
      {"--no-report", "--quiet", "--snapshot-every", "0.05", "--analyzers", GetParam(), "--counters", "page-faults"},
      {"-n", "2", MARKS_PROGRAM, "thread"});
  ASSERT_EQ(result.status, 0) << result.output;
  const auto rows = run_and_read({ARDOISE, "snapshots", "calls", output_, "--csv", "--trigger", "timer"});
  EXPECT_EQ(rows.status, 0) << rows.output;
  std::istringstream lines(rows.output);
  std::string line;
  std::map<std::string, std::map<std::string, double>> first, second;  // calls and seconds by function
  for (std::getline(lines, line); std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::istringstream of_line(line);
    for (std::string field; std::getline(of_line, field, ',');) fields.push_back(field);
    ASSERT_EQ(fields.size(), 16u) << line;
    auto& of_function = (fields[9] == "0" ? first : second)[fields[10]];
    EXPECT_THAT(fields[9], AnyOf("0", "1"));
    of_function["calls"] += std::stod(fields[12]);
    of_function["seconds"] += std::stod(fields[13]);
  }
  EXPECT_EQ(first["MPI_Allreduce"]["calls"], 80);
  EXPECT_EQ(first["fopen"]["calls"], 2);
  EXPECT_EQ(second["fopen"]["calls"], 2);
  EXPECT_EQ(second.count("MPI_Allreduce"), 0u);
  EXPECT_EQ(first.count("compute_beside"), 0u);
  EXPECT_NEAR(second["compute_beside"]["seconds"], 0.4, 0.2) << "of two ranks, an estimate";
  const auto stacks = run_and_read({ARDOISE, "snapshots", "stacks", output_, "--trigger", "timer", "--ranks", "1"});
  EXPECT_EQ(stacks.status, 0) << stacks.output;
  EXPECT_THAT(stacks.output, ContainsRegex("mpi_marks;.*tell;compute_beside [0-9]+"));
  const auto counted = run_and_read({ARDOISE, "snapshots", "counters", output_, "--csv", "--trigger", "timer"});
  EXPECT_EQ(counted.status, 0) << counted.output;
  EXPECT_THAT(counted.output,
              StartsWith("program,trigger,name,rank,index,number,rounds,begin_seconds,seconds,counter,count\n"));
  EXPECT_THAT(counted.output, HasSubstr(",page-faults,"));
  const auto run = profile();
  const auto& step = series(run.applications.at(0).snapshots, "snapshot", "step");
  ASSERT_THAT(step.counters, SizeIs(1));
  EXPECT_EQ(step.counters[0].name, "page-faults");
  const auto several = run_and_read({ARDOISE, "snapshots", "stacks", output_});
  EXPECT_EQ(several.status, 2);
}

TEST_P(MarksTest, FortranAndPythonSayTheSame) {
  std::vector<Words> programs;
  if (*FORTRAN_PROGRAM != '\0') programs.push_back({FORTRAN_PROGRAM});
  if (*PYTHON != '\0' && run_and_read({PYTHON, "-c", "import mpi4py.MPI"}).status == 0)
    programs.push_back({PYTHON, PYTHON_PROGRAM});
  if (programs.empty()) GTEST_SKIP() << "neither Fortran nor mpi4py";
  for (const Words& program : programs) {
    const auto application = application_of(program);
    const auto& step = series(application.snapshots, "snapshot", "step");
    ASSERT_THAT(step.numbers, SizeIs(21)) << program[0];
    EXPECT_EQ(step.numbers[0], 1);
    EXPECT_EQ(step.numbers[19], 20);
    ASSERT_THAT(step.values, SizeIs(1));
    EXPECT_DOUBLE_EQ(step.values[0].most[4], 0.2);
    const auto& solve = series(application.snapshots, "phase", "solve");
    EXPECT_EQ(sum(solve.rounds), 20u);
    EXPECT_THAT(series(application.snapshots, "pcontrol").numbers, ElementsAre(1, 2));
  }
}

// Marks need nothing of Ardoise at run time.
TEST_F(LaunchFixture, AProgramWithMarksRunsTheSameWithoutArdoise) {
  const auto alone = by_hand({"-n", "2", MARKS_PROGRAM, "bad"});
  EXPECT_EQ(alone.status, 0);
  const auto observed = ardoise({"--quiet"}, {"-n", "2", MARKS_PROGRAM, "bad"});
  EXPECT_EQ(observed.status, 0);
  EXPECT_EQ(alone.output, observed.output);
}

}  // namespace
}  // namespace ardoise::launcher
