// Entries with keys: each key has one owner, and all boards agree on it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "blackboard/blackboard.hpp"
#include "tests/replay/local_transport.hpp"

namespace ardoise::blackboard {
namespace {

constexpr EntryType kKeyed = entry_type("", "keyed");

EntryRef entry_of(std::uint64_t value) {
  auto entry = make_entry(kKeyed, sizeof value);
  std::memcpy(entry.writable().data(), &value, sizeof value);
  return entry;
}

TEST(Keyed, OwnersHaveAboutAsManyKeysEach) {
  for (const unsigned boards : {1u, 2u, 3u, 7u}) {
    std::vector<int> keys(boards);
    for (std::uint64_t key = 0; key < 7000; ++key) ++keys.at(owner_of(key, boards));
    for (const int count : keys) EXPECT_NEAR(count, 7000.0 / boards, 300);
  }
}

TEST(Keyed, WithoutTransportTheBoardOwnsAllKeys) {
  Blackboard board({.workers = 0, .on_failure = {}});
  int seen = 0;
  board.add({"all", {kKeyed}, [&](const Context&, std::span<EntryRef>) { ++seen; }});
  for (std::uint64_t key = 0; key < 10; ++key) board.submit_keyed(entry_of(key), key);
  board.submit_keyed({}, 3);
  board.drain();
  EXPECT_EQ(seen, 10);
  EXPECT_EQ(board.boards(), 1u);
}

TEST(Keyed, AnEntryRunsOnceWhereItsKeyIsOwnedWhereverItIsSubmitted) {
  constexpr unsigned kBoards = 3;
  constexpr std::uint64_t kKeys = 3000;
  std::vector<std::unique_ptr<Blackboard>> boards;
  std::vector<Blackboard*> pointers;
  for (unsigned i = 0; i < kBoards; ++i) {
    boards.push_back(std::make_unique<Blackboard>(Options{.workers = i, .on_failure = {}}));
    pointers.push_back(boards.back().get());
  }
  replay::LocalTransports transports(pointers);
  std::array<std::array<std::atomic<int>, kKeys>, kBoards> seen{};
  for (unsigned i = 0; i < kBoards; ++i) {
    boards[i]->add({"all", {kKeyed}, [&, i](const Context& context, std::span<EntryRef> entries) {
                      const auto key = entries[0].as<std::uint64_t>();
                      ++seen[i].at(key);
                      // Once more, from there.
                      if (key < kKeys / 2) context.board.submit_keyed(entry_of(key + kKeys / 2), key + kKeys / 2);
                    }});
  }
  for (std::uint64_t key = 0; key < kKeys / 2; ++key) boards[key % kBoards]->submit_keyed(entry_of(key), key);
  transports.settle([] {});
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    for (unsigned i = 0; i < kBoards; ++i) EXPECT_EQ(seen[i][key], i == owner_of(key, kBoards) ? 1 : 0) << key;
  }
  for (const auto& board : boards) EXPECT_EQ(board->bytes(), 0u) << "what has left counts no more";
}

}  // namespace
}  // namespace ardoise::blackboard
