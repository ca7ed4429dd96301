// The recorder without MPI: definitions before use, the ledger, pressure, failure, threads that begin, end and are cut
// off.
#include "instrument/record/recorder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "instrument/format/pack_reader.hpp"
#include "instrument/machine/clock.hpp"
#include "tests/instrument/capture.hpp"
#include "tests/instrument/fake_transport.hpp"
#include "vmpi/mpi_functions.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::uint64_t kNoFlush = std::uint64_t{1} << 60;
constexpr std::size_t kRecorderBin = 32768;
constexpr std::size_t kRecordsInBin = (kRecorderBin - sizeof(PackHeader)) / sizeof(PosixRecord);

Settings small(std::size_t bins, Policy policy = Policy::kAdapt) {
  Settings settings;
  settings.policy = policy;
  settings.bin_bytes = kRecorderBin;
  settings.budget_bytes = bins * kRecorderBin;
  return settings;
}

class RecorderTest : public testing::Test {
 protected:
  explicit RecorderTest(std::size_t bins = 8, std::uint64_t flush_ticks = kNoFlush, Policy policy = Policy::kAdapt)
      : recorder_(small(bins, policy), transport_, PackIdentity{1, 2, 3, 4, 5.0}, flush_ticks, true) {
    recorder_.active = true;
  }

  // A write of one byte, `tick` ticks after the start.
  void record(ThreadRecorder& thread, std::uint64_t tick) {
    const ActivityScope scope(thread.activity, Activity::kRecording, recorder_.active);
    if (!scope.entered()) return;
    (void)recorder_.posix(
        thread, {PosixFunction::kWrite, recorder_.files.of_path("/data"), tick, tick + 1, 1, false, &kSomewhere});
    recorder_.after_event(thread, tick + 1);
  }

  Capture finish() {
    recorder_.finish(1);
    bytes_ = transport_.bytes();
    return read_capture(std::as_bytes(std::span(bytes_)));
  }

  static constexpr int kSomewhere = 0;
  FakeTransport transport_;
  std::vector<std::uint64_t> bytes_;
  Recorder recorder_;
};

TEST_F(RecorderTest, RecordsArriveWithDefinitionsTotalsAndLedger) {
  ThreadRecorder& thread = *recorder_.threads.adopt(0);
  for (std::uint64_t i = 0; i < 5; ++i) record(thread, i);
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.posix_count("write", "/data"), 5u);
  EXPECT_EQ(capture.totals.at("write").bytes_sent, 5u);
  EXPECT_EQ(capture.last.posix.recorded, 5u);
  EXPECT_EQ(capture.last.partition, 2u);
  EXPECT_EQ(capture.last.rank, 3u);
  EXPECT_EQ(capture.last.origin_tick, 4u);
  EXPECT_TRUE(transport_.closed);
}

TEST_F(RecorderTest, NothingRecordedIsAGoodCaptureToo) {
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.last.posix.recorded, 0u);
}

// The sums of the aggregates of POSIX writes.
AggregateRecord sum_of(const std::vector<AggregateRecord>& aggregates) {
  AggregateRecord sum{};
  for (const AggregateRecord& aggregate : aggregates) {
    EXPECT_EQ(aggregate.part, AggregatePart::kPosix);
    sum.calls += aggregate.calls;
    sum.ticks += aggregate.ticks;
    sum.bytes += aggregate.bytes;
  }
  return sum;
}

// A local MPI call, and a sample of `weight` ns in `context`, as the handler of the thread takes it.
void call_mpi(Recorder& recorder, ThreadRecorder& thread, std::uint64_t tick, std::uint32_t function = 1) {
  const ActivityScope scope(thread.activity, Activity::kRecording, recorder.active);
  *thread.mpi_room(1, tick, tick + 1) = {tick, 1, 0, kNoPeer, 0, 0, make_word(kNoComm, function, Shape::kLocal)};
}
void take_sample(ThreadRecorder& thread, std::uint32_t context, std::uint64_t weight, std::uint64_t tick) {
  SampleRecord sample{};
  sample.tick = tick;
  sample.context = context;
  thread.note_sample(sample, weight);
}

TEST_F(RecorderTest, SamplesBetweenTwoCallsAreOneRecordThatNoLedgerCounts) {
  ThreadRecorder& thread = *recorder_.threads.adopt(0);
  take_sample(thread, 1, 100, 1);  // before there is a bin
  take_sample(thread, 1, 50, 2);
  call_mpi(recorder_, thread, 10);
  call_mpi(recorder_, thread, 20);
  for (std::uint64_t i = 0; i < 1000; ++i) take_sample(thread, i % 4 == 0 ? 5 : 6, 1000, 21 + i);
  call_mpi(recorder_, thread, 2000);
  thread.flush();
  take_sample(thread, 7, 300, 2010);
  call_mpi(recorder_, thread, 3000);
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.last.mpi.recorded, 4u);
  EXPECT_EQ(capture.mpi_records, 4u);
  ASSERT_EQ(capture.sampled.size(), 3u);
  EXPECT_EQ(capture.sampled[0].weight, 150u);
  EXPECT_EQ(capture.sampled[0].context, 1u);
  EXPECT_EQ(capture.sampled[1].weight, 1'000'000u);
  EXPECT_EQ(capture.sampled[1].tick, 1020u);
  EXPECT_TRUE(capture.sampled[1].context == 5 || capture.sampled[1].context == 6);
  EXPECT_EQ(capture.sampled[2].context, 7u);
}

TEST_F(RecorderTest, TheSampleThatStaysIsDrawnByItsWeight) {
  ThreadRecorder& thread = *recorder_.threads.adopt(0);
  constexpr int kGaps = 2000;
  std::uint64_t tick = 1;
  for (int gap = 0; gap < kGaps; ++gap) {
    call_mpi(recorder_, thread, ++tick);
    take_sample(thread, 1, 3000, tick += 37);
    take_sample(thread, 2, 1000, tick += 41);
  }
  const Capture capture = finish();
  ASSERT_GT(capture.sampled.size(), kGaps - 10u) << "but for some that found no room";
  const auto second = std::ranges::count(capture.sampled, 2u, &SampledExtension::context);
  const auto all = static_cast<double>(capture.sampled.size());
  EXPECT_NEAR(static_cast<double>(second), all / 4, 4 * std::sqrt(all * 0.25 * 0.75));
}

// The program's marks are sent once, in order, and stay when calls become sums.
TEST_F(RecorderTest, MarksStayWhereCallsBecomeSums) {
  ThreadRecorder& thread = *recorder_.threads.adopt(0);
  constexpr std::uint64_t kCalls = 40 * kRecordsInBin;
  std::uint64_t marks = 0;
  for (std::uint64_t i = 0; i < kCalls; ++i) {
    call_mpi(recorder_, thread, 10 * i + 1);
    if (i % 500 != 0) continue;
    const ActivityScope scope(thread.activity, Activity::kRecording, recorder_.active);
    recorder_.mark(thread, MarkKind::kSnapshot, "step", marks++);
  }
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_GT(capture.mpi_aggregated, kCalls / 2);
  EXPECT_EQ(capture.last.mpi.recorded, kCalls + marks);
  EXPECT_EQ(capture.last.mpi.dropped, 0u);
  std::uint64_t told = 0, folded = 0;
  for (const MarkExtension& mark : capture.marks) {
    EXPECT_EQ(capture.mark_names.at(mark.name), "step");
    EXPECT_EQ(mark.call_site, 0u);
    if (told != 0) {
      EXPECT_GT(mark.value, capture.marks[told - 1].value);
    }
    ++told;
  }
  for (const AggregateRecord& each : capture.aggregates) folded += each.part == AggregatePart::kMark ? each.records : 0;
  EXPECT_EQ(told + folded, marks);
  EXPECT_GT(told, marks / 2);
}

// With --record sums there is room for all marks.
TEST_F(RecorderTest, WhereAllCallsBecomeSumsAllMarksStay) {
  recorder_.reduction.fold_at_once(FunctionSet::all());
  ThreadRecorder& thread = *recorder_.threads.adopt(0);
  constexpr std::uint64_t kCalls = 40 * kRecordsInBin;
  std::uint64_t marks = 0;
  for (std::uint64_t i = 0; i < kCalls; ++i) {
    call_mpi(recorder_, thread, now());
    if (i % 7 != 0) continue;
    const ActivityScope scope(thread.activity, Activity::kRecording, recorder_.active);
    recorder_.mark(thread, MarkKind::kSnapshot, "step", marks++);
    recorder_.sender.pump();
  }
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.last.mpi.recorded, kCalls + marks);
  EXPECT_EQ(capture.last.mpi.dropped, 0u);
  EXPECT_EQ(capture.mpi_aggregated, kCalls);
  ASSERT_EQ(capture.marks.size(), marks);
  for (std::uint64_t i = 0; i < marks; ++i) EXPECT_EQ(capture.marks[i].value, i);
}

// With --record sums:FUNCTION the calls of others stay as they were, in their order.
TEST_F(RecorderTest, OnlyCallsOfChosenFunctionsBecomeSums) {
  FunctionSet chosen;
  ASSERT_TRUE(chosen.add("MPI_Iprobe"));
  const auto iprobe = static_cast<std::uint32_t>(vmpi::FunctionId::kIprobe);
  recorder_.reduction.fold_at_once(chosen);
  ThreadRecorder& thread = *recorder_.threads.adopt(0);
  constexpr std::uint64_t kCalls = 10 * kRecordsInBin;
  for (std::uint64_t i = 0; i < kCalls; ++i) {
    call_mpi(recorder_, thread, now(), i % 3 == 0 ? iprobe + 1 : iprobe);
    if (i % 100 == 0) recorder_.sender.pump();
  }
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.last.mpi.recorded, kCalls);
  EXPECT_EQ(capture.last.mpi.dropped, 0u);
  EXPECT_EQ(capture.mpi_records, (kCalls + 2) / 3);
  EXPECT_EQ(capture.mpi_aggregated, kCalls - (kCalls + 2) / 3);
}

TEST_F(RecorderTest, MarksAloneBecomeSumsToo) {
  ThreadRecorder& thread = *recorder_.threads.adopt(0);
  constexpr std::uint64_t kMarks = 40 * kRecordsInBin;
  for (std::uint64_t i = 0; i < kMarks; ++i) {
    const ActivityScope scope(thread.activity, Activity::kRecording, recorder_.active);
    recorder_.mark(thread, MarkKind::kValue, i % 2 == 0 ? "a" : "b", i);
  }
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.last.mpi.recorded, kMarks);
  EXPECT_EQ(capture.last.mpi.dropped, 0u);
  EXPECT_EQ(capture.mpi_records + capture.mpi_aggregated, kMarks);
}

// A thread that only sets marks does not count as one with MPI calls until it makes one.
TEST_F(RecorderTest, MarksMakeNoThreadOfMpi) {
  ThreadRecorder& first = *recorder_.threads.adopt(0);
  ThreadRecorder& second = *recorder_.threads.adopt(0);
  call_mpi(recorder_, first, now());
  const auto mark = [&](ThreadRecorder& thread) {
    const ActivityScope scope(thread.activity, Activity::kRecording, recorder_.active);
    recorder_.mark(thread, MarkKind::kValue, "x", 1);
  };
  for (int i = 0; i < 5; ++i) mark(second);
  const auto are_several = [&] {
    PackHeader header{};
    recorder_.ledger.declare(header);
    return (header.flags & kSeveralMpiThreads) != 0;
  };
  EXPECT_FALSE(are_several());
  call_mpi(recorder_, second, now());
  EXPECT_TRUE(are_several());
  mark(second);
  call_mpi(recorder_, second, now());
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.marks.size(), 6u);
  EXPECT_EQ(capture.mpi_records, 9u);
}

TEST_F(RecorderTest, FurtherNamesShareOne) {
  ThreadRecorder& thread = *recorder_.threads.adopt(0);
  const ActivityScope scope(thread.activity, Activity::kRecording, recorder_.active);
  for (std::uint32_t i = 0; i < 2 * MarkNames::kMost; ++i)
    recorder_.mark(thread, MarkKind::kValue, fmt::format("name {}", i), 0);
  recorder_.mark(thread, MarkKind::kValue, std::string(1000, 'x'), 0);
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.mark_names.size(), MarkNames::kMost + 1);
  EXPECT_EQ(capture.mark_names.at(mark_name_id(MarkNames::kFurther)), MarkNames::kFurther);
}

TEST_F(RecorderTest, SamplesAreNoSums) {
  ThreadRecorder& thread = *recorder_.threads.adopt(0);
  constexpr std::uint64_t kCalls = 20 * kRecordsInBin;
  for (std::uint64_t i = 0; i < kCalls; ++i) {
    call_mpi(recorder_, thread, 10 * i + 1);
    take_sample(thread, 1, 10, 10 * i + 5);
  }
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.last.mpi.recorded, kCalls);
  EXPECT_GT(capture.last.mpi.aggregated, 0u);
  std::uint64_t folded = 0;
  for (const AggregateRecord& aggregate : capture.aggregates) folded += aggregate.records;
  EXPECT_EQ(capture.mpi_records + folded, kCalls);
}

TEST_F(RecorderTest, AThreadThatMayNotSendAggregatesWhenMemoryIsUsedUp) {
  ThreadRecorder& thread = *recorder_.threads.adopt(0);
  const std::uint64_t kWritten = 10 * kRecordsInBin;
  for (std::uint64_t i = 0; i < kWritten; ++i) record(thread, i);
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.last.posix.recorded, kWritten);
  EXPECT_EQ(capture.last.posix.dropped, 0u);
  EXPECT_GT(capture.last.posix.aggregated, 0u);
  EXPECT_EQ(capture.posix.size(), kWritten - capture.last.posix.aggregated);
  const AggregateRecord sum = sum_of(capture.aggregates);
  EXPECT_EQ(sum.calls, capture.last.posix.aggregated);
  EXPECT_EQ(sum.bytes, sum.calls);
  EXPECT_EQ(sum.ticks, sum.calls);
  EXPECT_EQ(capture.totals.at("write").calls, kWritten) << "totals are exact whatever is dropped";
}

TEST_F(RecorderTest, AThreadThatMaySendDoesNotWaitEither) {
  transport_.arrives_at_once = false;
  ThreadRecorder& thread = *recorder_.threads.adopt(0);
  thread.may_send = true;
  const std::uint64_t kWritten = 20 * kRecordsInBin;
  for (std::uint64_t i = 0; i < kWritten; ++i) record(thread, i);
  EXPECT_EQ(transport_.waits, 0);
  EXPECT_TRUE(recorder_.sender.stream_full());
  EXPECT_LE(transport_.in_flight.size(), 2u) << "a quarter of the bins";
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.last.posix.recorded, kWritten);
  EXPECT_EQ(capture.last.posix.dropped, 0u);
  EXPECT_EQ(capture.last.blocked_ticks, 0u);
  EXPECT_EQ(sum_of(capture.aggregates).calls + capture.posix.size(), kWritten);
}

TEST_F(RecorderTest, AStreamThatGoesOnTakesRecordsAgain) {
  transport_.arrives_at_once = false;
  ThreadRecorder& thread = *recorder_.threads.adopt(0);
  thread.may_send = true;
  for (std::uint64_t i = 0; i < 20 * kRecordsInBin; ++i) record(thread, i);
  const std::uint64_t aggregated = recorder_.ledger.of(PackClass::kPosix).aggregated;
  EXPECT_GT(aggregated, 0u);
  transport_.arrives_at_once = true;
  for (std::uint64_t i = 20 * kRecordsInBin; i < 40 * kRecordsInBin; ++i) record(thread, i);
  EXPECT_LE(recorder_.ledger.of(PackClass::kPosix).aggregated, aggregated + kRecordsInBin);
  EXPECT_EQ(finish().fault(), "");

  // Packs are numbered as recorded, and the flag is set exactly where records are missing.
  std::uint64_t order = 0, next = 0, folded = 0;
  for (const Pack& pack : transport_.packs) {
    const PackView view(reinterpret_cast<const PackHeader*>(pack.storage.data()));
    if (view.pack_class() != PackClass::kPosix) continue;
    EXPECT_EQ(view.header().order, order++);
    bool missing = false;
    for (const PosixRecord& record : view.records<PosixRecord>()) {
      missing = missing || record.begin != next;
      next = record.begin + 1;
    }
    EXPECT_EQ(missing, (view.header().flags & kFolded) != 0) << order;
    folded += missing ? 1 : 0;
  }
  EXPECT_GT(folded, 0u);
  EXPECT_GT(order, folded + 10);
}

class BlockTest : public RecorderTest {
 protected:
  BlockTest() : RecorderTest(8, kNoFlush, Policy::kBlock) {}
};

TEST_F(BlockTest, AThreadThatMaySendWaitsAndLosesNothing) {
  transport_.arrives_at_once = false;
  ThreadRecorder& thread = *recorder_.threads.adopt(0);
  thread.may_send = true;
  const std::uint64_t kWritten = 20 * kRecordsInBin;
  for (std::uint64_t i = 0; i < kWritten; ++i) record(thread, i);
  EXPECT_GT(transport_.waits, 0);
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.posix.size(), kWritten);
  EXPECT_EQ(capture.last.posix.dropped, 0u);
  EXPECT_EQ(capture.last.posix.aggregated, 0u);
  EXPECT_GT(capture.last.blocked_ticks, 0u);
  EXPECT_GE(capture.last.sending_ticks, capture.last.blocked_ticks);
}

TEST_F(RecorderTest, FailedTransportDropsEverythingAndCountsIt) {
  transport_.fails = true;
  ThreadRecorder& thread = *recorder_.threads.adopt(0);
  thread.may_send = true;
  const std::uint64_t kWritten = 20 * kRecordsInBin;
  for (std::uint64_t i = 0; i < kWritten; ++i) record(thread, i);
  EXPECT_TRUE(recorder_.sender.failed());
  recorder_.finish(1);
  const ClassLedger ledger = recorder_.ledger.of(PackClass::kPosix);
  EXPECT_EQ(ledger.recorded, kWritten);
  EXPECT_EQ(ledger.dropped + ledger.aggregated, kWritten);
}

TEST_F(RecorderTest, EveryThreadHasItsNumberAndDefinition) {
  ThreadRecorder* const first = recorder_.threads.adopt(0);
  ThreadRecorder* const second = recorder_.threads.adopt(0);
  EXPECT_NE(first->number(), second->number());
  record(*second, 1);
  second->flush();
  recorder_.threads.retire(second);
  ThreadRecorder* const third = recorder_.threads.adopt(0);
  EXPECT_EQ(third, second) << "memory is used again";
  EXPECT_EQ(third->number(), 2u);
  record(*third, 2);
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.threads.size(), 3u);
  ASSERT_EQ(capture.posix.size(), 2u);
  EXPECT_EQ(capture.posix[0].thread, 1u);
  EXPECT_EQ(capture.posix[1].thread, 2u);
  EXPECT_EQ(capture.totals.at("write").calls, 2u) << "of the thread that ended too";
}

TEST_F(RecorderTest, NothingIsRecordedAfterTheEnd) {
  ThreadRecorder& thread = *recorder_.threads.adopt(0);
  record(thread, 1);
  const Capture capture = finish();
  record(thread, 2);
  EXPECT_EQ(recorder_.ledger.of(PackClass::kPosix).recorded, 1u);
  EXPECT_EQ(capture.posix.size(), 1u);
}

class FlushTest : public RecorderTest {
 protected:
  FlushTest() : RecorderTest(8, 100) {}
};

TEST_F(FlushTest, OldBinsAreSentAtTheNextEvent) {
  ThreadRecorder& thread = *recorder_.threads.adopt(0);
  thread.may_send = true;
  record(thread, 1000);
  record(thread, 1050);
  EXPECT_TRUE(transport_.packs.empty());
  record(thread, 1200);
  EXPECT_FALSE(transport_.packs.empty());
  EXPECT_EQ(finish().fault(), "");
}

// MPI never returns a bin for a long time: memory does not grow.
TEST_F(FlushTest, AStalledStreamDoesNotGrow) {
  transport_.arrives_at_once = false;
  ThreadRecorder& thread = *recorder_.threads.adopt(0);
  thread.may_send = true;
  SamplingPlan plan;
  plan.base_hertz = 1e4;
  (void)thread.samples.start(thread.number(), plan, 0);
  const auto run = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i < to; ++i) {
      record(thread, 10 * i);
      (void)thread.samples.store({10 * i, 1, 0, 0, 0, 0, 0, 0, 0}, 1, 0, {});
    }
  };
  run(0, 20 * kRecordsInBin);
  EXPECT_TRUE(recorder_.sender.stream_full());
  const std::size_t beyond = recorder_.pool.beyond_budget();
  EXPECT_LE(beyond, 4u);
  run(20 * kRecordsInBin, 200 * kRecordsInBin);
  EXPECT_LE(recorder_.pool.beyond_budget(), beyond + 1);
  EXPECT_EQ(transport_.waits, 0);
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.last.posix.recorded, 200 * kRecordsInBin);
  EXPECT_EQ(capture.last.samples.recorded, 200 * kRecordsInBin);
}

// Threads write while the recorder is being ended: all recorded data arrives or is declared as dropped.
TEST(RecorderThreads, LedgerIsExactWhenCutOff) {
  for (int round = 0; round < 20; ++round) {
    FakeTransport transport;
    Recorder recorder(small(12), transport, PackIdentity{}, kNoFlush, true);
    recorder.active = true;
    constexpr int kThreads = 4;
    std::atomic<std::uint64_t> written = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        ThreadRecorder& thread = *recorder.threads.adopt(0);
        const std::uint32_t file = recorder.files.of_path("/data/" + std::to_string(t));
        for (std::uint64_t i = 0; i < 20000; ++i) {
          const ActivityScope scope(thread.activity, Activity::kRecording, recorder.active);
          if (!scope.entered()) return;
          thread.may_send = t % 2 == 0;
          (void)recorder.posix(thread, {PosixFunction::kRead, file, i, i + 1, 1, false, &recorder});
          recorder.after_event(thread, i + 1);
          written.fetch_add(1, std::memory_order_relaxed);
        }
      });
    }
    while (written.load(std::memory_order_relaxed) < 3000) std::this_thread::yield();
    while (!recorder.stop()) continue;  // a busy machine may hold a thread for longer than stop() waits
    recorder.finish(1);
    for (auto& thread : threads) thread.join();
    const auto bytes = transport.bytes();
    const Capture capture = read_capture(std::as_bytes(std::span(bytes)));
    EXPECT_EQ(capture.fault(), "");
    EXPECT_EQ(capture.last.posix.recorded, written.load());
    EXPECT_EQ(capture.totals.at("read").calls, written.load());
  }
}

}  // namespace
}  // namespace ardoise::instrument
