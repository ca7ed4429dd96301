// The sentences that the analyzer prints on a terminal.
#include "analyzer/results/results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ardoise::analyzer {
namespace {

TEST(Results, NoNameInASentenceMovesTheCursor) {
  ::testing::internal::CaptureStderr();
  say("no answer from rank 0 of \x1B[2Jmüll\n\x07.");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "ardoise-analyzer: no answer from rank 0 of \uFFFD[2Jmüll\uFFFD\uFFFD.\n");
}

}  // namespace
}  // namespace ardoise::analyzer
