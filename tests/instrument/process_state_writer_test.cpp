// ProcessStateWriter: when the file of a process without progress is there, and what is in it. Each test runs in a
// child, whose thread has its own recorder.
#include "instrument/process/watch/process_state_writer.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <variant>
#include <vector>

#include "instrument/format/definition_reader.hpp"
#include "instrument/format/pack_file.hpp"
#include "instrument/format/process_states.hpp"
#include "instrument/sampling/sampled_thread.hpp"
#include "tests/instrument/dying_process.hpp"
#include "tests/instrument/made_session.hpp"

namespace ardoise::instrument {
namespace {

namespace fs = std::filesystem;

// Seconds without progress: over at the next tick, or never.
constexpr double kAtOnce = 1e-9, kNever = 1e9;

struct StateFile {
  ProcessStateDefinition process{};
  std::vector<RecentCall> calls;  // of all threads
  std::vector<TotalsRecord> totals;
  std::uint32_t partition = 0, rank = 0;
};

class ProcessStateWriterTest : public DyingProcessWithFolder {
 protected:
  std::unique_ptr<ProcessStateWriter> writer(MadeSession& of, double seconds, std::size_t helpers = 0) {
    return std::make_unique<ProcessStateWriter>(of.session, of.identity, folder_, seconds, helpers);
  }
  [[nodiscard]] fs::path path() const { return fs::path(folder_) / ".process-state-2-3"; }
  [[nodiscard]] bool has_file() const { return fs::exists(path()); }
  void request() const { std::ofstream(fs::path(folder_) / kStateRequestName) << "1\n"; }

  [[nodiscard]] StateFile read() const {
    StateFile found;
    const PackFile file = read_pack_file(path());
    EXPECT_EQ(file.error, "");
    PackSequence packs(file.bytes());
    const auto definitions = packs.next(), totals = packs.next();
    if (!definitions || !totals) {
      ADD_FAILURE() << "a pack is missing: " << packs.error();
      return found;
    }
    EXPECT_FALSE(packs.next());
    EXPECT_EQ(packs.error(), "");
    EXPECT_EQ(definitions->pack_class(), PackClass::kDefinitions);
    EXPECT_EQ(totals->pack_class(), PackClass::kTotals);
    found.partition = definitions->header().partition;
    found.rank = definitions->header().rank;
    DefinitionReader reader(definitions->payload());
    for (bool is_first = true; const auto definition = reader.next(); is_first = false) {
      const auto* const process = std::get_if<DecodedProcessState>(&*definition);
      EXPECT_EQ(process != nullptr, is_first);
      if (process != nullptr) found.process = process->fixed;
      if (const auto* const recent = std::get_if<DecodedRecentCalls>(&*definition))
        found.calls.insert(found.calls.end(), recent->calls.begin(), recent->calls.end());
    }
    EXPECT_EQ(reader.error(), "");
    const auto* const records = reinterpret_cast<const TotalsRecord*>(totals->payload().data());
    found.totals.assign(records, records + totals->header().record_count);
    return found;
  }
};

TEST_F(ProcessStateWriterTest, AProcessWithProgressHasNoFile) {
  in_child([this] {
    MadeSession made(2, 3);
    const auto watch = writer(made, kNever);
    made.record_barrier();
    watch->check();
    watch->check();
    EXPECT_TRUE(fs::is_empty(folder_));
  });
}

TEST_F(ProcessStateWriterTest, WithoutProgressTheFileHasTheLastCallsAndTotals) {
  in_child([this] {
    MadeSession made(2, 3);
    const auto watch = writer(made, kAtOnce);
    made.record_barrier();
    const std::uint64_t begin = now();
    made.record_barrier(begin);
    watch->check();
    ASSERT_TRUE(has_file());
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
    EXPECT_EQ(fs::status(path()).permissions(), fs::perms{0600});
    const StateFile found = read();
    EXPECT_EQ(found.partition, 2u);
    EXPECT_EQ(found.rank, 3u);
    EXPECT_EQ(found.process.since_tick, begin + 10);
    EXPECT_GE(found.process.tick, begin + 10);
    EXPECT_EQ(found.process.flags & (kInFinalize | kStopped | kFreeThreads), 0u);
    ASSERT_EQ(found.calls.size(), 2u);
    for (const RecentCall& call : found.calls) {
      EXPECT_EQ(function_of(call.word), static_cast<std::uint32_t>(vmpi::FunctionId::kBarrier));
      EXPECT_EQ(call.flags & kOpenCall, 0u);
    }
    EXPECT_EQ(found.calls[1].begin, begin);
    ASSERT_EQ(found.totals.size(), 1u);
    EXPECT_EQ(found.totals[0].calls, 2u);
  });
}

TEST_F(ProcessStateWriterTest, AnOpenCallIsMarkedAndTheProgressIsItsBegin) {
  in_child([this] {
    MadeSession made(2, 3);
    const auto watch = writer(made, kAtOnce);
    vmpi::Call call{vmpi::FunctionId::kBarrier};
    call.return_address = &call;
    call.begin = now();
    observed_frame.return_address = reinterpret_cast<std::uint64_t>(call.return_address);
    observed_frame.function = static_cast<CalledFunction>(call.function) + 1;
    observed_frame.call = &call;
    watch->check();
    const StateFile found = read();
    EXPECT_EQ(found.process.since_tick, call.begin);
    ASSERT_EQ(found.calls.size(), 1u);
    EXPECT_EQ(found.calls[0].flags & kOpenCall, kOpenCall);
    EXPECT_EQ(found.calls[0].begin, call.begin);
    EXPECT_EQ(found.calls[0].ticks, found.process.tick - call.begin);
  });
}

TEST_F(ProcessStateWriterTest, ProgressRemovesTheFile) {
  in_child([this] {
    MadeSession made(2, 3);
    const auto watch = writer(made, kAtOnce);
    watch->check();
    ASSERT_TRUE(has_file());
    made.record_barrier(now() + (std::uint64_t{1} << 50));  // later than any check
    watch->check();
    EXPECT_FALSE(has_file());
  });
}

TEST_F(ProcessStateWriterTest, ARequestHasTheFileWrittenWhileItIsThere) {
  in_child([this] {
    MadeSession made(2, 3);
    const auto watch = writer(made, 0);
    watch->check();
    EXPECT_FALSE(has_file());
    request();
    made.record_barrier();
    watch->check();
    ASSERT_TRUE(has_file());
    EXPECT_EQ(read().calls.size(), 1u);
    fs::remove(path());
    watch->check();  // again, although nothing has changed
    EXPECT_EQ(read().calls.size(), 1u);
    fs::remove(fs::path(folder_) / kStateRequestName);
    watch->check();
    EXPECT_TRUE(fs::is_empty(folder_));
  });
}

TEST_F(ProcessStateWriterTest, InFinalizeTheThreadsAreNotDescribed) {
  in_child([this] {
    MadeSession made(2, 3);
    const auto watch = writer(made, kAtOnce);
    made.record_barrier();
    watch->finalizes_since = now() + 10;
    while (now() < watch->finalizes_since + 1) continue;
    watch->check();
    const StateFile found = read();
    EXPECT_EQ(found.process.flags & kInFinalize, kInFinalize);
    EXPECT_EQ(found.process.since_tick, watch->finalizes_since);
    EXPECT_TRUE(found.calls.empty());
    vmpi::is_finalized = true;
    watch->check();
    EXPECT_FALSE(has_file());
  });
}

TEST_F(ProcessStateWriterTest, ThreadsThatMayCallMpiAreCountedIfSeveralMay) {
  struct Case {
    int level;
    std::size_t helpers;
    bool is_free;
  };
  for (const Case& each : {Case{MPI_THREAD_MULTIPLE, 0, true}, Case{MPI_THREAD_MULTIPLE, 1000, false},
                           Case{MPI_THREAD_SERIALIZED, 0, false}}) {
    in_child([&] {
      MadeSession made(2, 3, each.level);
      writer(made, kAtOnce, each.helpers)->check();
      EXPECT_EQ((read().process.flags & kFreeThreads) != 0, each.is_free) << each.level << ' ' << each.helpers;
    });
  }
}

TEST_F(ProcessStateWriterTest, ItsEndRemovesItsFileOnly) {
  in_child([this] {
    MadeSession made(2, 3);
    const auto watch = writer(made, kAtOnce);
    std::ofstream(path()) << "of an earlier launch";
    watch->remove_file();
    EXPECT_TRUE(has_file());
    watch->check();
    EXPECT_EQ(read().rank, 3u);
    watch->remove_file();
    EXPECT_FALSE(has_file());
  });
}

TEST_F(ProcessStateWriterTest, AFolderOfOthersGetsNoFile) {
  in_child([this] {
    fs::permissions(folder_, fs::perms{0777});
    MadeSession made(2, 3);
    const auto watch = writer(made, kAtOnce);
    request();
    watch->check();
    EXPECT_FALSE(has_file());
  });
}

TEST(ProcessStates, TheFileComesAfterHalfTheTimeOfAHangAndAtMostFiveSeconds) {
  EXPECT_EQ(process_state_name(2, 13), ".process-state-2-13");
  EXPECT_EQ(stall_seconds(3), 1.5);
  EXPECT_EQ(stall_seconds(60), 5);
}

}  // namespace
}  // namespace ardoise::instrument
