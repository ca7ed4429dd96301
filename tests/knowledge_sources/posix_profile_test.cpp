// The profile of POSIX input and output.
#include "fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::PosixFunction;
using namespace std::string_view_literals;

instrument::PosixRecord record(PosixFunction function, std::uint32_t file, std::uint32_t ticks, std::uint64_t bytes) {
  return {2000, ticks, 9, file, id(function), 0, bytes};
}

TEST(PosixProfile, ByFunctionAndFile) {
  Session session({{0, "program", 3}});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PackMaker maker({.rank = rank});
    maker.posix(record(PosixFunction::kOpen, 1 + rank, 100, 0));
    maker.posix(record(PosixFunction::kRead, 1 + rank, 200, 10));
    maker.posix(record(PosixFunction::kWrite, 1 + rank, 300, 20));
    maker.posix(record(PosixFunction::kWrite, 9, 1, 5));                      // no definition of file 9
    maker.define(instrument::FileDefinition{1 + rank, 0}, "/data/shared"sv);  // numbers are local to the process
    maker.flush();
    session.submit(maker.take());
  }
  const auto application = session.application();
  const auto& write = find(application.posix, "write");
  EXPECT_EQ(write.calls, 4u);
  EXPECT_EQ(write.category, "write");
  EXPECT_EQ(write.bytes_sent, 50u);
  EXPECT_EQ(write.bytes_received, 0u);
  EXPECT_NEAR(write.seconds, 602 * kNs, 1e-15);
  EXPECT_EQ(find(application.posix, "read").bytes_received, 20u);
  ASSERT_EQ(application.files.size(), 2u);
  const auto& shared = application.files[0];
  EXPECT_EQ(shared.path, "/data/shared");
  EXPECT_EQ(shared.opens, 2u);
  EXPECT_EQ(shared.reads, 2u);
  EXPECT_EQ(shared.writes, 2u);
  EXPECT_EQ(shared.calls, 6u);
  EXPECT_EQ(shared.bytes_read, 20u);
  EXPECT_EQ(shared.bytes_written, 40u);
  EXPECT_EQ(shared.ranks, 2u);
  EXPECT_NEAR(shared.seconds, 1200 * kNs, 1e-15);
  EXPECT_EQ(application.files[1].path, "(unknown file)");
  EXPECT_EQ(find(application.call_sites, "write").calls, 4u);
  EXPECT_THAT(application.per_rank.io_seconds,
              testing::ElementsAre(testing::DoubleNear(601 * kNs, 1e-15), testing::DoubleNear(601 * kNs, 1e-15), 0.0));
}

TEST(PosixProfile, UnknownFunctionsAreLeftOut) {
  PackMaker maker({});
  maker.posix({2000, 10, 9, 1, 60'000, 0, 1});
  maker.flush();
  Session session({{0, "program", 1}});
  session.submit(maker.take());
  EXPECT_TRUE(session.application().posix.empty());
}

TEST(PosixProfile, ManyFilesInOnePack) {
  PackMaker maker({}, 10'000);
  for (std::uint32_t file = 1; file <= 2000; ++file) {
    maker.posix(record(PosixFunction::kFread, file, 1, 1));
    maker.define(instrument::FileDefinition{file, 0}, std::string_view("/data/" + std::to_string(file)));
  }
  maker.flush();
  Session session({{0, "program", 1}});
  session.submit(maker.take());
  EXPECT_EQ(session.application().files.size(), 2000u);
}

}  // namespace
}  // namespace ardoise::knowledge_sources
