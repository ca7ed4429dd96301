// The stated cost of recording: first a calibration, then measured values.
#include "instrument/record/recording_cost.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "instrument/record/recorder.hpp"
#include "tests/instrument/fake_transport.hpp"

namespace ardoise::instrument {
namespace {

TEST(RecordingCost, IsTheMeanOfWhatWasTimed) {
  RecordingCost cost;
  EXPECT_EQ(cost.ticks(), 0);
  cost.calibrate(30, 100, 20);
  EXPECT_DOUBLE_EQ(cost.ticks(), 130) << "nothing was timed";
  cost.add(220);
  cost.add(420);
  EXPECT_DOUBLE_EQ(cost.ticks(), 30 + (100 + 200 + 400) / 3.0);
  cost.add(10'000'000);
  EXPECT_DOUBLE_EQ(cost.ticks(), 30 + (100 + 200 + 400) / 3.0) << "another thread had the processor";
  cost.calibrate(30, 100, -5);
  EXPECT_DOUBLE_EQ(cost.ticks(), 30 + (100 + 640) / 3.0) << "a timing is never too short";
}

TEST(RecordingCost, OneCallOfAPeriodIsTimedButNoneThatSends) {
  FakeTransport transport;
  Settings settings;
  const auto recorder = std::make_unique<Recorder>(settings, transport, PackIdentity{}, std::uint64_t{1} << 62, false);
  ThreadRecorder& thread = *recorder->threads.adopt(now());
  recorder->cost.calibrate(0, 1e9, 0);  // no limit, and the mean falls with each timing
  const auto call = [&](bool sends) {
    const CostTimer timer(thread, recorder->cost);
    if (sends) thread.count_sending(now());
  };
  for (std::uint32_t i = 1; i < RecordingCost::kPeriod; ++i) call(false);
  EXPECT_DOUBLE_EQ(recorder->cost.ticks(), 1e9);
  call(true);
  EXPECT_DOUBLE_EQ(recorder->cost.ticks(), 1e9);
  for (std::uint32_t i = 0; i < RecordingCost::kPeriod; ++i) call(false);
  EXPECT_DOUBLE_EQ(recorder->cost.ticks(), 1e9) << "the period begins anew";
  call(false);
  EXPECT_LT(recorder->cost.ticks(), 0.6e9);
  PackHeader header{};
  recorder->ledger.declare(header);
  EXPECT_GT(header.sending_ticks, 0u);
}

}  // namespace
}  // namespace ardoise::instrument
