// RequestTable: requests return the posted data, shared handles in the order of posting, reused ones by the time of the
// call.
#include "instrument/record/request_table.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace ardoise::instrument {
namespace {

constexpr std::size_t kTableBin = 65536;
constexpr std::uint64_t kLater = UINT64_MAX;  // begin of a call

Request request(std::uint64_t begin, bool persistent = false) {
  Request made;
  made.post_begin = begin;
  made.persistent = persistent;
  made.active = !persistent;
  return made;
}

class RequestTableTest : public testing::Test {
 protected:
  BinPool pool_{8 * kTableBin, kTableBin};
  RequestTable table_{pool_, false};
};

TEST_F(RequestTableTest, CompletesWhatWasPosted) {
  ASSERT_TRUE(table_.post(100, request(1)));
  ASSERT_TRUE(table_.post(200, request(2)));
  EXPECT_EQ(table_.complete(200, kLater)->post_begin, 2u);
  EXPECT_EQ(table_.complete(100, kLater)->post_begin, 1u);
  EXPECT_FALSE(table_.complete(100, kLater).has_value());
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(RequestTableTest, UnknownRequestsAreNone) {
  EXPECT_FALSE(table_.complete(1, kLater).has_value());
  EXPECT_FALSE(table_.start(1, 0, 0, 0).has_value());
  EXPECT_FALSE(table_.forget(1, kLater).has_value());
}

TEST_F(RequestTableTest, SharedHandleIsFirstInFirstOut) {
  table_.set_shared(7);
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(table_.post(7, request(i)));
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(table_.complete(7, kLater)->post_begin, i);
  EXPECT_FALSE(table_.complete(7, kLater).has_value());
  ASSERT_TRUE(table_.post(7, request(9)));
  EXPECT_EQ(table_.complete(7, kLater)->post_begin, 9u);
}

TEST_F(RequestTableTest, AThreadCompletesItsOwnOfASharedHandleFirst) {
  table_.set_shared(7);
  const auto post = [&](std::uint64_t begin, std::uint32_t thread) {
    Request request;
    request.post_begin = begin;
    request.thread = thread;
    EXPECT_TRUE(table_.post(7, request));
  };
  for (std::uint64_t i = 1; i <= 6; ++i) post(i, static_cast<std::uint32_t>(i % 2));
  EXPECT_EQ(table_.complete(7, kLater, 0)->post_begin, 2u);
  EXPECT_EQ(table_.complete(7, kLater, 1)->post_begin, 1u);
  EXPECT_EQ(table_.complete(7, kLater, 0)->post_begin, 4u);
  EXPECT_EQ(table_.complete(7, kLater, 0)->post_begin, 6u);  // the last one of all
  post(8, 0);
  EXPECT_EQ(table_.forget(7, kLater, 0)->post_begin, 8u);
  EXPECT_EQ(table_.complete(7, kLater, 0)->post_begin, 3u);  // of the other one
  EXPECT_EQ(table_.complete(7, kLater, 1)->post_begin, 5u);
  EXPECT_FALSE(table_.complete(7, kLater, 1).has_value());
  post(9, 1);
  EXPECT_EQ(table_.complete(7, kLater, 1)->post_begin, 9u);
}

TEST_F(RequestTableTest, PersistentRequestsLiveUntilForgotten) {
  ASSERT_TRUE(table_.post(3, request(1, true)));
  EXPECT_FALSE(table_.complete(3, kLater).has_value()) << "was not started";
  EXPECT_EQ(table_.start(3, 50, 77, 9)->post_begin, 50u);
  EXPECT_EQ(table_.complete(3, kLater)->call_site, 77u);
  EXPECT_FALSE(table_.complete(3, kLater).has_value()) << "inactive again";
  EXPECT_TRUE(table_.start(3, 60, 78, 9).has_value());
  EXPECT_TRUE(table_.forget(3, kLater).has_value());
  EXPECT_FALSE(table_.complete(3, kLater).has_value());
}

TEST_F(RequestTableTest, RepostedHandleReplacesOneWhoseEndWasNotSeen) {
  ASSERT_TRUE(table_.post(3, request(1)));
  ASSERT_TRUE(table_.post(3, request(2)));
  EXPECT_EQ(table_.complete(3, kLater)->post_begin, 2u);
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(RequestTableTest, ManyActiveRequestsGoBeyondTheBudget) {
  constexpr std::uint64_t kMany = 20000;
  for (std::uint64_t i = 1; i <= kMany; ++i) ASSERT_TRUE(table_.post(i * 64, request(i)));
  EXPECT_EQ(table_.size(), kMany);
  for (std::uint64_t i = kMany; i >= 1; --i) ASSERT_EQ(table_.complete(i * 64, kLater)->post_begin, i);
}

// MPI reused the handle before its completion was reported; either thread may report first.
TEST(RequestTableThreads, ACallCompletesTheRequestThatHadTheHandleAtItsBegin) {
  for (const bool is_first_told_first : {true, false}) {
    BinPool pool(8 * kTableBin, kTableBin);
    RequestTable table(pool, true);
    Request first = request(1), second = request(2);
    first.post_end = 3;
    second.post_end = 8;  // its call began before that which completes the first one
    ASSERT_TRUE(table.post(3, first));
    ASSERT_TRUE(table.post(3, second));
    if (is_first_told_first) {
      EXPECT_EQ(table.complete(3, 5)->post_begin, 1u);
      EXPECT_EQ(table.complete(3, 9)->post_begin, 2u);
    } else {
      EXPECT_EQ(table.complete(3, 9)->post_begin, 2u);
      EXPECT_EQ(table.complete(3, 5)->post_begin, 1u);
    }
  }
}

// The handle of a persistent request equals that of another thread's receive, whose completion is reported late.
TEST(RequestTableThreads, AStartMeansTheRequestThatHadTheHandleAtItsBegin) {
  BinPool pool(8 * kTableBin, kTableBin);
  RequestTable table(pool, true);
  Request receive = request(1), persistent = request(11, true);
  receive.post_end = 3;
  persistent.post_end = 13;
  ASSERT_TRUE(table.post(3, receive));
  ASSERT_TRUE(table.post(3, persistent));
  EXPECT_TRUE(table.start(3, 20, 77, 9)->persistent);
  EXPECT_FALSE(table.look_up(3, 5)->persistent);
  EXPECT_TRUE(table.look_up(3, 21)->persistent);
  EXPECT_EQ(table.complete(3, 21)->post_begin, 20u);
  EXPECT_TRUE(table.forget(3, 30)->persistent);
  EXPECT_EQ(table.complete(3, 5)->post_begin, 1u);
  EXPECT_EQ(table.size(), 0u);
}

TEST(RequestTableThreads, NothingIsLostBetweenThreads) {
  BinPool pool(8 * kTableBin, kTableBin);
  RequestTable table(pool, true);
  table.set_shared(1);
  constexpr std::uint64_t kThreads = 4, kRounds = 2000;
  std::atomic<std::uint64_t> completed = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < kRounds; ++i) {
        const std::uint64_t own = (t + 1) * 1000 + i % 10;
        if (!table.post(own, request(i)) || !table.post(1, request(i))) return;
        if (table.complete(own, kLater)->post_begin == i) completed.fetch_add(1, std::memory_order_relaxed);
        if (table.complete(1, kLater)) completed.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(completed.load(), 2 * kThreads * kRounds);
  EXPECT_EQ(table.size(), 0u);
}

}  // namespace
}  // namespace ardoise::instrument
