// Decisions to bytes and back (format/race_tokens.hpp): written bytes are readable, and invalid bytes end the stream.
#include "instrument/format/race_tokens.hpp"

#include <gtest/gtest.h>

#include <random>

namespace ardoise::instrument {
namespace {

class Pieces final : public RaceBytes {
 public:
  explicit Pieces(std::vector<std::byte> bytes, std::size_t piece = SIZE_MAX)
      : bytes_(std::move(bytes)), piece_(piece) {}
  std::span<const std::byte> next_piece() override {
    const auto piece = std::span<const std::byte>(bytes_).subspan(at_, std::min(piece_, bytes_.size() - at_));
    at_ += piece.size();
    return piece;
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t piece_, at_ = 0;
};

const RaceKey kKey{"MPI_Recv", "/opt/solver", 0x1234, 8};

// As in race_writer.cpp.
struct Stream {
  std::vector<std::byte> bytes;
  std::uint32_t repeats = 0;
  RaceEncoder encoder;
  void add(std::uint32_t key, const std::vector<std::int32_t>& values) {
    RaceKey made = kKey;
    made.offset += key;
    const auto token = encoder.add(key, values, repeats, &made);
    repeats = token.empty() ? repeats + 1 : 0;
    bytes.insert(bytes.end(), token.begin(), token.end());
  }
  void end() {
    const auto token = encoder.repeats(std::exchange(repeats, 0));
    bytes.insert(bytes.end(), token.begin(), token.end());
  }
};

std::vector<RaceEntry> decoded(RaceDecoder& decoder) {
  std::vector<RaceEntry> entries;
  while (const RaceEntry* const entry = decoder.next()) entries.push_back(*entry);
  return entries;
}

std::vector<RaceEntry> random_entries(std::uint32_t seed, std::size_t count, std::int32_t variety) {
  std::mt19937 random(seed);
  std::vector<RaceEntry> entries;
  std::uint32_t keys = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!entries.empty() && random() % 3 == 0) {
      entries.push_back(entries.back());
      continue;
    }
    RaceEntry entry{static_cast<std::uint32_t>(random() % 20), {}};
    entry.key = std::min(entry.key, keys);
    keys = std::max(keys, entry.key + 1);
    for (std::size_t n = random() % 4; n > 0; --n)
      entry.values.push_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(variety)) - variety / 2);
    if (random() % 500 == 0) entry.values = {INT32_MIN, INT32_MAX};
    entries.push_back(entry);
  }
  return entries;
}

TEST(RaceTokens, WhatIsWrittenIsRead) {
  for (const std::int32_t variety : {2, 8, 100, 1'000'000}) {
    const auto entries = random_entries(static_cast<std::uint32_t>(variety), 30'000, variety);
    Stream stream;
    for (const auto& entry : entries) stream.add(entry.key, entry.values);
    stream.end();
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, SIZE_MAX}) {
      Pieces pieces(stream.bytes, piece);
      RaceDecoder decoder(pieces);
      EXPECT_EQ(decoded(decoder), entries) << variety;
      EXPECT_TRUE(decoder.is_sound());
      ASSERT_FALSE(decoder.keys().empty());
      EXPECT_EQ(decoder.keys().front(), kKey);
    }
  }
}

TEST(RaceTokens, OneOfEightSourcesIsAByte) {
  Stream stream;
  std::mt19937 random(1);
  for (int i = 0; i < 10'000; ++i) stream.add(0, {static_cast<std::int32_t>(random() % 8), 0});
  stream.end();
  EXPECT_LT(stream.bytes.size(), 10'200u);
}

TEST(RaceTokens, ARunOfFailedTestsIsOneToken) {
  Stream stream;
  stream.add(0, {0});
  const std::size_t one = stream.bytes.size();
  for (int i = 0; i < 1'000'000; ++i) stream.add(0, {0});
  stream.end();
  EXPECT_LE(stream.bytes.size(), one + 4);
  Pieces pieces(stream.bytes);
  RaceDecoder decoder(pieces);
  EXPECT_EQ(decoded(decoder).size(), 1'000'001u);
}

TEST(RaceTokens, RepeatsThatWereNotYetWrittenCount) {
  Stream stream;
  stream.add(0, {5});
  Pieces pieces(stream.bytes);
  RaceDecoder decoder(pieces);
  decoder.add_repeats(3);
  EXPECT_EQ(decoded(decoder).size(), 4u);
}

TEST(RaceTokens, CutOffAnywhereTheBeginningIsRead) {
  const auto entries = random_entries(3, 300, 1000);
  Stream stream;
  for (const auto& entry : entries) stream.add(entry.key, entry.values);
  stream.end();
  for (std::size_t size = 0; size < stream.bytes.size(); ++size) {
    Pieces pieces({stream.bytes.begin(), stream.bytes.begin() + static_cast<std::ptrdiff_t>(size)});
    RaceDecoder decoder(pieces);
    const auto read = decoded(decoder);
    ASSERT_LE(read.size(), entries.size());
    ASSERT_TRUE(std::equal(read.begin(), read.end(), entries.begin()));
  }
}

TEST(RaceTokens, AnyBytesComeToAnEnd) {
  std::mt19937 random(9);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes(random() % 64);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random() % 4 == 0 ? 0xF0 + random() % 16 : random() % 8);
    Pieces pieces(bytes);
    RaceDecoder decoder(pieces);
    for (int i = 0; i < 1000 && decoder.next() != nullptr; ++i) {
    }
    for (const auto& key : decoder.keys()) ASSERT_LE(key.function.size(), 64u);
  }
}

TEST(RaceTokens, RepeatsAreCountedWithoutTakingThem) {
  Pieces pieces({std::byte{0xF2}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0},
                 std::byte{0xF1}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF},
                 std::byte{0xFF}, std::byte{0x7F}});
  RaceDecoder decoder(pieces);
  std::uint64_t decisions = 0;
  while (decoder.next() != nullptr) decisions += 1 + decoder.skip_repeats();
  EXPECT_EQ(decisions, 1 + (std::uint64_t{1} << 49) - 1);
  EXPECT_TRUE(decoder.is_sound());
}

// Zeros without end: as zstd unpacks them.
class Zeros final : public RaceBytes {
 public:
  // Each piece: a decision of `values` values, 0, with texts of a new key of so many bytes each.
  Zeros(std::uint64_t values, std::uint64_t text) : values_(values), text_(text) {}
  std::span<const std::byte> next_piece() override {
    bytes_.clear();
    bytes_.push_back(std::byte{0xF2});
    put(text_ != 0 ? number_ : 0);
    if (text_ != 0 || number_ == 0) {
      for (int i = 0; i < 2; ++i) {
        put(text_);
        bytes_.resize(bytes_.size() + text_);
      }
      put(0);
      put(0);
    }
    put(values_);
    bytes_.resize(bytes_.size() + values_);
    ++number_;
    return bytes_;
  }

 private:
  void put(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<std::byte>(value | 0x80));
    bytes_.push_back(static_cast<std::byte>(value));
  }
  std::uint64_t values_, text_, number_ = 0;
  std::vector<std::byte> bytes_;
};

TEST(RaceTokens, TheDictionaryOfAStreamIsBounded) {
  Zeros values(1 << 20, 0), texts(0, 4096);
  for (RaceBytes* const bytes : std::initializer_list<RaceBytes*>{&values, &texts}) {
    RaceDecoder decoder(*bytes);
    std::size_t decisions = 0;
    while (decisions < 10'000 && decoder.next() != nullptr) ++decisions;
    EXPECT_FALSE(decoder.is_sound());
    EXPECT_EQ(decisions, bytes == &values ? 64u : 8192u);
  }
}

TEST(RaceTokens, TheFirstTokenCannotRefer) {
  for (const unsigned first : {0x00u, 0xF0u, 0xF1u, 0xF3u, 0xFFu}) {
    Pieces pieces({static_cast<std::byte>(first), std::byte{1}});
    RaceDecoder decoder(pieces);
    EXPECT_EQ(decoder.next(), nullptr);
    EXPECT_FALSE(decoder.is_sound()) << first;
  }
}

}  // namespace
}  // namespace ardoise::instrument
