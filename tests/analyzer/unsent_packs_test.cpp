// Files of dead processes: no pack is counted twice, and unreadable files are reported.
#include "analyzer/sources/unsent_packs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "instrument/format/pack_file.hpp"
#include "instrument/format/unsent_files.hpp"
#include "replay/synthetic.hpp"
#include "tests/analyzer/folder_fixture.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class UnsentPacksTest : public FolderTest {
 protected:
  // Writes the packs of one rank and returns their number.
  std::uint64_t leave(std::uint32_t rank, const char* behind_name = "") {
    const replay::SyntheticProgram program{.ranks = 4, .steps = 20};
    instrument::PackFileWriter file(folder_ / (instrument::unsent_file_name(0, rank) + behind_name));
    std::uint64_t packs = 0;
    for (auto& pack : replay::synthetic_packs(program, rank)) {
      EXPECT_TRUE(file.write(std::as_bytes(pack.writable())));
      ++packs;
    }
    return packs;
  }
  static std::uint64_t count(UnsentPacks& unsent) {
    std::uint64_t packs = 0;
    for (SourcedPack pack; unsent.next(pack) == PackSource::Next::pack;) ++packs;
    return packs;
  }
};

TEST_F(UnsentPacksTest, ComeOnce) {
  const std::uint64_t packs = leave(1);
  UnsentPacks unsent(folder_);
  EXPECT_FALSE(unsent.open({0, 2}));
  EXPECT_TRUE(unsent.open({0, 1}));
  EXPECT_EQ(count(unsent), packs);
  EXPECT_TRUE(unsent.open({0, 1}));
  EXPECT_EQ(count(unsent), 0u) << "all have come";
  EXPECT_THAT(unsent.arrived(), ElementsAre(std::pair(ProcessKey{0, 1}, packs)));
}

TEST_F(UnsentPacksTest, WhatHadArrivedIsLeftOut) {
  const std::uint64_t packs = leave(1) + leave(3);
  leave(2, instrument::kUnfinishedSuffix);
  UnsentPacks unsent(folder_, {{{0, 1}, 2}});
  EXPECT_EQ(unsent.open_all(), 2u) << "but for what is not whole";
  EXPECT_EQ(count(unsent), packs - 2);
  EXPECT_THAT(unsent.complaints(), IsEmpty());
}

TEST_F(UnsentPacksTest, ABrokenFileIsSaid) {
  const std::uint64_t packs = leave(0);
  const auto file = folder_ / instrument::unsent_file_name(0, 0);
  fs::resize_file(file, fs::file_size(file) - 8);
  UnsentPacks unsent(folder_);
  EXPECT_TRUE(unsent.open({0, 0}));
  EXPECT_EQ(count(unsent), packs - 1);
  EXPECT_THAT(unsent.complaints(), ElementsAre(HasSubstr("is read only up to a bad pack")));
}

TEST(OutputFolder, IsThatOfTheAnalyzersCommand) {
  using instrument::output_folder_of;
  EXPECT_EQ(output_folder_of("analyzer --quiet --output /a/b --command 'x'"), "/a/b");
  EXPECT_EQ(output_folder_of("analyzer --output /a b"), "/a b");
  EXPECT_EQ(output_folder_of("analyzer --output relative"), "");
  EXPECT_EQ(output_folder_of("analyzer"), "");
}

}  // namespace
}  // namespace ardoise::analyzer
