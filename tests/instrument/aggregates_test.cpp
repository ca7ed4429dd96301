// Sums of records: exact, by key, in tables that may be full; and the order in which records are replaced.
#include "instrument/record/aggregates.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "instrument/format/posix_functions.hpp"
#include "instrument/record/event_reduction.hpp"
#include "vmpi/mpi_functions.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::size_t kAggregatesBin = 32768;

MpiRecord call(std::uint32_t duration, std::int32_t peer, std::uint32_t bytes, std::uint32_t function = 5,
               Shape shape = Shape::kSend, std::uint32_t site = 7) {
  return {100, duration, site, peer, 0, bytes, make_word(1, function, shape)};
}

class AggregatesTest : public testing::Test {
 protected:
  std::vector<AggregateRecord> flushed() {
    aggregates_.flush(true, full_);
    std::vector<AggregateRecord> records;
    while (Bin* const bin = full_.take_first(pool_)) {
      EXPECT_EQ(bin->header.pack_class, static_cast<std::uint16_t>(PackClass::kAggregates));
      const auto* const first = reinterpret_cast<const AggregateRecord*>(bin->payload());
      records.insert(records.end(), first, first + bin->header.record_count);
      EXPECT_EQ(bin->header.payload_bytes, bin->header.record_count * sizeof(AggregateRecord));
      last_ = bin->header;
      pool_.give(bin);
    }
    return records;
  }
  std::size_t fold(const std::vector<MpiRecord>& records) {
    return aggregates_.fold(std::span(records), 10, 20, full_);
  }

  BinPool pool_{8 * kAggregatesBin, kAggregatesBin};
  Aggregates aggregates_{pool_};
  BinList full_;
  PackHeader last_{};
};

TEST_F(AggregatesTest, EqualCallsBecomeOneRecordWithExactSums) {
  EXPECT_EQ(fold({call(3, 2, 100), call(9, 2, 127), call(5, 2, 64)}), 3u);
  const auto records = flushed();
  ASSERT_EQ(records.size(), 1u);
  const AggregateRecord& sum = records[0];
  EXPECT_EQ(sum.part, AggregatePart::kCall);
  EXPECT_EQ(sum.function, 5u);
  EXPECT_EQ(sum.peer, 2);
  EXPECT_EQ(sum.call_site, 7u);
  EXPECT_EQ(sum.size_bits, 7u) << "sizes from 64 to 127";
  EXPECT_EQ(sum.calls, 3u);
  EXPECT_EQ(sum.records, 3u);
  EXPECT_EQ(sum.ticks, 17u);
  EXPECT_EQ(sum.bytes, 291u);
  EXPECT_EQ(sum.size, 291u);
  EXPECT_EQ(sum.min_ticks, 3u);
  EXPECT_EQ(sum.max_ticks, 9u);
  EXPECT_EQ(last_.first_tick, 10u);
  EXPECT_EQ(last_.last_tick, 20u);
}

TEST_F(AggregatesTest, WhatTellsCallsApartIsKeptApart) {
  const std::vector<MpiRecord> records{call(1, 2, 100),
                                       call(1, 3, 100),
                                       call(1, 2, 200),
                                       call(1, 2, 100, 6),
                                       call(1, 2, 100, 5, Shape::kSend, 8),
                                       call(1, 2, 100, 5, Shape::kReceive)};
  EXPECT_EQ(fold(records), records.size());
  EXPECT_EQ(flushed().size(), records.size());
}

TEST_F(AggregatesTest, ExtensionsGoWithTheirCall) {
  const auto extension = [](ExtensionKind kind) {
    return make_word(static_cast<std::uint32_t>(kind), 5, Shape::kExtension);
  };
  const std::uint64_t kMuch = std::uint64_t{1} << 33;
  MpiRecord wide = call(kWide, 2, kWide);
  EXPECT_EQ(
      fold({wide,
            std::bit_cast<MpiRecord>(WideExtension{kMuch, kMuch + 1, 0, 0, extension(ExtensionKind::kWideValues)}),
            std::bit_cast<MpiRecord>(ReceiveHalfExtension{50, 3, 0, 0, 0, extension(ExtensionKind::kReceiveHalf)}),
            std::bit_cast<MpiRecord>(CompletionRecord{100, 1, 9, 4, 0, 8, make_word(1, 6, Shape::kCompletion)}),
            std::bit_cast<MpiRecord>(NeighbourExtension{70, 2, 3, 100, 0, extension(ExtensionKind::kNeighbourPart)}),
            std::bit_cast<MpiRecord>(
                StartedExtension{100, 80, 5, 0, make_word(1, 9, Shape::kSend), extension(ExtensionKind::kStarted)}),
            std::bit_cast<MpiRecord>(GroupExtension{{1, 2}, 2, extension(ExtensionKind::kGroup)}),
            std::bit_cast<MpiRecord>(MarkExtension{1, 2, 3, 0, MarkKind::kValue, {}, kMarkWord}),
            std::bit_cast<MpiRecord>(ContextExtension{100, 4, 0, 5, 0, 0, kContextWord})}),
      9u);
  std::map<AggregatePart, AggregateRecord> parts;
  for (const AggregateRecord& record : flushed()) parts[record.part] = record;
  ASSERT_EQ(parts.size(), 7u);
  EXPECT_EQ(parts[AggregatePart::kContext].records, 1u);
  EXPECT_EQ(parts[AggregatePart::kContext].ticks, 0u);
  EXPECT_EQ(parts[AggregatePart::kMark].records, 1u);
  EXPECT_EQ(parts[AggregatePart::kCall].records, 3u);
  EXPECT_EQ(parts[AggregatePart::kCall].calls, 1u);
  EXPECT_EQ(parts[AggregatePart::kCall].ticks, kMuch);
  EXPECT_EQ(parts[AggregatePart::kCall].bytes, kMuch + 1);
  EXPECT_EQ(parts[AggregatePart::kCall].received, 50u);
  EXPECT_EQ(parts[AggregatePart::kGroup].records, 1u);
  EXPECT_EQ(parts[AggregatePart::kCompletion].bytes, (std::uint64_t{1} << 32) + 8);
  EXPECT_EQ(parts[AggregatePart::kCompletion].function, 6u);
  EXPECT_EQ(parts[AggregatePart::kCompletion].call_site, 9u);
  EXPECT_EQ(parts[AggregatePart::kNeighbour].peer, 2);
  EXPECT_EQ(parts[AggregatePart::kNeighbour].bytes, 70u);
  EXPECT_EQ(MpiRecord({0, 0, 0, 0, 0, 0, parts[AggregatePart::kNeighbour].word}).comm(), 3u);
  EXPECT_EQ(parts[AggregatePart::kStarted].bytes, 80u);
  EXPECT_EQ(MpiRecord({0, 0, 0, 0, 0, 0, parts[AggregatePart::kStarted].word}).function(), 9u);
}

TEST_F(AggregatesTest, AFullTableGoesOutAndALaterOneGoesOn) {
  std::vector<MpiRecord> records;
  for (std::int32_t peer = 0; peer < 2000; ++peer) records.push_back(call(1, peer, 8));
  EXPECT_EQ(fold(records), records.size());
  EXPECT_GT(full_.bins, 1u);
  std::set<std::int32_t> peers;
  for (const AggregateRecord& record : flushed()) peers.insert(record.peer);
  EXPECT_EQ(peers.size(), 2000u);
}

TEST_F(AggregatesTest, WithoutAnotherBinATableTakesWhatItCan) {
  std::vector<Bin*> others;
  while (Bin* const bin = pool_.take(PackClass::kPosix)) others.push_back(bin);
  std::vector<MpiRecord> records;
  for (std::int32_t peer = 0; peer < 2000; ++peer) records.push_back(call(1, peer, 8));
  const std::size_t folded = fold(records);
  EXPECT_GT(folded, 200u);
  EXPECT_LT(folded, 2000u);
  EXPECT_EQ(fold({records[0], records[1]}), 2u) << "known keys still find their place";
  BinList kept;
  aggregates_.flush(false, kept);
  EXPECT_EQ(kept.bins, 0u) << "no bin to replace it";
  EXPECT_EQ(flushed().size(), folded);
  for (Bin* bin : others) pool_.give(bin);
}

TEST_F(AggregatesTest, ThreadsShareTheOneTableThatThereIs) {
  std::vector<Bin*> others;
  while (Bin* const bin = pool_.take(PackClass::kPosix)) others.push_back(bin);
  constexpr int kThreads = 5, kFolds = 200;
  const std::vector<MpiRecord> records(100, call(1, 2, 8));
  std::atomic<std::size_t> folded = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      BinList full;
      for (int i = 0; i < kFolds; ++i) folded += aggregates_.fold(std::span(records), 1, 2, full);
    });
  }
  for (auto& thread : threads) thread.join();
  const auto sums = flushed();
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(folded.load(), records.size() * kThreads * kFolds) << "the table has room for the key: nothing is refused";
  EXPECT_EQ(sums[0].calls, folded.load());
  for (Bin* bin : others) pool_.give(bin);
}

// A page fault of its records keeps the holder of the only table in fold() for 0.1 s; the fault handler simulates the
// loss of the processor.
namespace stopped_holder {
std::atomic<void*> page = nullptr;
std::atomic<bool> stopped = false, goes_on = false;

void on_fault(int) {
  stopped = true;
  while (!goes_on) ::usleep(1000);
  ::mprotect(page, 4096, PROT_READ | PROT_WRITE);
}
}  // namespace stopped_holder

TEST_F(AggregatesTest, AThreadWaitsForATableWhoseHolderIsStopped) {
  using namespace stopped_holder;
  std::vector<Bin*> others;
  while (Bin* const bin = pool_.take(PackClass::kPosix)) others.push_back(bin);
  page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page.load(), MAP_FAILED);
  auto* const hidden = static_cast<MpiRecord*>(page.load());
  *hidden = call(1, 2, 8);
  ASSERT_EQ(::mprotect(page, 4096, PROT_NONE), 0);
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = on_fault;
  ASSERT_EQ(::sigaction(SIGSEGV, &action, &before), 0);

  std::size_t by_holder = 0, by_other = 0;
  std::thread holder([&] {
    BinList full;
    by_holder = aggregates_.fold(std::span<const MpiRecord>(hidden, 1), 1, 2, full);
  });
  while (!stopped) ::usleep(1000);
  std::atomic<bool> done = false;
  std::thread other([&] {
    BinList full;
    const std::vector<MpiRecord> records(1018, call(1, 2, 8));
    by_other = aggregates_.fold(std::span(records), 1, 2, full);
    done = true;
  });
  for (int i = 0; i < 100 && !done; ++i) ::usleep(1000);
  goes_on = true;
  holder.join();
  other.join();
  ::sigaction(SIGSEGV, &before, nullptr);
  EXPECT_EQ(by_holder, 1u);
  EXPECT_EQ(by_other, 1018u);
  const auto sums = flushed();
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].calls, 1019u);
  for (Bin* bin : others) pool_.give(bin);
  ::munmap(page, 4096);
}

TEST_F(AggregatesTest, PosixCallsBecomeSumsByFile) {
  const std::vector<PosixRecord> records{
      {1, 4, 7, 1, 3, 0, 100}, {2, 6, 7, 1, 3, 0, 100}, {3, 1, 7, 2, 3, 0, 100}, {4, 1, 7, 1, 3, 1, 0}};
  EXPECT_EQ(aggregates_.fold(std::span(records), 1, 5, full_), 4u);
  const auto sums = flushed();
  ASSERT_EQ(sums.size(), 3u) << "two files, and a call that failed";
  EXPECT_EQ(sums[0].part, AggregatePart::kPosix);
  EXPECT_EQ(sums[0].calls, 2u);
  EXPECT_EQ(sums[0].bytes, 200u);
  EXPECT_EQ(sums[2].word, 1u);
}

class EventReductionTest : public AggregatesTest {
 protected:
  std::vector<std::uint32_t> kept(std::vector<MpiRecord> records, bool all = false, const FunctionSet& at_once = {}) {
    EventReduction reduction(aggregates_, ledger_);
    reduction.fold_at_once(at_once);
    const std::size_t count = at_once != FunctionSet() ? reduction.reduce_chosen(std::span(records), 1, 2, full_)
                                                       : reduction.reduce(std::span(records), 1, 2, all, full_);
    std::vector<std::uint32_t> durations;
    for (const MpiRecord& record : std::span(records).first(count)) durations.push_back(record.duration);
    const ClassLedger ledger = ledger_.of(PackClass::kMpi);
    EXPECT_EQ(ledger.recorded, records.size() - count);
    EXPECT_EQ(ledger.aggregated, records.size() - count);
    std::uint64_t folded = 0;
    for (const AggregateRecord& sum : flushed()) folded += sum.records;
    EXPECT_EQ(folded, records.size() - count);
    return durations;
  }
  Ledger ledger_;
};

using Durations = std::vector<std::uint32_t>;

// 5: the value of call(); the context is at the position of a record's duration.
MpiRecord context(std::uint32_t number, PackClass of = PackClass::kMpi, std::uint16_t function = 5) {
  return std::bit_cast<MpiRecord>(
      ContextExtension{1, number, static_cast<std::uint16_t>(of), function, 0, 0, kContextWord});
}
MpiRecord arguments(std::uint8_t number, std::uint32_t function = 5) {
  ArgumentsExtension some{};
  some.bytes[8] = number;
  some.word = make_word(static_cast<std::uint32_t>(ExtensionKind::kArguments), function, Shape::kExtension);
  return std::bit_cast<MpiRecord>(some);
}

MpiRecord phase_mark(std::uint32_t name) {
  return std::bit_cast<MpiRecord>(MarkExtension{1, 0, name, 0, MarkKind::kPhaseBegin, {}, kMarkWord});
}
MpiRecord completion_of_77() {
  return std::bit_cast<MpiRecord>(CompletionRecord{1, 77, 0, 2, 0, 8, make_word(1, 6, Shape::kCompletion)});
}

TEST_F(EventReductionTest, AllCallsBecomeSumsAndMarksStay) {
  EXPECT_EQ(
      kept({arguments(61), context(71), call(2, 1, 8), completion_of_77(), phase_mark(5), call(900, 1, 8)}).size(), 1u);
}

TEST_F(EventReductionTest, AllMeansMarksToo) {
  EXPECT_EQ(kept({call(900, 1, 8), phase_mark(5), call(3, 1, 8)}, true), Durations{});
}

TEST_F(EventReductionTest, ExtensionsBeforeACallOfAChosenFunctionAreFoldedWithIt) {
  FunctionSet chosen;
  (void)chosen.add(vmpi::function_name(vmpi::FunctionId{6}));
  (void)chosen.add(posix_function_info(7).name);
  const auto of_function_6 = [](std::uint32_t duration) { return call(duration, 1, 8, 6); };
  EXPECT_EQ(kept({context(71), call(900, 1, 8), context(72, PackClass::kMpi, 6), of_function_6(3),
                  context(73, PackClass::kPosix, 7), context(74, PackClass::kPosix, 6), arguments(61, 6),
                  context(75, PackClass::kMpi, 6), of_function_6(4), context(76), call(901, 1, 8)},
                 false, chosen),
            (Durations{71, 900, 74, 76, 901}));
}

}  // namespace
}  // namespace ardoise::instrument
