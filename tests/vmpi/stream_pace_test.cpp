// Streams at random pace, some hundred random runs; stream_soak runs the same for minutes.
#include "stream_pace.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>

#include "tests/rounds.hpp"

namespace ardoise::vmpi {
namespace {

// Another seed in each run of the test, so that many runs see much. ARDOISE_TEST_SEED repeats one.
std::uint64_t first_seed() {
  const char* given = std::getenv("ARDOISE_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()() % 1'000'000;
}

TEST(StreamPace, EverythingArrivesOnceAndInOrderWhateverThePace) {
  const auto seed = first_seed();
  std::cout << "seeds from " << seed << std::endl;
  std::uint64_t blocks = 0;
  for (std::uint64_t i = 0; i < rounds(150); ++i) {
    PaceRun run(seed + i);
    ASSERT_EQ(run.run(), "") << "ARDOISE_TEST_SEED=" << seed + i << ", " << run.shape();
    blocks += run.blocks();
  }
  EXPECT_GT(blocks, rounds(1000));
}

}  // namespace
}  // namespace ardoise::vmpi
