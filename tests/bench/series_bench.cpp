// Snapshots on the analyzer: 64 ranks, each with 10,000 snapshots of 100 changed values, from calls to bounded series,
// on one core, beside the obvious way (a hash table of differences for each snapshot, all kept); as a file; and what a
// mark costs its program.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <unordered_map>
#include <vector>

#include "instrument/machine/activity.hpp"
#include "instrument/record/recorder.hpp"
#include "knowledge_sources/plugins/snapshots/rank_marks.hpp"
#include "knowledge_sources/plugins/snapshots/timed_calls.hpp"
#include "knowledge_sources/snapshot_files/block_builder.hpp"

namespace {

using namespace ardoise;
using knowledge_sources::CallSums;
using Clock = std::chrono::steady_clock;

constexpr int kRanks = 64, kSnapshots = 10'000, kValues = 100;
constexpr std::size_t kRoom = (std::size_t{1} << 20) / kRanks;
constexpr double kAll = double{kRanks} * kSnapshots * kValues;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double bounded_series() {
  const auto begin = Clock::now();
  std::uint64_t kept = 0;
  for (int rank = 0; rank < kRanks; ++rank) {
    knowledge_sources::RankMarks marks(kRoom);
    std::int64_t time = 0;
    for (int i = 0; i < kSnapshots; ++i) {
      for (std::uint64_t key = 0; key < kValues; ++key) marks.add(key * 7919, time += 10, {1, 5, 8});
      marks.mark({instrument::MarkKind::kSnapshot, 1, 0, time, static_cast<std::uint64_t>(i)}, [](auto&&) {});
    }
    kept += marks.series()[0].list.snapshots().size();
  }
  fmt::print("  {} snapshots are left of {}\n", kept, std::int64_t{kRanks} * kSnapshots);
  return kAll / seconds_since(begin);
}

double unbounded_tables() {
  const auto begin = Clock::now();
  std::size_t cells = 0;
  for (int rank = 0; rank < kRanks; ++rank) {
    std::vector<std::vector<std::pair<std::uint64_t, CallSums>>> snapshots;
    std::unordered_map<std::uint64_t, CallSums> open;
    for (int i = 0; i < kSnapshots; ++i) {
      for (std::uint64_t key = 0; key < kValues; ++key) open[key * 7919] += {1, 5, 8};
      snapshots.emplace_back(open.begin(), open.end());
      open.clear();
    }
    for (const auto& each : snapshots) cells += each.size();
  }
  return cells == 0 ? 0 : kAll / seconds_since(begin);
}

struct FileCost {
  double bytes_per_value, values_per_second;
};
// Iterations of 100 calls whose times vary by a tenth, half of which wait, as blocks of 16,384 sums: a value is a call
// site's calls, time, waiting or bytes.
FileCost file() {
  std::mt19937_64 random(1);
  const knowledge_sources::SnapshotBlock::Program program{0, kRanks, 0, "solver"};
  constexpr int kIterations = 2'000;
  std::size_t bytes = 0;
  const auto begin = Clock::now();
  knowledge_sources::BlockBuilder builder(1);
  const auto write = [&] {
    bytes += knowledge_sources::encode(builder.block()).size();
    builder.clear();
  };
  for (int i = 0; i < kIterations; ++i) {
    knowledge_sources::SnapshotBlock::Record like;
    like.rank = static_cast<std::uint32_t>(i % kRanks);
    like.index = static_cast<std::uint64_t>(i / kRanks);
    like.begin = std::int64_t{i} * 1'000'000;
    like.end = like.begin + 1'000'000;
    auto& record = builder.add(program, {0, knowledge_sources::SeriesKind::kIteration, 0, "step"}, like);
    for (std::uint32_t site = 0; site < kValues; ++site) {
      knowledge_sources::SnapshotBlock::Call call;
      call.place = site * 2'654'435'761u;
      call.function = "MPI_Send";
      call.symbol = "exchange_halo";
      const std::uint64_t ns = 2'000 * (1 + site % 7);
      record.calls.push_back(
          {builder.id_of(program, call),
           0,
           {1 + site % 3, ns + random() % (ns / 10), 1024u * (site % 5), site % 2 == 0 ? random() % (ns / 5) : 0}});
    }
    if (builder.add_cells(kValues)) write();
  }
  write();
  const double values = 3.5 * kValues * kIterations;
  return {static_cast<double>(bytes) / values, values / seconds_since(begin)};
}

double intervals() {
  const auto begin = Clock::now();
  knowledge_sources::TimedCalls timed;
  constexpr std::int64_t kCalls = 20'000'000;
  for (std::int64_t i = 0; i < kCalls; ++i)
    timed.add(static_cast<std::uint64_t>(i % 20) * 7919, 500 * i, 500 * i + 300, 8, 1);
  return seconds_since(begin) / static_cast<double>(kCalls) * 1e9;
}

// Bins come back at once.
class Nowhere final : public instrument::Transport {
 public:
  [[nodiscard]] bool send(instrument::Bin* bin, std::size_t) override {
    bins_.push_back(bin);
    return true;
  }
  [[nodiscard]] instrument::Bin* reclaim(bool) override {
    if (bins_.empty()) return nullptr;
    instrument::Bin* const bin = bins_.back();
    bins_.pop_back();
    return bin;
  }
  [[nodiscard]] bool close() override { return true; }

 private:
  std::vector<instrument::Bin*> bins_;
};

double mark_ns() {
  using namespace instrument;
  Nowhere nowhere;
  Recorder recorder(Settings{}, nowhere, PackIdentity{1, 0, 0, 1, 1e9}, std::uint64_t{1} << 62, false);
  recorder.active = true;
  ThreadRecorder& thread = *recorder.threads.adopt(now());
  constexpr int kMarks = 1'000'000;
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto begin = Clock::now();
    for (int i = 0; i < kMarks; ++i) {
      const ActivityScope scope(thread.activity, Activity::kRecording, recorder.active);
      recorder.mark(thread, MarkKind::kValue, "residual", static_cast<std::uint64_t>(i));
      thread.may_send = true;
      if (i % 1000 == 0) recorder.sender.pump();
    }
    best = std::min(best, seconds_since(begin) / kMarks * 1e9);
  }
  return best;
}

}  // namespace

int main() {
  std::vector<double> ours, theirs;
  for (int round = 0; round < 3; ++round) {
    ours.push_back(bounded_series());
    theirs.push_back(unbounded_tables());
  }
  std::ranges::sort(ours);
  std::ranges::sort(theirs);
  fmt::print("  bounded series {:.1f} million values/s, hash tables that are all kept {:.1f}\n", ours[1] / 1e6,
             theirs[1] / 1e6);
  const FileCost of_file = file();
  fmt::print("  in a file {:.2f} bytes a value, {:.1f} million values/s written\n", of_file.bytes_per_value,
             of_file.values_per_second / 1e6);
  fmt::print("bench: snapshot_file_bytes={:.2f} snapshot_file_millions={:.1f}\n", of_file.bytes_per_value,
             of_file.values_per_second / 1e6);
  fmt::print("bench: series_values_millions={:.1f} series_ratio={:.2f} series_interval_ns={:.1f} mark_ns={:.1f}\n",
             ours[1] / 1e6, ours[1] / theirs[1], intervals(), mark_ns());
}
