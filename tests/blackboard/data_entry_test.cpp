// Data entries: ownership of the bytes, counted references, writing by the sole owner only.
#include "blackboard/data_entry.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace ardoise::blackboard {
namespace {

constexpr EntryType kType = entry_type("level", "name");

TEST(EntryType, DependsOnLevelAndNameAndTheirBorder) {
  EXPECT_EQ(entry_type("a", "b"), entry_type("a", "b"));
  EXPECT_NE(entry_type("a", "b"), entry_type("c", "b"));
  EXPECT_NE(entry_type("a", "b"), entry_type("a", "c"));
  EXPECT_NE(entry_type("ab", "c"), entry_type("a", "bc"));
  EXPECT_NE(entry_type("", "ab"), entry_type("ab", ""));
}

TEST(DataEntry, OwnBytesAreAlignedAndWritableByASoleOwner) {
  for (const std::size_t size : {0u, 1u, 63u, 64u, 65u, 1000u, 2000000u}) {
    EntryRef entry = make_entry(kType, size);
    EXPECT_EQ(entry.type(), kType);
    EXPECT_EQ(entry.payload().size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(entry.payload().data()) % 64, 0u);
    ASSERT_EQ(entry.writable().size(), size);
    for (std::byte& b : entry.writable()) b = std::byte{42};
    if (size != 0) {
      EXPECT_EQ(entry.payload().back(), std::byte{42});
    }
  }
}

TEST(DataEntry, IsReadOnlyWhileShared) {
  EntryRef one = make_entry(kType, 8);
  {
    EntryRef two = one;
    EXPECT_EQ(one.use_count(), 2u);
    EXPECT_TRUE(one.writable().empty());
    EXPECT_TRUE(two.writable().empty());
    EXPECT_EQ(two.payload().data(), one.payload().data());
  }
  EXPECT_EQ(one.use_count(), 1u);
  EXPECT_EQ(one.writable().size(), 8u);
}

TEST(DataEntry, ReferencesMoveAndAssign) {
  EntryRef one = make_entry(kType, 8);
  EntryRef two = std::move(one);
  EXPECT_FALSE(one);  // NOLINT: a moved-from reference is empty by contract
  EXPECT_EQ(one.use_count(), 0u);
  one = two;
  EXPECT_EQ(two.use_count(), 2u);
  const EntryRef& itself = one;
  one = itself;
  EXPECT_EQ(two.use_count(), 2u);
  one = EntryRef();
  EXPECT_EQ(two.use_count(), 1u);
}

TEST(DataEntry, AdoptedBytesAreReleasedOnceByTheLastReference) {
  std::array<std::byte, 16> memory{};
  struct Released {
    int times = 0;
    std::span<std::byte> payload;
  } released;
  {
    EntryRef entry = adopt_entry(
        kType, memory,
        [](void* context, std::span<std::byte> payload) noexcept {
          auto& record = *static_cast<Released*>(context);
          ++record.times;
          record.payload = payload;
        },
        &released);
    EntryRef other = entry;
    EXPECT_EQ(entry.payload().data(), memory.data());
    entry = EntryRef();
    EXPECT_EQ(released.times, 0);
    EXPECT_EQ(other.writable().data(), memory.data());
  }
  EXPECT_EQ(released.times, 1);
  EXPECT_EQ(released.payload.data(), memory.data());
  EXPECT_EQ(released.payload.size(), memory.size());
}

TEST(DataEntry, HoldsAValueAndDestroysIt) {
  const auto shared = std::make_shared<std::string>("a value that is too long for the small string buffer");
  struct Holder {
    std::shared_ptr<std::string> pointer;
    EntryRef pack;
  };
  EntryRef pack = make_entry(kType, 100);
  {
    EntryRef entry = make_entry_of(kType, Holder{shared, pack});
    EXPECT_EQ(entry.as<Holder>().pointer->substr(0, 7), "a value");
    EXPECT_EQ(entry.payload().size(), sizeof(Holder));
    EXPECT_EQ(shared.use_count(), 2);
    EXPECT_EQ(pack.use_count(), 2u);
  }
  EXPECT_EQ(shared.use_count(), 1);
  EXPECT_EQ(pack.use_count(), 1u);
}

TEST(DataEntry, AValueThatThrowsInItsMoveLeaksNothing) {
  struct Thrower {
    Thrower() = default;
    Thrower(Thrower&& other) : moves(other.moves + 1) {
      if (moves == 1) throw 1;
    }
    int moves = 0;
  };
  EXPECT_THROW((void)make_entry_of(kType, Thrower{}), int);
}

TEST(DataEntry, LastReferenceOfManyThreadsEndsIt) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds / 100; ++round) {
    std::atomic<int> released{0};
    std::byte memory{};
    {
      EntryRef entry = adopt_entry(
          kType, {&memory, 1},
          [](void* context, std::span<std::byte>) noexcept { ++*static_cast<std::atomic<int>*>(context); }, &released);
      std::vector<std::thread> threads;
      for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([copy = entry] {
          for (int i = 0; i < 100; ++i) {
            const EntryRef more = copy;
            ASSERT_GE(more.use_count(), 2u);
          }
        });
      }
      entry = EntryRef();
      for (auto& thread : threads) thread.join();
    }
    ASSERT_EQ(released, 1);
  }
}

// Entries are made here and released there, the path of the pool's magazines and depot.
TEST(DataEntry, BlocksTravelBetweenThreads) {
  constexpr int kBatches = 50;
  for (int batch = 0; batch < kBatches; ++batch) {
    std::vector<EntryRef> entries;
    for (int i = 0; i < 1000; ++i) entries.push_back(make_entry_of(kType, std::pair<int, int>{batch, i}));
    std::thread([&entries, batch] {
      int next = 0;
      for (EntryRef& entry : entries) {
        ASSERT_EQ((entry.as<std::pair<int, int>>()), (std::pair<int, int>{batch, next++}));
        entry = EntryRef();
      }
    }).join();
  }
}

}  // namespace
}  // namespace ardoise::blackboard
