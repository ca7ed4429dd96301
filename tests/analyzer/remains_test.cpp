// What is left of processes: nothing is counted twice, what cannot be read is said.
#include "analyzer/sources/remains.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "instrument/format/pack_file.hpp"
#include "instrument/format/remains.hpp"
#include "replay/synthetic.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RemainsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              (std::string("remains_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::permissions(folder_, fs::perms{0700});
  }
  void TearDown() override { fs::remove_all(folder_); }

  // The packs of one rank. How many.
  std::uint64_t leave(std::uint32_t rank, const char* behind_name = "") {
    const replay::SyntheticProgram program{.ranks = 4, .steps = 20};
    instrument::PackFileWriter file(folder_ / (instrument::remains_name(0, rank) + behind_name));
    std::uint64_t packs = 0;
    for (auto& pack : replay::synthetic_packs(program, rank)) {
      EXPECT_TRUE(file.write(std::as_bytes(pack.writable())));
      ++packs;
    }
    return packs;
  }
  static std::uint64_t count(Remains& remains) {
    std::uint64_t packs = 0;
    for (SourcedPack pack; remains.next(pack) == PackSource::Next::pack;) ++packs;
    return packs;
  }

  fs::path folder_;
};

TEST_F(RemainsTest, ComeOnce) {
  const std::uint64_t packs = leave(1);
  Remains remains(folder_);
  EXPECT_FALSE(remains.open({0, 2}));
  EXPECT_TRUE(remains.open({0, 1}));
  EXPECT_EQ(count(remains), packs);
  EXPECT_TRUE(remains.open({0, 1}));
  EXPECT_EQ(count(remains), 0u) << "all have come";
  EXPECT_THAT(remains.arrived(), ElementsAre(std::pair(ProcessKey{0, 1}, packs)));
}

TEST_F(RemainsTest, WhatHadArrivedIsLeftOut) {
  const std::uint64_t packs = leave(1) + leave(3);
  leave(2, instrument::kUnfinishedRemains);
  Remains remains(folder_, {{{0, 1}, 2}});
  EXPECT_EQ(remains.open_all(), 2u) << "but for what is not whole";
  EXPECT_EQ(count(remains), packs - 2);
  EXPECT_THAT(remains.complaints(), IsEmpty());
}

TEST_F(RemainsTest, ABrokenFileIsSaid) {
  const std::uint64_t packs = leave(0);
  const auto file = folder_ / instrument::remains_name(0, 0);
  fs::resize_file(file, fs::file_size(file) - 8);
  Remains remains(folder_);
  EXPECT_TRUE(remains.open({0, 0}));
  EXPECT_EQ(count(remains), packs - 1);
  EXPECT_THAT(remains.complaints(), ElementsAre(HasSubstr("is read only up to a bad pack")));
}

TEST(RemainsFolder, IsThatOfTheAnalyzersCommand) {
  using instrument::remains_folder;
  EXPECT_EQ(remains_folder("analyzer --quiet --output /a/b --command 'x'"), "/a/b");
  EXPECT_EQ(remains_folder("analyzer --output /a b"), "/a b");
  EXPECT_EQ(remains_folder("analyzer --output relative"), "");
  EXPECT_EQ(remains_folder("analyzer"), "");
}

}  // namespace
}  // namespace ardoise::analyzer
