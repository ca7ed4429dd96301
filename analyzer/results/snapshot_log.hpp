// The file of this analyzer's snapshots, snapshots-N.ards in the folder of the report (docs/guide/snapshots.md),
// written in whole blocks while the programs run. Workers that add a snapshot never wait for the disk
// (block_writer.hpp).
//
// A snapshot waits here for late calls (I/O, other threads) before it is written: two seconds, or less when many wait.
// Later calls are written separately.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyzer/options/options.hpp"
#include "analyzer/results/block_writer.hpp"
#include "blackboard/threads/mutex.hpp"
#include "knowledge_sources/reduction/level.hpp"
#include "knowledge_sources/snapshot_files/block_builder.hpp"
#include "knowledge_sources/snapshot_files/snapshot_sink.hpp"

namespace ardoise::analyzer {

class SnapshotLog final : public knowledge_sources::SnapshotSink {
 public:
  // complain: gets a sentence, in any thread, on missing data. patience: how long a snapshot waits.
  explicit SnapshotLog(std::function<void(const std::string&)> complain,
                       std::chrono::milliseconds patience = std::chrono::seconds(2))
      : complain_(std::move(complain)), patience_(patience) {}

  // Settings for the analyses; valid while the log lives.
  [[nodiscard]] knowledge_sources::SnapshotSettings settings(const Options& options) {
    knowledge_sources::SnapshotSettings settings;
    settings.conditions = options.snapshot_conditions;
    settings.interval_seconds = options.snapshot_seconds;
    if (options.snapshot_seconds > 0) settings.sink = this;
    return settings;
  }
  // Removes files of an earlier run, which may have had more analyzers. On one analyzer, before the others begin.
  static void remove_old(const std::string& folder);
  // Before the first pack. run: number of the launch, equal on all analyzers. descriptor: see BlockWriter.
  void begin(const std::string& folder, std::uint32_t analyzer, std::uint64_t run, int descriptor = -1);
  void add_program(const knowledge_sources::Program& program);
  // Writes snapshots that have waited long enough.
  void flush();
  // Writes all remaining snapshots, and the places of the calls.
  void finish();

  void take(const Series& series, const Part& part, const knowledge_sources::Snapshot& snapshot,
            std::span<const std::uint64_t> keys, std::span<const std::uint64_t> names) override;
  void take_late(const Series& series, std::int64_t time, std::uint64_t key,
                 const knowledge_sources::CallSums& sums) override;
  void name_mark(std::uint32_t program, std::uint32_t name, std::string_view text) override;
  void name_series(std::uint32_t program, knowledge_sources::SeriesKind kind, std::uint32_t name,
                   std::string_view text) override;
  void name_call_site(std::uint32_t program, std::uint32_t call_site, const Place& place) override;
  void name_call(std::uint32_t program, std::uint32_t rank, std::uint64_t key, const Place& place) override;

 private:
  using Block = knowledge_sources::SnapshotBlock;
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    Block::Record record;                                            // without sums
    std::map<std::uint64_t, knowledge_sources::CallSums> calls{};    // by key
    std::map<std::uint64_t, knowledge_sources::ValueSums> values{};  // by name
    Clock::time_point since{};
  };

  void settle(const Series& series, const Waiting& waiting) REQUIRES(mutex_);
  void settle_until(Clock::time_point time) REQUIRES(mutex_);
  void write() REQUIRES(mutex_);
  [[nodiscard]] Block::Call call_of(std::uint32_t program, std::uint32_t rank, std::uint64_t key) const
      REQUIRES(mutex_);
  [[nodiscard]] std::uint32_t id_of(const Block::Program& program, std::uint32_t rank, std::uint64_t key)
      REQUIRES(mutex_);
  [[nodiscard]] std::string name_of(const Series& series) const REQUIRES(mutex_);

  const std::function<void(const std::string&)> complain_;
  const std::chrono::milliseconds patience_;
  Mutex mutex_;
  std::optional<BlockWriter> writer_ GUARDED_BY(mutex_);
  std::int64_t process_ GUARDED_BY(mutex_) = 0;  // a copy of the process writes nothing
  knowledge_sources::BlockBuilder builder_ GUARDED_BY(mutex_){0};
  // By program, rank and key; for the current block.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::uint32_t> call_ids_ GUARDED_BY(mutex_);
  std::map<std::uint32_t, Block::Program> programs_ GUARDED_BY(mutex_);
  std::map<Series, std::deque<Waiting>> waiting_ GUARDED_BY(mutex_);
  std::size_t waiting_cells_ GUARDED_BY(mutex_) = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> marks_ GUARDED_BY(mutex_);
  std::map<std::tuple<std::uint32_t, knowledge_sources::SeriesKind, std::uint32_t>, std::string> series_
      GUARDED_BY(mutex_);
  struct Site {
    std::string module;
    std::uint64_t offset;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Site> sites_ GUARDED_BY(mutex_);
};

}  // namespace ardoise::analyzer
