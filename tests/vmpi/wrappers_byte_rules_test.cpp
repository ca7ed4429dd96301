// The byte rules of docs/reference/mpi_functions.md, as numbers.
#include <gtest/gtest.h>

#include <cstdlib>

#include "vmpi/wrappers/byte_rules.hpp"

namespace ardoise::vmpi::byte_rules {
namespace {

// An argument that is not significant: reading it is an error.
std::int64_t garbage() { std::abort(); }

const auto number = [](std::int64_t value) { return [value] { return value; }; };
const Sides kFour{.inter = false, .peers = 4, .rank = 1};
const Sides kInter{.inter = true, .peers = 3, .rank = 0};

TEST(ByteRules, ProductsDoNotOverflow) {
  EXPECT_EQ(bytes(2147483647, 1048576), 2251799812636672);
  EXPECT_EQ(bytes(0, 8), 0);
  EXPECT_EQ(bytes(-1, 8), 0);
}

TEST(ByteRules, BroadcastCountsOnceAtTheRootAndOnceAtEachLeaf) {
  EXPECT_EQ(bcast(Part::kRoot, 40), (Volume{40, 0}));
  EXPECT_EQ(bcast(Part::kLeaf, 40), (Volume{0, 40}));
  EXPECT_EQ(bcast(Part::kBystander, 40), Volume{});
}

TEST(ByteRules, ReduceRootContributesTooUnlessItIsInTheOtherGroup) {
  EXPECT_EQ(reduce(Part::kRoot, kFour, 8), (Volume{8, 8}));
  EXPECT_EQ(reduce(Part::kLeaf, kFour, 8), (Volume{8, 0}));
  EXPECT_EQ(reduce(Part::kRoot, kInter, 8), (Volume{0, 8}));
  EXPECT_EQ(reduce(Part::kBystander, kInter, 8), Volume{});
}

TEST(ByteRules, ExscanGivesNothingToTheFirstRank) {
  EXPECT_EQ(exscan(Sides{.rank = 0}, 8), (Volume{8, 0}));
  EXPECT_EQ(exscan(Sides{.rank = 2}, 8), (Volume{8, 8}));
}

TEST(ByteRules, GatherReadsOnlySignificantArguments) {
  EXPECT_EQ(gather(Part::kLeaf, kFour, false, number(16), garbage, garbage), (Volume{16, 0}));
  EXPECT_EQ(gather(Part::kRoot, kFour, false, number(16), garbage, number(64)), (Volume{16, 64}));
  EXPECT_EQ(gather(Part::kRoot, kFour, true, garbage, number(16), number(64)), (Volume{16, 64}));
  EXPECT_EQ(gather(Part::kRoot, kInter, false, garbage, garbage, number(48)), (Volume{0, 48}));
  EXPECT_EQ(gather(Part::kBystander, kInter, false, garbage, garbage, garbage), Volume{});
}

TEST(ByteRules, ScatterReadsOnlySignificantArguments) {
  EXPECT_EQ(scatter(Part::kLeaf, kFour, false, number(16), garbage, garbage), (Volume{0, 16}));
  EXPECT_EQ(scatter(Part::kRoot, kFour, false, number(16), garbage, number(64)), (Volume{64, 16}));
  EXPECT_EQ(scatter(Part::kRoot, kFour, true, garbage, number(16), number(64)), (Volume{64, 16}));
  EXPECT_EQ(scatter(Part::kRoot, kInter, false, garbage, garbage, number(48)), (Volume{48, 0}));
}

TEST(ByteRules, InPlaceChangesNoNumber) {
  EXPECT_EQ(allgather(false, number(8), garbage, number(32)), allgather(true, garbage, number(8), number(32)));
  EXPECT_EQ(alltoall(false, number(32), number(32)), alltoall(true, garbage, number(32)));
}

TEST(ByteRules, SumsAskEachPeerOnce) {
  EXPECT_EQ(sum(4, [](std::int64_t i) { return i + 1; }), 10);
  EXPECT_EQ(sum(0, [](std::int64_t) { return garbage(); }), 0);
}

}  // namespace
}  // namespace ardoise::vmpi::byte_rules
