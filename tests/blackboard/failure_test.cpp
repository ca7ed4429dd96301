// Operations that throw fail their own job and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>

#include "blackboard/blackboard.hpp"
#include "tests/blackboard/numbers.hpp"

namespace ardoise::blackboard {
namespace {

class Failures : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Workers, Failures, testing::Values(0u, 2u));

TEST_P(Failures, NameTheSourceAndTheMessageAndSpareTheOthers) {
  std::mutex mutex;
  std::vector<std::pair<std::string, std::string>> reports;
  Blackboard board({.workers = GetParam(), .on_failure = [&](std::string_view name, std::string_view message) {
                      const std::lock_guard lock(mutex);
                      reports.emplace_back(name, message);
                    }});
  std::atomic<int> good{0};
  board.add({"odd@solver", {kNumber}, [](const Context&, std::span<EntryRef> entries) {
               if (entries[0].as<int>() % 2 == 1) throw std::runtime_error("I do not like odd numbers");
             }});
  board.add({"good", {kNumber}, [&](const Context&, std::span<EntryRef>) { ++good; }});
  for (int i = 0; i < 100; ++i) board.submit(make_entry_of(kNumber, i));
  board.drain();
  EXPECT_EQ(good, 100);
  EXPECT_EQ(board.counters().jobs_failed, 50u);
  EXPECT_EQ(board.counters().jobs_run, 200u);
  EXPECT_EQ(reports.size(), 50u);
  EXPECT_THAT(reports, testing::Each(testing::Pair("odd@solver", "I do not like odd numbers")));
  EXPECT_EQ(board.bytes(), 0u);
}

TEST_P(Failures, OfAnyTypeAreCaught) {
  std::string message;
  Blackboard board(
      {.workers = GetParam(), .on_failure = [&](std::string_view, std::string_view what) { message = what; }});
  board.add({"thrower", {kNumber}, [](const Context&, std::span<EntryRef>) { throw 42; }});
  board.submit(make_entry_of(kNumber, 1));
  board.drain();
  EXPECT_EQ(message, "an object other than std::exception");
}

TEST_P(Failures, OfTheReportItselfAreSurvived) {
  Blackboard board({.workers = GetParam(), .on_failure = [](std::string_view, std::string_view) { throw 1; }});
  board.add({"thrower", {kNumber}, [](const Context&, std::span<EntryRef>) { throw std::runtime_error("x"); }});
  for (int i = 0; i < 10; ++i) board.submit(make_entry_of(kNumber, i));
  board.drain();
  EXPECT_EQ(board.counters().jobs_failed, 10u);
}

TEST_P(Failures, WithoutAnyoneToTellAreCounted) {
  Blackboard board({.workers = GetParam(), .on_failure = {}});
  board.add(
      {"thrower", {kNumber, kNumber}, [](const Context&, std::span<EntryRef>) { throw std::runtime_error("x"); }});
  for (int i = 0; i < 10; ++i) board.submit(make_entry_of(kNumber, i));
  board.drain();
  EXPECT_EQ(board.counters().jobs_failed, 5u);
  EXPECT_EQ(board.bytes(), 0u);
}

}  // namespace
}  // namespace ardoise::blackboard
