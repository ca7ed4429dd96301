// Files of snapshots: written data is read, from any position, in any order of blocks, in any number of files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "knowledge_sources/snapshot_files/block_builder.hpp"
#include "knowledge_sources/snapshot_files/snapshot_reader.hpp"
#include "knowledge_sources/snapshot_files/snapshot_table.hpp"

namespace ardoise::knowledge_sources {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using Block = SnapshotBlock;
using Bytes = std::vector<std::byte>;
// Sums by series, rank, index and function: the whole content of the file.
using Said = std::map<std::tuple<std::string, std::uint32_t, std::uint64_t, std::string>, std::vector<std::uint64_t>>;

const Block::Program kProgram{0, 4, 0, "solver"};

class SnapshotFileTest : public ::testing::Test {
 protected:
  SnapshotFileTest() : path_(std::filesystem::temp_directory_path() / ("snapshots_" + std::to_string(::getpid()))) {}
  ~SnapshotFileTest() override { std::filesystem::remove(path_); }
  std::uint64_t random(std::uint64_t below) {
    return std::uniform_int_distribution<std::uint64_t>(0, below - 1)(random_);
  }

  // A snapshot of a few calls and a value.
  void add_snapshot(BlockBuilder& builder, std::uint32_t rank, std::uint64_t index) {
    Block::Record like;
    like.rank = rank;
    like.index = index;
    like.number = static_cast<std::int64_t>(random(1'000'000)) - 500'000;
    like.begin = static_cast<std::int64_t>(index * 1000);
    like.end = like.begin + 1000;
    like.ns = 1000;
    Block::Record& record = builder.add(kProgram, {0, SeriesKind::kSnapshot, 7, "step"}, like);
    for (std::uint32_t call = 0; call < 5; ++call) {
      Block::Call of;
      of.place = call;
      of.function = "MPI_Call" + std::to_string(call);
      of.thread = call == 4 ? 2 : 0;
      if (random(2) != 0) of.symbol = "main", of.source_file = "/a/ring.cpp", of.line = 31;
      record.calls.push_back(
          {builder.id_of(kProgram, of), 0, {1 + random(9), random(1u << 30), random(1u << 20), random(1u << 29)}});
    }
    record.values.push_back({builder.id_of(kProgram, Block::Value{0, 3, "residual"}), 0, ValueSums::one(0.5)});
  }
  std::vector<Bytes> random_blocks(std::size_t count, std::uint64_t run = 1) {
    std::vector<Bytes> blocks;
    for (std::size_t i = 0; i < count; ++i) {
      BlockBuilder builder(run);
      for (std::uint32_t rank = 0; rank < kProgram.ranks; ++rank) add_snapshot(builder, rank, i);
      blocks.push_back(encode(builder.block()));
    }
    return blocks;
  }
  void write(const std::vector<Bytes>& blocks, std::size_t without_first = 0) {
    Bytes all;
    for (const Bytes& each : blocks) all.insert(all.end(), each.begin(), each.end());
    std::ofstream file(path_, std::ios::binary);
    file.write(reinterpret_cast<const char*>(all.data()) + without_first,
               static_cast<std::streamsize>(all.size() - without_first));
  }
  SnapshotTable table(ReadSnapshots* read = nullptr) {
    SnapshotTable table;
    const auto what = for_each_block(path_, [&](Block&& block, std::span<const std::byte>) { table.add(block); });
    if (read != nullptr) *read = what;
    of_none_ = table.finish();
    return table;
  }
  static Said said(const SnapshotTable& table) {
    Said all;
    for (const auto& [key, snapshots] : table.series()) {
      for (const auto& [rank, records] : snapshots.ranks) {
        for (const Block::Record& record : records) {
          for (const CallCell& cell : record.calls)
            all[{snapshots.name, rank, record.index, table.calls()[cell.id].function}] = {
                cell.sums.calls, cell.sums.ns, cell.sums.bytes, cell.sums.waited,
                static_cast<std::uint64_t>(record.number)};
        }
      }
    }
    return all;
  }

  const std::string path_;
  std::uint64_t of_none_ = 0;
  std::mt19937_64 random_{20261125};
};

TEST_F(SnapshotFileTest, WhatWasWrittenIsRead) {
  BlockBuilder builder(42);
  for (std::uint64_t i = 0; i < 100; ++i) add_snapshot(builder, static_cast<std::uint32_t>(random(4)), i);
  const Block& block = builder.block();
  const Bytes bytes = encode(block);
  SnapshotHead head{};
  ASSERT_TRUE(read_head(bytes, head));
  const Block read = decode(head, std::span(bytes).subspan(kSnapshotHead));
  EXPECT_EQ(read.run, 42u);
  ASSERT_THAT(read.records, SizeIs(100));
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(read.records[i].number, block.records[i].number);
    EXPECT_EQ(read.records[i].begin, block.records[i].begin);
    ASSERT_THAT(read.records[i].calls, SizeIs(5));
    for (std::size_t c = 0; c < 5; ++c) EXPECT_EQ(read.records[i].calls[c].sums, block.records[i].calls[c].sums);
    EXPECT_DOUBLE_EQ(read.records[i].values.at(0).sums.least, 0.5);
  }
  EXPECT_EQ(encode(read), bytes);
}

TEST_F(SnapshotFileTest, AnOlderVersionIsTold) {
  auto blocks = random_blocks(3);
  for (Bytes& each : blocks) each[7] = std::byte{'1'};
  write(blocks);
  ReadSnapshots read;
  EXPECT_TRUE(table(&read).series().empty());
  EXPECT_EQ(read.blocks, 0u);
  EXPECT_TRUE(read.is_of_older_version);
  write(random_blocks(3));
  (void)table(&read);
  EXPECT_EQ(read.blocks, 3u);
  EXPECT_FALSE(read.is_of_older_version);
}

TEST_F(SnapshotFileTest, BlocksMayComeInAnyOrderAndTwice) {
  auto blocks = random_blocks(20);
  write(blocks);
  const SnapshotTable first = table();
  EXPECT_THAT(said(first), SizeIs(20 * 4 * 5));
  EXPECT_EQ(first.calls()[0].symbol, "main") << "one block at least knew it";
  std::ranges::shuffle(blocks, random_);
  blocks.push_back(blocks[3]);
  write(blocks);
  EXPECT_EQ(said(table()), said(first));
}

TEST_F(SnapshotFileTest, SplitByNumberAndMergedItIsTheSame) {
  write(random_blocks(30));
  const SnapshotTable whole = table();
  std::vector<Bytes> parts;
  for (const std::uint64_t part : {2u, 0u, 1u}) {
    for_each_block_of(
        whole, [&](const auto&, const Block::Record& record) { return record.index % 3 == part; },
        [&](const Block& block) { parts.push_back(encode(block)); });
  }
  write(parts);
  EXPECT_EQ(said(table()), said(whole));
}

TEST_F(SnapshotFileTest, FromTheMiddleAllWholeBlocksAreRead) {
  const auto blocks = random_blocks(10);
  for (const std::size_t gone : {std::size_t{1}, blocks[0].size() - 1, blocks[0].size() + 5}) {
    write(blocks, gone);
    ReadSnapshots read;
    (void)table(&read);
    const std::size_t lost = gone <= blocks[0].size() ? 1 : 2;
    EXPECT_EQ(read.blocks, 10 - lost);
    EXPECT_EQ(read.skipped_bytes, (lost == 1 ? blocks[0].size() : blocks[0].size() + blocks[1].size()) - gone);
  }
}

TEST_F(SnapshotFileTest, ABlockIsNoLargerThanItMayBe) {
  Bytes block = random_blocks(1)[0];
  SnapshotHead head{};
  EXPECT_TRUE(read_head(std::span(block).first(kSnapshotHead), head));
  for (const std::size_t size_at : {16u, 20u}) {
    Bytes changed = block;
    const std::uint32_t more = kMostPayload + 1;
    std::memcpy(changed.data() + size_at, &more, sizeof more);
    EXPECT_FALSE(read_head(std::span(changed).first(kSnapshotHead), head));
    write({changed});
    ReadSnapshots read;
    (void)table(&read);
    EXPECT_EQ(read.blocks, 0u);
    EXPECT_EQ(read.skipped_bytes, changed.size());
  }
}

// A block stores a text once, even if all series have that name.
TEST_F(SnapshotFileTest, ALongNameOfEverythingIsNotCopiedWithoutEnd) {
  Block block;
  block.programs.push_back({0, 1, 0, "program"});
  Block::Call call;
  call.stack = std::string(1 << 20, 'x');
  block.calls.assign(1500, call);
  write({encode(block)});
  ReadSnapshots read;
  (void)table(&read);
  EXPECT_EQ(read.blocks, 0u);
  EXPECT_THAT(read.damage, HasSubstr("its names are too long"));
}

TEST_F(SnapshotFileTest, ABlockThatIsBeingWrittenIsUnfinished) {
  auto blocks = random_blocks(3);
  const std::size_t size = blocks[2].size();
  for (const std::size_t left : {std::size_t{1}, std::size_t{10}, kSnapshotHead, size - 1}) {
    auto cut = blocks;
    cut[2].resize(left);
    write(cut);
    ReadSnapshots read;
    (void)table(&read);
    EXPECT_EQ(read.blocks, 2u);
    EXPECT_EQ(read.unfinished_bytes + read.skipped_bytes, left);
  }
}

TEST_F(SnapshotFileTest, ADamagedBlockIsPassedOver) {
  auto blocks = random_blocks(5);
  blocks[2][kSnapshotHead + blocks[2].size() / 3] ^= std::byte{1};
  write(blocks);
  ReadSnapshots read;
  EXPECT_THAT(said(table(&read)), SizeIs(4 * 4 * 5));
  EXPECT_EQ(read.skipped_bytes, blocks[2].size());
  EXPECT_THAT(read.damage, HasSubstr("have changed"));
}

TEST_F(SnapshotFileTest, OtherRunsAreRefused) {
  auto blocks = random_blocks(2);
  blocks.push_back(random_blocks(1, 2)[0]);
  write(blocks);
  EXPECT_THROW((void)table(), SnapshotsOfOtherRun);
}

TEST_F(SnapshotFileTest, LateCallsGoToTheSnapshotOfTheirTime) {
  auto blocks = random_blocks(3);
  BlockBuilder builder(1);
  for (const std::int64_t time : {1500, 9'000}) {
    Block::Record late;
    late.rank = 2;
    late.is_late = true;
    late.begin = late.end = time;
    Block::Call write;
    write.kind = Block::CallKind::kPosix;
    write.function = "write";
    builder.add(kProgram, {0, SeriesKind::kSnapshot, 7, ""}, late)
        .calls.push_back({builder.id_of(kProgram, write), 0, {1, 10, 100}});
  }
  blocks.insert(blocks.begin(), encode(builder.block()));
  write(blocks);
  const Said all = said(table());
  EXPECT_EQ(of_none_, 1u) << "that of a time in which there was no snapshot";
  EXPECT_EQ(all.at({"step", 2, 1, "write"})[2], 100u);
  EXPECT_EQ(std::ranges::count_if(all, [](const auto& each) { return std::get<3>(each.first) == "write"; }), 1);
}

}  // namespace
}  // namespace ardoise::knowledge_sources
