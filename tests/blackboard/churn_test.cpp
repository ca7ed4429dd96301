// Everything at once: submitters, joins, sources that come and go from inside and outside, failures. For the
// sanitizers.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "blackboard/blackboard.hpp"
#include "tests/blackboard/numbers.hpp"

namespace ardoise::blackboard {
namespace {

TEST(Churn, NothingIsLostWhileSourcesComeAndGo) {
  constexpr int kSubmitters = 3;
  constexpr int kEach = 3000;
  std::atomic<int> constant{0}, passing{0}, joined{0}, children{0};
  Counters counters;
  {
    Blackboard board({.workers = 3, .on_failure = {}});
    board.add({"constant", {kind(0)}, [&](const Context& context, std::span<EntryRef> entries) {
                 ++constant;
                 const int value = entries[0].as<int>();
                 if (value % 4 == 0) context.board.submit(number_of_kind(1, value));
                 if (value % 100 == 0) throw std::runtime_error("every hundredth");
               }});
    board.add({"child", {kind(1)}, [&](const Context& context, std::span<EntryRef> entries) {
                 ++children;
                 if (entries[0].as<int>() % 64 != 0) return;
                 // A source that lives for one job and removes itself.
                 const auto id = std::make_shared<std::atomic<std::uint64_t>>(0);
                 *id = context.board
                           .add({"self",
                                 {kind(0)},
                                 [id](const Context& inside, std::span<EntryRef>) {
                                   if (*id != 0) inside.board.remove(SourceId{*id});
                                 }})
                           .value;
               }});
    std::vector<std::thread> threads;
    for (int s = 0; s < kSubmitters; ++s) {
      threads.emplace_back([&board] {
        for (int i = 0; i < kEach; ++i) board.submit(number_of_kind(0, i));
      });
    }
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        auto state = std::make_unique<std::atomic<int>>(0);
        const SourceId single = board.add({"passing", {kind(0)}, [&passing, raw = state.get()](const Context&, auto) {
                                             ++*raw;
                                             ++passing;
                                           }});
        const SourceId join = board.add({"join", {kind(0), kind(1), kind(0)}, [&](const Context&, auto) { ++joined; }});
        std::this_thread::yield();
        EXPECT_TRUE(board.remove(single));
        state.reset();
        EXPECT_TRUE(board.remove(join));
      }
    });
    for (auto& thread : threads) thread.join();
    board.drain();
    counters = board.counters();
    EXPECT_EQ(constant, kSubmitters * kEach);
    EXPECT_EQ(children, kSubmitters * kEach / 4);
    EXPECT_EQ(counters.submitted, static_cast<std::uint64_t>(kSubmitters * kEach * 5 / 4));
    EXPECT_EQ(counters.jobs_failed, static_cast<std::uint64_t>(kSubmitters * kEach / 100));
    EXPECT_EQ(board.bytes(), 0u);
  }
}

// Two sources that remove each other from inside at the same moment must not wait for each other.
TEST(Churn, MutualRemovalFromInsideDoesNotDeadlock) {
  for (int round = 0; round < 200; ++round) {
    Blackboard board({.workers = 2, .on_failure = {}});
    std::atomic<std::uint64_t> ids[2] = {0, 0};
    std::atomic<int> removed{0};
    for (int me = 0; me < 2; ++me) {
      ids[me] = board
                    .add({"rival",
                          {kind(me)},
                          [&, me](const Context& context, std::span<EntryRef>) {
                            removed += context.board.remove(SourceId{ids[1 - me]});
                          }})
                    .value;
    }
    board.submit(number_of_kind(0, 0));
    board.submit(number_of_kind(1, 0));
    board.drain();
    EXPECT_GE(removed, 1);
  }
}

TEST(Churn, BoardsComeAndGo) {
  std::atomic<int> jobs{0};
  EntryRef outlives;
  for (int round = 0; round < 100; ++round) {
    Blackboard board({.workers = static_cast<unsigned>(round % 4), .on_failure = {}});
    board.add({"count", {kind(0)}, [&](const Context&, std::span<EntryRef>) { ++jobs; }});
    EntryRef kept = number_of_kind(0, 1);
    board.submit(kept);
    outlives = kept;
  }
  EXPECT_EQ(jobs, 100);
}

}  // namespace
}  // namespace ardoise::blackboard
