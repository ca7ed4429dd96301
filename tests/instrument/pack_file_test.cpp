// Pack files: written packs come back in order, damaged files end with a sentence.
#include "instrument/format/pack_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/instrument/make_pack.hpp"

namespace ardoise::instrument {
namespace {

class PackFileTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() / ("ardoise_pack_file_" + std::to_string(::getpid()) + "_" +
                                                      testing::UnitTest::GetInstance()->current_test_info()->name());
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void write_two() {
    PackFileWriter writer(path_);
    for (const std::uint64_t sequence : {0u, 1u}) {
      const std::vector<MpiRecord> records(sequence + 1);
      Pack pack = make_record_pack(PackClass::kMpi, std::span(records));
      pack.header().sequence = sequence;
      ASSERT_TRUE(writer.write(pack.bytes()));
    }
  }

  std::filesystem::path path_;
};

TEST_F(PackFileTest, PacksComeBackInOrder) {
  write_two();
  const PackFile file = read_pack_file(path_);
  ASSERT_EQ(file.error, "");
  PackSequence packs(file.bytes());
  EXPECT_EQ(packs.next().value().header().sequence, 0u);
  EXPECT_EQ(packs.next().value().header().record_count, 2u);
  EXPECT_FALSE(packs.next().has_value());
  EXPECT_EQ(packs.error(), "");
}

TEST_F(PackFileTest, TruncatedFileEndsWithAnError) {
  write_two();
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 8);
  const PackFile file = read_pack_file(path_);
  PackSequence packs(file.bytes());
  EXPECT_TRUE(packs.next().has_value());
  EXPECT_FALSE(packs.next().has_value());
  EXPECT_NE(packs.error(), "");
}

TEST_F(PackFileTest, MissingFileIsAnError) { EXPECT_NE(read_pack_file(path_ / "nowhere").error, ""); }

TEST_F(PackFileTest, AFifoIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_NE(read_pack_file(path_).error.find("it is not a regular file"), std::string::npos);
}

TEST_F(PackFileTest, ALinkIsReplacedAndNotFollowed) {
  const std::filesystem::path victim = path_.string() + ".victim";
  std::filesystem::create_symlink(victim, path_);
  write_two();
  EXPECT_FALSE(std::filesystem::exists(victim));
  EXPECT_EQ(read_pack_file(path_).error, "");
}

TEST_F(PackFileTest, WriterThatCannotOpenSaysSo) {
  PackFileWriter writer(path_ / "nowhere" / "file");
  const Pack pack = make_record_pack<MpiRecord>(PackClass::kMpi, {});
  EXPECT_FALSE(writer.write(pack.bytes()));
}

}  // namespace
}  // namespace ardoise::instrument
