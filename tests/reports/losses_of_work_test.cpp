// Losses of work: before the main loop, growing, or disturbed; and pauses that look like polling.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>

#include "reports/findings/file_view.hpp"
#include "reports/losses/round_shape.hpp"
#include "tests/reports/losses_by_code.hpp"
#include "tests/reports/two_ranks.hpp"

namespace ardoise::reports {
namespace {

using testing::add_part;
using ::testing::HasSubstr;
using testing::losses_by_code;
using testing::two_ranks;

// Half of the run is before the first iteration.
TEST(LossesOfWork, WorkOfAllRanksBeforeTheMainLoop) {
  const auto text = [](double of_rank_1) {
    Application a = two_ranks({10, 10}, {0, 0});
    a.per_rank.asleep_outside = {0, 0};
    add_part(a, "computation", 10).symbol = "advance";
    SampleProfile& s = a.samples;
    s.unit = "seconds";
    s.samples = 1000;
    s.self = 20;
    for (const char* const symbol : {"make_table", "advance"}) {
      SampledFunction& f = s.functions.emplace_back();
      f.symbol = symbol;
      f.kind = "code";
      f.self = 10;
      f.rank_max = 5;
      f.rank_min = of_rank_1;
    }
    SnapshotSeries& loop = a.snapshots.series.emplace_back();
    loop.trigger = "iteration";
    loop.rounds.assign(50, 1);
    for (int i = 0; i < 50; ++i) {
      loop.begin_seconds.push_back(5 + 0.1 * i);
      loop.seconds.push_back(0.1);
    }
    SnapshotFunction& f = loop.functions.emplace_back();
    f.symbol = "make_table";
    f.seconds.assign(50, 0);
    f.seconds[0] = 10;
    const auto losses = losses_by_code(a);
    return losses.contains("cpu.hot") ? losses.at("cpu.hot").text : "";
  };
  EXPECT_THAT(text(5), HasSubstr("All ranks work for 5.00 s before the main loop, most in make_table"));
  EXPECT_THAT(text(1), ::testing::Not(HasSubstr("main loop"))) << "ranks differ";
}

// 100 iterations of two ranks; the last takes `growth` times as long as the first.
Application growing(double growth, bool of_both) {
  Application a = two_ranks({10, 10}, {0, 0});
  a.per_rank.asleep_outside = {0, 0};
  add_part(a, "computation", 10).symbol = "search";
  SnapshotSeries& loop = a.snapshots.series.emplace_back();
  loop.trigger = "iteration";
  loop.ranks = loop.groups = 2;
  loop.rounds.assign(100, 10);
  for (int group = 0; group < 2; ++group) {
    for (int i = 0; i < 100; ++i) {
      const double seconds = 0.05 * (1 + (group == 0 || of_both ? (growth - 1) * i / 99 : 0));
      if (group == 0) {
        loop.begin_seconds.push_back(0.1 * i);
        loop.seconds.push_back(seconds);
      }
      loop.own_seconds.push_back(seconds);
    }
  }
  return a;
}

TEST(LossesOfWork, WorkOfAllRanksThatGrows) {
  const auto losses = losses_by_code(growing(3, true));
  ASSERT_TRUE(losses.contains("cpu.growing"));
  EXPECT_THAT(losses.at("cpu.growing").text, HasSubstr("in the last fifth of the 1,000 iterations"));
  EXPECT_NEAR(losses.at("cpu.growing").ceiling, 4, 0.3) << "above the first fifth";
  EXPECT_FALSE(losses.at("cpu.growing").is_usual);
  Application meant = growing(3, true);
  for (const double seconds : meant.snapshots.series[0].own_seconds)
    meant.snapshots.series[0].group_bytes.push_back(1e6 * seconds);
  EXPECT_TRUE(losses_by_code(meant).at("cpu.growing").is_usual) << "as many more bytes are exchanged";
  EXPECT_FALSE(losses_by_code(growing(1.1, true)).contains("cpu.growing"));
  EXPECT_FALSE(losses_by_code(growing(3, false)).contains("cpu.growing")) << "one rank alone";
  Application loaded = growing(3, true);
  loaded.snapshots.series[0].group_cpu_seconds.assign(200, 0.05);
  EXPECT_FALSE(losses_by_code(loaded).contains("cpu.growing")) << "no more CPU time";
}

// 100 snapshots of 10 rounds; rank 0 needs 10 ms more in each round where `part` is 1.
RoundShape shape_of(const std::function<double(int)>& part) {
  Application a = growing(1, true);
  a.snapshots.series[0].seconds.assign(100, 0.1);
  int i = 0;
  for (double& seconds : std::span(a.snapshots.series[0].own_seconds).first(100)) {
    seconds += 0.1 * part(i) + (i % 3) * 1e-4;
    ++i;
  }
  return round_shape(a).value_or(RoundShape{});
}

TEST(LossesOfWork, ALateRankGrowsOrChanges) {
  const RoundShape line = shape_of([](int i) { return i / 99.; });
  EXPECT_EQ(line.shape, Shape::growing);
  EXPECT_NEAR(line.after, 5e-3, 0.5e-3) << "above the mean of both ranks, a round";
  EXPECT_EQ(shape_of([](int i) { return std::min(1., i / 30.); }).shape, Shape::growing) << "up to a level";
  const RoundShape step = shape_of([](int i) { return i < 40 ? 0. : 1.; });
  EXPECT_EQ(step.shape, Shape::changed);
  EXPECT_EQ(step.from, 40u);
  EXPECT_NEAR(step.after, 5e-3, 0.2e-3);
  EXPECT_EQ(shape_of([](int i) { return i < 40   ? 0.
                                        : i < 42 ? 0.5
                                                 : 1.; }).shape, Shape::changed)
      << "within two rounds";
}

// Both ranks sleep for 5 s; they test 1,000 times for transfers that take `flight` in all.
TEST(LossesOfWork, PausesWithoutTransfersAreNoPolling) {
  const auto codes = [](double flight) {
    Application a = two_ranks({5, 5}, {0, 0});
    add_part(a, "other", 5);
    add_part(a, "computation", 5).symbol = "evolve";
    CallSite& tests = a.call_sites.emplace_back();
    tests.function = "MPI_Testall";
    tests.calls = 1000;
    tests.ranks = 2;
    CallSite& start = a.call_sites.emplace_back();
    start.function = "MPI_Irecv";
    start.calls = start.operations = 400;
    start.ranks = 2;
    start.flight_seconds = flight;
    a.edges.emplace_back().messages = 400;
    return losses_by_code(a);
  };
  EXPECT_TRUE(codes(9).contains("poll.sleep"));
  EXPECT_FALSE(codes(1).contains("poll.sleep")) << "a device works for them";
}

// 1 s of each rank without a processor, on a host with two for two ranks.
TEST(LossesOfWork, TheAnalyzerMayBeTheOtherLoad) {
  const auto loss = [](double analyzer) {
    Application a = two_ranks({9, 9}, {1, 1});
    a.per_rank.asleep_outside = {0, 0};
    a.quality.analyzer_cpu_seconds = analyzer;
    add_part(a, "computation", 9).symbol = "evolve";
    add_part(a, "other", 1);
    const auto losses = losses_by_code(a);
    return losses.contains("node.foreign") ? losses.at("node.foreign") : Loss{};
  };
  EXPECT_THAT(loss(1.5).text, HasSubstr("the analyzer of this tool used 1.50 s of CPU time there"));
  EXPECT_THAT(loss(1.5).advice, HasSubstr("Leave a processor"));
  EXPECT_THAT(loss(0.1).text, HasSubstr("other programs run there"));
}

TEST(LossesOfWork, ATableThatIsReadAgain) {
  Application a = two_ranks({10, 10}, {0, 0});
  const auto add = [&](const char* path, std::uint64_t opens, std::uint64_t read, std::uint64_t written) {
    FileProfile& file = a.files.emplace_back();
    file.path = path;
    file.opens = opens;
    file.bytes_read = read;
    file.bytes_written = written;
    file.ranks = 2;
  };
  add("/data/table.txt", 15'000, 1'000'000, 0);
  add("/data/out.txt", 2'000, 0, 1'000'000);
  ASSERT_NE(read_again(a), nullptr);
  EXPECT_EQ(read_again(a)->path, "/data/table.txt");
  a.files[0].opens = 4;
  EXPECT_EQ(read_again(a), nullptr);
  a.files[0].opens = 1000;
  EXPECT_EQ(read_again(a), nullptr) << "most opens are of output";
}

// Two ranks, bound to a processor each, with two threads that work.
TEST(LossesOfWork, ThreadsThatUseTheProcessorsOfTheirRankUp) {
  const auto code = [](double of_process) {
    Application a = two_ranks({5, 5}, {5, 5});
    a.per_rank.asleep_outside = {0, 0};
    a.per_rank.process_cpu_seconds = {of_process, of_process};
    a.per_rank.processors = {1, 1};
    a.per_rank.first_processor = {0, 1};
    add_part(a, "computation", 5).symbol = "evolve";
    add_part(a, "other", 5);
    const auto losses = losses_by_code(a);
    return losses.contains("node.oversub")   ? losses.at("node.oversub").text
           : losses.contains("node.foreign") ? "foreign"
                                             : "";
  };
  EXPECT_THAT(code(10), HasSubstr("the threads of a rank use all of its only processor"));
  EXPECT_EQ(code(5), "foreign");
}

}  // namespace
}  // namespace ardoise::reports
