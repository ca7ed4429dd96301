// Samples of a thread: weights that add up through every change of rate, bins that are returned, the three pressures.
#include "instrument/buffer/sample_store.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "instrument/machine/clock.hpp"
#include "instrument/record/recorder.hpp"
#include "tests/instrument/capture.hpp"
#include "tests/instrument/fake_transport.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::uint64_t kNever = std::uint64_t{1} << 60;
constexpr std::size_t kBin = 32768;
constexpr std::uint64_t kInterval = 100000;  // ns between two samples at the base rate

Settings settings_of(std::size_t bins) {
  Settings settings;
  settings.bin_bytes = kBin;
  settings.budget_bytes = bins * kBin;
  return settings;
}

class SampleStoreTest : public testing::Test {
 protected:
  explicit SampleStoreTest(std::size_t bins = 64) : recorder_(settings_of(bins), transport_, {}, kNever, true) {
    recorder_.active = true;
    thread_ = recorder_.threads.adopt(0);
    plan_.base_hertz = 1e4;
    plan_.hold_ticks = 1000;
    (void)store().start(thread_->number(), plan_, 0);
  }
  SampleStore& store() { return thread_->samples; }

  // Runs the sampler for `samples` samples at the rate that the store chooses; time is in ns.
  void sample(std::uint64_t samples, std::uint32_t context = 1) {
    for (std::uint64_t i = 0; i < samples; ++i) {
      const std::uint64_t elapsed = kInterval << store().rate_shift();
      time_ += elapsed;
      SampleRecord record{};
      record.tick = time_;
      record.context = context;
      (void)store().store(record, elapsed, 0, {});
    }
  }

  Capture finish() {
    recorder_.finish(time_ + 1);
    bytes_ = transport_.bytes();
    return read_capture(std::as_bytes(std::span(bytes_)));
  }
  static double weight_of(const Capture& capture) {
    double sum = 0;
    for (const auto& sample : capture.samples) sum += sample.time();
    return sum;
  }

  FakeTransport transport_;
  std::vector<std::uint64_t> bytes_;
  Recorder recorder_;
  ThreadRecorder* thread_ = nullptr;
  SamplingPlan plan_;
  std::uint64_t time_ = 0;
};

TEST_F(SampleStoreTest, SamplesArriveWithLevelsWeightsAndTheirRate) {
  sample(8);
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  ASSERT_EQ(capture.samples.size(), 8u);
  std::map<std::uint64_t, std::uint8_t> levels;
  for (const auto& sample : capture.samples) {
    levels[sample.record.tick / kInterval] = sample.record.level;
    EXPECT_EQ(sample.record.weight, kInterval);
    EXPECT_EQ(sample.weight, 1u);
    EXPECT_EQ(sample.thread, thread_->number());
  }
  EXPECT_EQ(levels,
            (std::map<std::uint64_t, std::uint8_t>{{1, 0}, {2, 1}, {3, 0}, {4, 2}, {5, 0}, {6, 1}, {7, 0}, {8, 3}}));
  ASSERT_EQ(capture.rates.size(), 1u);
  EXPECT_EQ(capture.rates[0].cause, SamplingCause::kStart);
  EXPECT_EQ(capture.rates[0].hertz, 1e4);
  EXPECT_EQ(capture.rates[0].bins, 64u);
}

TEST_F(SampleStoreTest, WithoutAStreamTheRateHalvesAndSumsStay) {
  // 64 bins of some 1,000 samples; six times as many.
  sample(375000);
  EXPECT_GE(store().rate_shift(), 2u);
  const std::uint32_t shift = store().rate_shift();
  const double elapsed = static_cast<double>(time_);
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_NEAR(weight_of(capture), elapsed, 1e-4 * elapsed);
  EXPECT_EQ(capture.last.samples.recorded, 375000u);
  std::set<std::uint64_t> ticks;
  for (const auto& sample : capture.samples) {
    EXPECT_EQ(sample.weight, 1u << shift) << "one epoch";
    EXPECT_GE(sample.record.level, shift);
    ticks.insert(sample.record.tick);
  }
  EXPECT_EQ(ticks.size(), capture.samples.size()) << "none twice";
  ASSERT_EQ(capture.rates.size(), 1 + shift);
  for (std::uint32_t i = 1; i <= shift; ++i) {
    EXPECT_EQ(capture.rates[i].cause, SamplingCause::kMemory);
    EXPECT_EQ(capture.rates[i].hertz, 1e4 / (1u << i));
    EXPECT_EQ(capture.rates[i].lowest_level, i);
  }
}

TEST_F(SampleStoreTest, SharesStayThroughHalvings) {
  // 3 of 10 samples in context 2, in stretches of hundreds.
  for (int i = 0; i < 300; ++i) {
    sample(700, 1);
    sample(300, 2);
  }
  std::map<std::uint32_t, double> of_context;
  const Capture capture = finish();
  for (const auto& sample : capture.samples) {
    of_context[sample.record.context] += sample.time();
  }
  // The stretches get longer in time as the rate falls; their shares do not.
  EXPECT_NEAR(of_context[2] / (of_context[1] + of_context[2]), 0.3, 0.01);
}

// 30 % of the time of each sample.
TEST_F(SampleStoreTest, TimeInTheKernelIsKeptAndDroppedWithItsSample) {
  for (std::uint64_t i = 0; i < 300000; ++i) {
    const std::uint64_t elapsed = kInterval << store().rate_shift(), kernel = i % 3 != 0 ? elapsed * 9 / 20 : 0;
    time_ += elapsed;
    SampleRecord record{};
    record.tick = time_;
    record.context = 1;
    (void)store().store(record, elapsed - kernel, kernel, {});
  }
  EXPECT_GE(store().rate_shift(), 2u);
  const auto elapsed = static_cast<double>(time_);
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_NEAR(weight_of(capture), elapsed, 1e-4 * elapsed);
  double kernel = 0;
  for (const auto& each : capture.samples) kernel += each.kernel();
  EXPECT_NEAR(kernel / elapsed, 0.3, 0.003);
}

TEST_F(SampleStoreTest, AStreamThatTakesEverythingKeepsTheRate) {
  for (int i = 0; i < 500; ++i) {
    sample(1000);
    recorder_.sender.pump();
  }
  EXPECT_EQ(store().rate_shift(), 0u);
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.samples.size(), 500000u);
  EXPECT_EQ(weight_of(capture), static_cast<double>(time_));
  EXPECT_EQ(capture.last.samples.dropped, 0u);
}

TEST_F(SampleStoreTest, AStreamThatStopsAndGoesOnLowersAndRaisesTheRate) {
  const auto run = [&](int times) {
    for (int i = 0; i < times; ++i) {
      sample(1000);
      recorder_.sender.pump();
    }
  };
  run(20);
  EXPECT_EQ(store().rate_shift(), 0u);
  transport_.arrives_at_once = false;
  run(300);
  EXPECT_GE(store().rate_shift(), 2u);
  transport_.arrives_at_once = true;
  run(300);
  EXPECT_EQ(store().rate_shift(), 0u) << "it has risen again";
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_NEAR(weight_of(capture), static_cast<double>(time_), 1e-3 * static_cast<double>(time_));
  std::set<SamplingCause> causes;
  for (const auto& rate : capture.rates) causes.insert(rate.cause);
  EXPECT_TRUE(causes.contains(SamplingCause::kStream));
  EXPECT_TRUE(causes.contains(SamplingCause::kRise));
}

TEST_F(SampleStoreTest, CostBeyondItsShareLowersTheRateAndKeepsTheSamples) {
  // 4 % of the time at the base rate; the ticks of this test are ns.
  for (int i = 0; i < 2000; ++i) {
    sample(1);
    store().account(4000, time_);
  }
  EXPECT_EQ(store().rate_shift(), 2u);
  const Capture capture = finish();
  EXPECT_EQ(capture.samples.size(), 2000u) << "nothing was dropped for it";
  EXPECT_EQ(weight_of(capture), static_cast<double>(time_));
  ASSERT_EQ(capture.rates.size(), 2u);
  EXPECT_EQ(capture.rates[1].cause, SamplingCause::kCost);
  EXPECT_EQ(capture.rates[1].hertz, 2500.0);
  EXPECT_EQ(capture.rates[1].sample_cost_ticks, 4000u);
}

TEST_F(SampleStoreTest, MpiEventsMakeSamplesGiveWay) {
  sample(45000);
  ASSERT_EQ(store().rate_shift(), 0u);
  const std::size_t free = recorder_.pool.free_bins();
  thread_->may_send = false;
  const std::size_t in_bin = recorder_.pool.payload_bytes() / sizeof(MpiRecord);
  for (std::size_t i = 0; i < (free + 3) * in_bin; ++i) {
    *thread_->mpi_room(1, i, i + 1) = {i, 1, 0, 0, 0, 0, make_word(kNoComm, 5, Shape::kLocal)};
  }
  EXPECT_EQ(recorder_.ledger.of(PackClass::kMpi).aggregated, 0u);
  EXPECT_EQ(store().rate_shift(), 1u) << "one drop frees enough for a while";
  sample(100);
  const Capture capture = finish();
  EXPECT_EQ(capture.last.mpi.recorded, (free + 3) * in_bin);
  EXPECT_EQ(capture.last.mpi.recorded, capture.mpi_records);
  EXPECT_NEAR(weight_of(capture), static_cast<double>(time_), 1e-3 * static_cast<double>(time_));
}

TEST_F(SampleStoreTest, CountersAreDividedLikeTheWeight) {
  plan_.counter_count = 2;
  (void)store().start(thread_->number(), plan_, 0);
  store().set_rate_shift(3, SamplingCause::kUser, 1);
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::array<std::uint64_t, 2> counters{1001, 7};
    ASSERT_EQ(store().store({}, 8 * kInterval + 3, 0, counters), Stored::kStored);
  }
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  std::uint64_t first = 0, second = 0, weight = 0;
  for (const auto& sample : capture.samples) {
    ASSERT_EQ(sample.counters.size(), 2u);
    EXPECT_EQ(sample.weight, 8u);
    first += 8 * sample.counters[0];
    second += 8 * sample.counters[1];
    weight += 8 * sample.record.weight;
  }
  // The remainder of the division is carried on, so at most one remainder is missing at the end.
  EXPECT_NEAR(static_cast<double>(first), 100100, 7);
  EXPECT_NEAR(static_cast<double>(second), 700, 7);
  EXPECT_NEAR(static_cast<double>(weight), 100 * (8 * kInterval + 3), 7);
}

TEST_F(SampleStoreTest, AWeightBeyondTheFieldIsSpreadOverTheNextSamples) {
  const std::uint64_t kMuch = std::uint64_t{3} << 32;
  ASSERT_EQ(store().store({}, kMuch, 0, {}), Stored::kStored);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(store().store({}, 0, 0, {}), Stored::kStored);
  EXPECT_EQ(weight_of(finish()), static_cast<double>(kMuch));
}

TEST_F(SampleStoreTest, SamplesWithoutRoomAreCarriedToTheNextSample) {
  plan_.hold_ticks = 100 * kInterval;
  (void)store().start(thread_->number(), plan_, 0);
  std::vector<Bin*> others;
  while (Bin* const bin = recorder_.pool.take(PackClass::kDefinitions)) others.push_back(bin);
  sample(10);
  EXPECT_EQ(store().no_room(), 10u);
  EXPECT_LE(store().rate_shift(), 1u) << "no bin is gained by a lower rate: not one step for each sample";
  for (Bin* bin : others) recorder_.pool.give(bin);
  sample(10);
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_NEAR(weight_of(capture), static_cast<double>(time_), 1) << "a remainder of the last division";
  EXPECT_EQ(capture.last.samples.recorded, 20u);
  EXPECT_EQ(capture.last.samples.dropped, 10u);
}

TEST_F(SampleStoreTest, AThreadThatEndsLeavesItsSamplesAndItsStoreIsUsedAgain) {
  sample(5);
  recorder_.threads.retire(thread_);
  ThreadRecorder* const next = recorder_.threads.adopt(0);
  ASSERT_EQ(next, thread_);
  (void)store().start(next->number(), plan_, time_);
  sample(3);
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  std::map<std::uint32_t, int> of_thread;
  for (const auto& sample : capture.samples) ++of_thread[sample.thread];
  EXPECT_EQ(of_thread, (std::map<std::uint32_t, int>{{0, 5}, {1, 3}}));
}

class FewBins : public SampleStoreTest {
 protected:
  FewBins() : SampleStoreTest(8) {}
};

TEST_F(FewBins, OneLevelOnlyCantBeDroppedButTheRateFalls) {
  // Without a droppable level all samples stay; samples without room are carried.
  for (int i = 0; i < 40; ++i) sample(1000);
  EXPECT_GT(store().rate_shift(), 0u);
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_LE(weight_of(capture), static_cast<double>(time_));
}

// One thread stores as its handler would, two others send and ask for room: no sample is lost or counted twice.
TEST(SampleStoreThreads, SendersAndTheHandlerShareAStore) {
  FakeTransport transport;
  Recorder recorder(settings_of(48), transport, {}, 1, true);
  recorder.active = true;
  ThreadRecorder* const thread = recorder.threads.adopt(0);
  SamplingPlan plan;
  plan.base_hertz = 1e4;
  (void)thread->samples.start(thread->number(), plan, 0);
  std::atomic<bool> ends = false;
  std::thread sender([&] {
    while (!ends.load()) recorder.sender.pump();
  });
  std::thread other([&] {
    while (!ends.load()) {
      (void)recorder.threads.make_room();
      std::this_thread::yield();
    }
  });
  constexpr std::uint64_t kSamples = 200000;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    const std::uint64_t elapsed = kInterval << thread->samples.rate_shift();
    SampleRecord record{};
    record.tick = now();
    (void)thread->samples.store(record, elapsed, 0, {});
  }
  ends = true;
  sender.join();
  other.join();
  recorder.finish(now());
  const auto bytes = transport.bytes();
  const Capture capture = read_capture(std::as_bytes(std::span(bytes)));
  EXPECT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.last.samples.recorded, kSamples);
  EXPECT_EQ(thread->samples.stored() + thread->samples.no_room(), kSamples);
}

TEST(RateControl, RisesOnlyWhenQuietForAWhileAndNotTooDear) {
  RateControl control({0.01, 1000, 10}, 0);
  EXPECT_TRUE(control.lower(100));
  EXPECT_EQ(control.shift(), 1u);
  EXPECT_FALSE(control.rise(1.0, 500)) << "too early";
  EXPECT_FALSE(control.rise(0.5, 5000)) << "too little is free";
  EXPECT_TRUE(control.rise(0.9, 5000));
  EXPECT_EQ(control.shift(), 0u);
  EXPECT_FALSE(control.rise(1.0, 50000)) << "the base rate is the highest";
}

TEST(RateControl, ARiseThatDoesNotLastMakesTheNextOneComeLater) {
  RateControl control({0, 1000, 10}, 0);
  std::uint64_t tick = 0;
  std::vector<std::uint64_t> waited;
  ASSERT_TRUE(control.lower(tick));
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t begin = tick;
    while (!control.rise(1.0, tick)) tick += 100;
    waited.push_back(tick - begin);
    tick += 100;
    ASSERT_TRUE(control.lower(tick));
  }
  for (std::size_t i = 1; i < waited.size(); ++i) EXPECT_GE(waited[i], 2 * waited[i - 1] - 200) << i;
}

TEST(RateControl, CostIsJudgedOverManySamples) {
  RateControl control({0.01, 1600, 10}, 0);
  EXPECT_FALSE(control.cost(1000000, 1)) << "one sample says nothing";
  std::uint64_t tick = 1;
  bool lowers = false;
  // 2 % of the time.
  for (int i = 0; i < 100000 && !lowers; ++i) lowers = control.cost(20, tick += 1000);
  EXPECT_TRUE(lowers) << "the first one is outweighed in time only if the others cost little";
  control = RateControl({0.01, 1600, 10}, 0);
  tick = 0;
  for (int i = 0; i < 100000; ++i) ASSERT_FALSE(control.cost(9, tick += 1000));
  control.set(3, tick);
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(control.cost(6, tick += 1000));
  EXPECT_FALSE(control.rise(1.0, tick)) << "twice 0.6 % is too much";
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(control.cost(3, tick += 1000));
  EXPECT_TRUE(control.rise(1.0, tick));
}

}  // namespace
}  // namespace ardoise::instrument
