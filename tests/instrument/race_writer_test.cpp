// Records of races on the disk: written by races/race_writer.hpp, read by format/race_file.hpp; whole, truncated,
// damaged, and as a dying process leaves them.
#include "instrument/races/race_writer.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "instrument/format/race_file.hpp"
#include "tests/rounds.hpp"

namespace ardoise::instrument {
namespace {

namespace fs = std::filesystem;

std::string last_said;
void keep(std::string_view sentence) { last_said = sentence; }

const RaceKey kKey{"MPI_Recv", "/opt/solver", 0x1234, 8};

class RaceWriterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string unique = (fs::path(::testing::TempDir()) / "races_XXXXXX").string();
    ASSERT_NE(::mkdtemp(unique.data()), nullptr);
    folder_ = unique;
    path_ = (folder_ / race_file_name(0, 3)).string();
    last_said.clear();
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string open(RaceWriter& writer, const std::string& path) {
    RaceFileHeader header;
    header.ranks = 8;
    header.rank = 3;
    return writer.open(path, header, "solver", "abc123", "Open MPI");
  }
  static std::vector<char> content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::vector<std::int32_t> source(std::size_t i) { return {static_cast<std::int32_t>(i * i % 31 % 8), 0}; }
  static void write(RaceOutput& output, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) output.add(0, source(i), output.keys() == 0 ? &kKey : nullptr);
  }
  static std::size_t count_right(const RaceFile& file, std::uint32_t stream) {
    RaceStream read(file, stream);
    std::size_t count = 0;
    for (const RaceEntry* entry = nullptr; (entry = read.next()) != nullptr; ++count) {
      if (entry->values != source(count)) return SIZE_MAX;
    }
    return count;
  }

  fs::path folder_;
  std::string path_;
};

TEST_F(RaceWriterTest, WhatThreadsWroteIsRead) {
  constexpr std::size_t kCount = 300'000;  // several blocks
  RaceWriter writer(keep);
  ASSERT_EQ(open(writer, path_), "");
  {
    RaceOutput first(writer, 1), second(writer, 2);
    write(first, kCount);
    write(second, 10);
    first.flush();
    second.flush();
    EXPECT_EQ(first.decisions(), kCount);
  }
  writer.finish({kCount + 10, 2, kSeenAccumulate, RaceEndReason::kFinalized, 0});
  EXPECT_FALSE(fs::exists(path_ + kRaceOpenEnd));
  const auto bytes = content(path_);
  EXPECT_LT(bytes.size(), kCount / 2);  // a decision for one of eight sources
  const RaceFile file(std::as_bytes(std::span(bytes)), std::nullopt);
  ASSERT_EQ(file.error(), "");
  EXPECT_EQ(file.header().ranks, 8u);
  EXPECT_EQ(file.program(), "solver");
  EXPECT_EQ(file.build_id(), "abc123");
  EXPECT_EQ(file.last_stream(), 2u);
  EXPECT_EQ(count_right(file, 1), kCount);
  EXPECT_EQ(count_right(file, 2), 10u);
  EXPECT_EQ(count_right(file, 3), 0u);
  ASSERT_TRUE(file.end());
  EXPECT_EQ(file.end()->seen, kSeenAccumulate);
}

TEST_F(RaceWriterTest, AStreamThatWasFlushedGoesOn) {
  RaceWriter writer(keep);
  ASSERT_EQ(open(writer, path_), "");
  RaceOutput output(writer, 1);
  for (std::size_t i = 0; i < 100; ++i) {
    output.add(0, source(i), output.keys() == 0 ? &kKey : nullptr);
    if (i % 7 == 0) output.flush();
  }
  output.flush();
  writer.finish({});
  const auto bytes = content(path_);
  EXPECT_EQ(count_right(RaceFile(std::as_bytes(std::span(bytes)), std::nullopt), 1), 100u);
}

TEST_F(RaceWriterTest, NothingIsLostWithAProcessThatIsKilled) {
  constexpr std::size_t kCount = 200'001;
  const pid_t child = ::fork();
  if (child == 0) {
    RaceWriter writer(keep);
    if (!open(writer, path_).empty()) ::_exit(1);
    RaceOutput output(writer, 1), tests(writer, 2);
    write(output, kCount);
    for (int i = 0; i < 5000; ++i) tests.add(0, source(0), tests.keys() == 0 ? &kKey : nullptr);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto bytes = content(path_), beside = content(path_ + kRaceOpenEnd);
  const RaceFile file(std::as_bytes(std::span(bytes)), std::as_bytes(std::span(beside)));
  ASSERT_EQ(file.error(), "");
  EXPECT_EQ(file.fault_inside(), "");
  EXPECT_EQ(RaceFile(std::as_bytes(std::span(bytes)), std::nullopt).fault_inside(), "is cut off: it has no end");
  EXPECT_FALSE(file.end());
  EXPECT_EQ(count_right(file, 1), kCount);
  RaceStream tests(file, 2);
  std::size_t repeats = 0;
  while (tests.next() != nullptr) ++repeats;
  EXPECT_EQ(repeats, 5000u);
}

TEST_F(RaceWriterTest, AFullDiskEndsTheRecordAndSaysSo) {
  constexpr std::size_t kCount = 2'000'000;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    RaceWriter writer(keep);
    if (!open(writer, path_).empty()) ::_exit(1);
    RaceOutput output(writer, 1);
    write(output, 1);
    const rlimit limit{200'000, 200'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::mt19937 random(5);
    for (std::size_t i = 1; i < kCount && !writer.failed(); ++i)
      output.add(0, std::vector<std::int32_t>{static_cast<std::int32_t>(random() % 100'000), 0});
    output.flush();
    writer.finish({});
    ::_exit(writer.failed() && last_said.find("incomplete") != std::string::npos ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const auto bytes = content(path_);
  const RaceFile file(std::as_bytes(std::span(bytes)), std::nullopt);
  ASSERT_TRUE(file.end());
  EXPECT_EQ(file.damage(), "");
  EXPECT_EQ(file.end()->why, RaceEndReason::kDiskFailed);
  EXPECT_EQ(file.end()->error, static_cast<std::uint32_t>(EFBIG));
}

TEST_F(RaceWriterTest, ARecordIsNeverOverwritten) {
  RaceWriter first(keep), second(keep);
  ASSERT_EQ(open(first, path_), "");
  EXPECT_NE(open(second, path_).find("already"), std::string::npos);
  RaceWriter nowhere(keep);
  EXPECT_NE(open(nowhere, (folder_ / "none" / "x").string()).find("cannot be recorded"), std::string::npos);
}

TEST_F(RaceWriterTest, DamageIsFoundAndTheBeginningIsRead) {
  constexpr std::size_t kCount = 150'000;
  {
    RaceWriter writer(keep);
    ASSERT_EQ(open(writer, path_), "");
    RaceOutput output(writer, 1);
    write(output, kCount);
    output.flush();
    writer.finish({kCount, 1, 0, RaceEndReason::kFinalized, 0});
  }
  const auto whole = content(path_);
  EXPECT_EQ(RaceFile(std::as_bytes(std::span(whole)), std::nullopt).fault_inside(), "");
  std::mt19937 random(7);
  unsigned without_fault = 0;
  for (unsigned round = 0; round < rounds(300); ++round) {
    auto bytes = whole;
    const std::size_t at = random() % bytes.size();
    if (round % 2 == 0) {
      bytes.resize(at);
    } else {
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    }
    const RaceFile file(std::as_bytes(std::span(bytes)), std::nullopt);
    if (!file.error().empty()) continue;
    const bool is_whole = file.fault_inside().empty();
    RaceStream stream(file, 1);
    std::size_t count = 0;
    for (const RaceEntry* entry = nullptr; (entry = stream.next()) != nullptr; ++count)
      ASSERT_EQ(entry->values, source(count));
    EXPECT_LE(count, kCount);
    // Missing data is reported.
    EXPECT_TRUE(count == kCount || !file.damage().empty() || !stream.is_sound() || !file.end()) << at;
    // Some bits have no meaning.
    if (is_whole && file.end()->why == RaceEndReason::kFinalized) {
      EXPECT_EQ(count, kCount) << at;
    }
    EXPECT_TRUE(!is_whole || round % 2 != 0) << "cut off at " << at;
    without_fault += is_whole ? 1 : 0;
  }
  EXPECT_LT(without_fault, rounds(300) / 4);
}

TEST(RaceFile, HeadersOfOthersAreToldApart) {
  RaceFileHeader header;
  const auto error_of = [](const auto& bytes) {
    return RaceFile(std::as_bytes(std::span(&bytes, 1)), std::nullopt).error();
  };
  EXPECT_EQ(error_of(header), "has no names in its header");
  header.version = 99;
  EXPECT_EQ(error_of(header), "has version 99 of the format, and this Ardoise reads 1");
  header.magic = __builtin_bswap64(kRaceMagic);
  EXPECT_EQ(error_of(header), "was written on a machine of the other byte order");
  header.magic = 1;
  EXPECT_EQ(error_of(header), "is no record of races");
  EXPECT_EQ(RaceFile({}, std::nullopt).error(), "is cut off in its header");
}

}  // namespace
}  // namespace ardoise::instrument
