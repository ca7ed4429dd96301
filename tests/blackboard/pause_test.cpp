// Reading a board while no operation runs, and continuing in a copy of the process.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "blackboard/blackboard.hpp"
#include "tests/blackboard/numbers.hpp"

namespace ardoise::blackboard {
namespace {

class PausedBoards : public testing::TestWithParam<unsigned> {
 protected:
  Options options() const { return {.workers = GetParam(), .on_failure = {}}; }
};
INSTANTIATE_TEST_SUITE_P(Workers, PausedBoards, testing::Values(0u, 1u, 2u, 5u));

TEST_P(PausedBoards, NoOperationRunsMeanwhile) {
  Blackboard board(options());
  std::atomic<int> running{0}, ended{0};
  board.add({"source", {kNumber}, [&](const Context&, std::span<EntryRef>) {
               ++running;
               std::this_thread::yield();
               --running;
               ++ended;
             }});
  int stills = 0;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 20; ++i) board.submit(number(i));
    board.while_paused([&] {
      EXPECT_EQ(running, 0);
      const int before = ended;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      EXPECT_EQ(ended, before);
      ++stills;
    });
  }
  board.drain();
  EXPECT_EQ(stills, 100);
  EXPECT_EQ(ended, 2000);
}

TEST_P(PausedBoards, AnActionThatThrowsLetsWorkersGoOn) {
  Blackboard board(options());
  std::atomic<int> ended{0};
  board.add({"source", {kNumber}, [&](const Context&, std::span<EntryRef>) { ++ended; }});
  EXPECT_THROW(board.while_paused([] { throw std::runtime_error("no"); }), std::runtime_error);
  board.submit(number(1));
  board.drain();
  EXPECT_EQ(ended, 1);
}

TEST_P(PausedBoards, RefusesToWaitForTheCallingOperation) {
  Blackboard board(options());
  std::atomic<int> refused{0};
  board.add({"source", {kNumber}, [&](const Context& context, std::span<EntryRef>) {
               EXPECT_THROW(context.board.while_paused([] {}), std::logic_error);
               ++refused;
             }});
  board.submit(number(1));
  board.drain();
  EXPECT_EQ(refused, 1);
}

// Jobs that were pending when the process was copied run in the copy, with their descendants; the original continues
// independently.
TEST_P(PausedBoards, ACopyOfTheProcessEndsWhatIsLeft) {
  Blackboard board(options());
  const EntryType later = entry_type("", "later");
  std::atomic<int> sum{0}, brought{0};
  board.add({"source", {kNumber}, [&](const Context& context, std::span<EntryRef> entries) {
               sum += entries[0].as<int>();
               context.board.submit(number(1, later));
             }});
  board.add({"later", {later}, [&](const Context&, std::span<EntryRef>) { ++brought; }});
  constexpr int kRounds = 5, kEntries = 3000;  // more than FIFOs take
  for (int round = 1; round <= kRounds; ++round) {
    for (int i = 0; i < kEntries; ++i) board.submit(number(2));
    pid_t child = -1;
    board.while_paused([&] { child = ::fork(); });
    if (child == 0) {
      board.continue_without_workers();
      board.drain();
      ::_exit(sum == 2 * kEntries * round && brought == kEntries * round ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "round " << round;
  }
  board.drain();
  EXPECT_EQ(sum, 2 * kRounds * kEntries);
  EXPECT_EQ(brought, kRounds * kEntries);
}

}  // namespace
}  // namespace ardoise::blackboard
