// The bytes of partial results.
#include "knowledge_sources/containers/byte_stream.hpp"

#include <gtest/gtest.h>

#include "knowledge_sources/containers/sentences.hpp"

namespace ardoise::knowledge_sources {
namespace {

TEST(ByteStream, ReadsWhatWasWritten) {
  ByteWriter out;
  out.put(std::uint32_t{7});
  out.put_text("gr\xC3\xBC\xC3\x9F");
  const std::vector<std::uint64_t> numbers{1, 2, 3};
  out.put_array(std::span<const std::uint64_t>(numbers));
  out.put_array(std::span<const std::uint64_t>());
  const auto bytes = out.take();

  ByteReader in(bytes, "a test");
  EXPECT_EQ(in.get<std::uint32_t>(), 7u);
  EXPECT_EQ(in.get_text(), "gr\xC3\xBC\xC3\x9F");
  EXPECT_EQ(in.get_array<std::uint64_t>(), numbers);
  EXPECT_TRUE(in.get_array<std::uint64_t>().empty());
  EXPECT_NO_THROW(in.expect_end());
}

TEST(ByteStream, EveryTruncationThrows) {
  ByteWriter out;
  out.put(std::uint16_t{1});
  out.put_text("text");
  const std::vector<std::uint32_t> numbers{1, 2};
  out.put_array(std::span<const std::uint32_t>(numbers));
  const auto bytes = out.take();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ByteReader in(std::span<const std::byte>(bytes).first(size), "a test");
    EXPECT_THROW(
        {
          (void)in.get<std::uint16_t>();
          (void)in.get_text();
          (void)in.get_array<std::uint32_t>();
        },
        BadPartial)
        << size;
  }
}

TEST(ByteStream, CountBeyondTheBytesThrowsBeforeAnythingIsAllocated) {
  ByteWriter out;
  out.put_count(std::size_t{1} << 60);
  const auto bytes = out.take();
  ByteReader in(bytes, "a test");
  EXPECT_THROW((void)in.get_array<std::uint64_t>(), BadPartial);
}

TEST(ByteStream, BytesLeftOverThrow) {
  ByteWriter out;
  out.put(std::uint64_t{1});
  const auto bytes = out.take();
  ByteReader in(bytes, "a test");
  (void)in.get<std::uint32_t>();
  EXPECT_THROW(in.expect_end(), BadPartial);
}

TEST(ByteStream, MessageNamesThePartialResult) {
  ByteReader in({}, "topology");
  try {
    in.expect_version(1);
    FAIL();
  } catch (const BadPartial& error) {
    EXPECT_STREQ(error.what(), "The partial result of topology from another analyzer ends too early.");
  }
}

TEST(Sentences, KeepsTheSameOnesInAnyOrder) {
  Sentences forward, backward;
  for (int i = 0; i < 100; ++i) forward.add("sentence " + std::to_string(100 + i));
  for (int i = 99; i >= 0; --i) backward.add("sentence " + std::to_string(100 + i));
  backward.add("sentence 100");
  forward.add("sentence 100");
  EXPECT_EQ(forward.lines(), backward.lines());
  EXPECT_EQ(forward.lines().size(), Sentences::kKept);
  EXPECT_EQ(forward.lines().front(), "sentence 100 (2 times)");
  EXPECT_EQ(forward.total(), 101u);
}

}  // namespace
}  // namespace ardoise::knowledge_sources
