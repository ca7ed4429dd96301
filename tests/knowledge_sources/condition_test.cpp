// Conditions are read, or refused with the position of the fault, and hold when they should.
#include "knowledge_sources/plugins/snapshots/condition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

#include "instrument/format/mark_name.hpp"
#include "knowledge_sources/calls/functions.hpp"
#include "knowledge_sources/plugins/snapshots/rank_conditions.hpp"

namespace ardoise::knowledge_sources {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string fault(const std::string& text) {
  try {
    (void)Condition(text);
    return "";
  } catch (const std::invalid_argument& wrong) {
    return wrong.what();
  }
}

std::uint64_t key_of(const std::string& name, bool is_posix = false) {
  const auto record_class = is_posix ? instrument::PackClass::kPosix : instrument::PackClass::kMpi;
  for (std::uint32_t function = 0; function < 1024; ++function) {
    if (function_info(record_class, function).name == name) return key_of_call(is_posix, function, 7);
  }
  throw std::invalid_argument(name);
}

TEST(Condition, IsArithmeticWithUnits) {
  const auto holds = [](const std::string& text, double value) { return Condition(text).holds({value}); };
  EXPECT_TRUE(holds("calls(MPI_Send) % 10 == 0", 20));
  EXPECT_FALSE(holds("calls(MPI_Send) % 10 == 0", 21));
  EXPECT_TRUE(holds("2 + 3 * (calls(mpi) - 1) / 2 == 8", 5));
  EXPECT_TRUE(holds("10 - 3 - 2 == calls(mpi)", 5));
  EXPECT_TRUE(holds("bytes(io) >= 1.5 GB", 1.5e9));
  EXPECT_TRUE(holds("time(MPI_Wait)>250ms", 0.26));
  EXPECT_TRUE(holds("1 KiB == bytes(read)", 1024));
  EXPECT_TRUE(Condition("calls(mpi) > 5 and time() > 2 min or bytes(io) == 0").holds({6, 121, 9}));
  EXPECT_FALSE(Condition("calls(mpi) > 5 and time() > 2 min or bytes(io) == 0").holds({6, 119, 9}));
  EXPECT_TRUE(Condition("calls(mpi) > 5 and time() > 2 min or bytes(io) == 0").holds({6, 119, 0}));
  EXPECT_FALSE(holds("calls(mpi) / 0 == 1", 5));
  EXPECT_TRUE(Condition("bytes(write) > 1 GB since last").is_since_last());
}

TEST(Condition, AMistakeIsNamedWithItsPlace) {
  EXPECT_THAT(fault("calls(MPI_Sendd) > 1"),
              HasSubstr("at \"MPI_Sendd) > 1\": expected a measured MPI or I/O function"));
  EXPECT_THAT(fault("calls(MPI_Send) >"), HasSubstr("at its end: expected a number"));
  EXPECT_THAT(fault("calls(MPI_Send)"), HasSubstr("expected one of == != < <= > >="));
  EXPECT_THAT(fault("calls() > 1"), HasSubstr("expected the name of a function"));
  EXPECT_THAT(fault("time(io) > 1 s since"), HasSubstr("expected \"last\""));
  EXPECT_THAT(fault("time(io) > 1 s now"), HasSubstr("at \"now\""));
  EXPECT_THAT(fault("1 > 2"), HasSubstr("refers to nothing"));
  EXPECT_THAT(fault(std::string(40, '(') + "1"), HasSubstr("fewer brackets"));
  std::string longest = "calls(mpi)";
  for (int i = 0; i < 200; ++i) longest += " + 1";
  EXPECT_THAT(fault(longest + " > 1"), HasSubstr("a shorter condition"));
}

TEST(Condition, OfAProgramStandsAlone) {
  EXPECT_TRUE(Condition("balance() < 0.8").is_of_program());
  EXPECT_TRUE(Condition("balance(step) < 0.8 and time() > 1 min or balance() < 0.1").is_of_program());
  EXPECT_FALSE(Condition("calls(world) % 100 == 0").is_of_program());
  EXPECT_THAT(fault("balance() < 0.8 and calls(mpi) > 1"),
              HasSubstr("combines balance(), of all ranks, with measures of one rank"));
  EXPECT_THAT(fault("balance() < 0.8 since last"), HasSubstr("which balance() does not support"));
}

TEST(Condition, AnyTextIsReadOrRefused) {
  std::mt19937 random(5);
  const std::string pieces[] = {"calls", "(", ")", "mpi", "io",  " ",    "time",           "1",       "2.5e300",
                                "s",     "%", "<", "==",  "and", "or",   "since",          "last",    "value",
                                "x",     "+", "-", "*",   "/",   "\xff", "bytes(mpi) > 1", "balance", "world"};
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (auto left = random() % 12; left != 0; --left) text += pieces[random() % std::size(pieces)];
    try {
      const Condition condition(text);
      (void)condition.holds(std::vector<double>(condition.variables().size(), 3.5));
    } catch (const std::invalid_argument&) {
    }
  }
}

TEST(RankConditions, BecomeTrueOnceUntilTheyWereNot) {
  const std::vector<Condition> conditions{Condition("calls(MPI_Send) % 3 == 0"),
                                          Condition("bytes(write) >= 10 since last"), Condition("value(x) < 1"),
                                          Condition("time() > 1 s since last")};
  RankConditions rank(conditions);
  std::vector<std::pair<std::uint32_t, std::int64_t>> taken;
  std::int64_t time = 0;
  const auto call = [&](std::uint64_t key, std::uint64_t bytes) {
    time += 100'000'000;
    rank.call(key, time, {1, 5, bytes}, false, [&](std::uint32_t i) { taken.emplace_back(i, time); });
  };
  const auto send = key_of("MPI_Send"), recv = key_of("MPI_Recv"), write = key_of("write", true);
  for (int i = 0; i < 6; ++i) call(send, 8);   // 3rd, 6th
  for (int i = 0; i < 3; ++i) call(recv, 8);   // at 0.6 s it holds still
  for (int i = 0; i < 5; ++i) call(write, 6);  // 2nd, 4th; and 1.1 s have passed
  for (const double x : {2.0, 0.5, 0.2, 3.0, 0.1})
    rank.value(instrument::mark_name_id("x"), x, time, [&](std::uint32_t i) { taken.emplace_back(i, time); });
  std::vector<std::uint32_t> order;
  for (const auto& each : taken) order.push_back(each.first);
  EXPECT_THAT(order, ElementsAre(0, 0, 1, 3, 1, 2, 2));
  EXPECT_EQ(rank.times_held(1), 2);
  const std::vector<Condition> of_counter{Condition("counter(page-faults) >= 10 since last")};
  RankConditions counted(of_counter);
  taken.clear();
  for (const std::uint64_t events : {4u, 5u, 3u, 9u, 1u})  // 12, then 10
    counted.counted(instrument::mark_name_id("page-faults"), events, ++time,
                    [&](std::uint32_t i) { taken.emplace_back(i, time); });
  counted.counted(instrument::mark_name_id("cycles"), 100, ++time,
                  [&](std::uint32_t i) { taken.emplace_back(i, time); });
  EXPECT_EQ(taken.size(), 2u);
  EXPECT_THAT(fault("counter() > 1"), HasSubstr("an event that --counters names"));
  const std::vector<Condition> of_world{Condition("calls(world) % 2 == 0")};
  RankConditions in_world(of_world);
  taken.clear();
  for (const bool is_in_world : {true, false, true, true, false, true})
    in_world.call(recv, ++time, {1, 5, 0}, is_in_world, [&](std::uint32_t i) { taken.emplace_back(i, time); });
  EXPECT_EQ(taken.size(), 2u);
  ByteWriter out;
  rank.write(out);
  const auto bytes = out.take();
  ByteReader in(bytes, "conditions");
  RankConditions copy(conditions);
  copy.read(in);
  EXPECT_EQ(copy.times_held(1), 2);
}

}  // namespace
}  // namespace ardoise::knowledge_sources
