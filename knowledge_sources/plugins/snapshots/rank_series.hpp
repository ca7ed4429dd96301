// The data of one rank: its calls by visits of call sites (call_series.hpp), and its program's marks (rank_marks.hpp).
// The first thread of the process is followed; calls of other threads, and I/O, are added at the first thread's
// position at their time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "instrument/format/event_format.hpp"
#include "knowledge_sources/contexts/rank_places.hpp"
#include "knowledge_sources/interface/in_order.hpp"
#include "knowledge_sources/plugins/snapshots/call_series.hpp"
#include "knowledge_sources/plugins/snapshots/load.hpp"
#include "knowledge_sources/plugins/snapshots/rank_conditions.hpp"
#include "knowledge_sources/plugins/snapshots/rank_marks.hpp"

namespace ardoise::knowledge_sources {

// A call, a sample, a mark, or events counted up to a sample.
struct Moment {
  enum class Kind : std::uint8_t { kVisit, kCall, kSample, kMark, kCounted };
  Kind kind;
  instrument::MarkKind mark = instrument::MarkKind::kSnapshot;
  bool is_in_world = false;  // a collective on MPI_COMM_WORLD
  std::uint32_t where = 0;   // kMark: the call site; kSample: the context
  std::int64_t begin = 0;    // ns on the program's time axis
  std::uint64_t key = 0;     // kMark: the name; kSample: key_of_sample()
  CallSums sums{};           // kMark: ns is the value

  [[nodiscard]] static constexpr std::uint64_t key_of_sample(std::uint32_t thread, std::uint16_t function,
                                                             std::uint32_t flags) {
    return std::uint64_t{thread} << 32 | std::uint64_t{function} << 8 | (flags & 0xFF);
  }
};

// Conditions with a callback. They take no snapshots and are not written.
struct Watch {
  std::span<const Condition> conditions{};
  std::function<void(std::uint32_t condition)> becomes_true{};
  const LoadWatch* load = nullptr;  // nullptr: not required
};

// Not thread safe.
class RankSeries {
 public:
  // room: cells of each series. conditions outlive it. interval: ns between snapshots for the sink; 0: none.
  RankSeries(std::size_t room, std::span<const Condition> conditions, const SnapshotOrigin& origin = {},
             std::int64_t interval = 0, Watch watch = {})
      : series_(room),
        load_(watch.load != nullptr ? std::make_unique<RankLoad>(*watch.load, origin.rank) : nullptr),
        marks_(room, {origin.sink, origin.program, origin.rank, load_.get()}),
        conditions_(conditions),
        watched_(watch.conditions),
        becomes_true_(std::move(watch.becomes_true)),
        interval_(interval) {}

  // Before the first pack, see InOrder.
  void count_on(blackboard::Blackboard& board) { packs_.count_on(board); }

  // Calls of the first thread, by pack.
  void add_first_thread(std::uint64_t order, std::span<const Moment> moments);
  // Missing packs will not arrive.
  void give_up_missing();
  // A call of another thread, or I/O: waits until the first thread reaches its time.
  void add_other(const Moment& moment);
  // Aggregated calls made in [begin, end): wait in the same way.
  void add_sums(std::uint64_t key, std::int64_t begin, std::int64_t end, const CallSums& sums);
  // Waiting time of the call that began at call_begin, when it becomes known: waits in the same way.
  void add_wait(std::uint64_t key, std::int64_t call_begin, std::uint64_t ns);
  void lacks_calls() {
    is_whole_ = false;
    if (load_ != nullptr) load_->stop();
  }
  void lacks_moments() {
    has_moments_ = false;
    if (load_ != nullptr) load_->stop();
  }

  // All of its calls have arrived.
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  // All calls have times; otherwise those without are spread evenly.
  [[nodiscard]] bool has_moments() const { return has_moments_; }
  [[nodiscard]] bool has_held(std::uint32_t condition) const { return conditions_.times_held(condition) != 0; }
  [[nodiscard]] std::uint64_t marks_of_other_threads() const { return marks_of_other_threads_; }
  // After the last record.
  [[nodiscard]] const CallSeries& series() {
    place_until(INT64_MAX);
    series_.finish();
    return series_;
  }
  [[nodiscard]] const RankMarks& marks() {
    place_until(INT64_MAX);
    return marks_;
  }
  [[nodiscard]] const std::vector<SampledPlace>& places() {
    place_until(INT64_MAX);
    return places_.places();
  }

  void write(ByteWriter& out);
  void read(ByteReader& in);  // into an empty one

 private:
  static constexpr std::size_t kMostWaiting = 4096, kMostEarlyWaits = 16384;
  void deliver(std::span<const Moment> moments, bool after_gap);
  void add_call(const Moment& moment);
  void add_sample(const Moment& moment);
  void add_mark(const Moment& moment);
  void add_to_marks(const Moment& moment);
  void add_counted(const Moment& moment);
  void cut(std::uint32_t condition, std::int64_t time);
  void cut_intervals(std::int64_t time);
  template <class Use>
  void for_each_call_before(Use&& use) const;
  void place_until(std::int64_t time);

  struct Spread {
    std::uint64_t key;
    std::int64_t begin;
    CallSums sums;
  };
  void place(std::int64_t end, const Spread& spread);
  struct EarlyWait {
    std::uint64_t key, ns;
  };
  void place_wait(std::int64_t call_begin, const EarlyWait& wait);

  CallSeries series_;
  const std::unique_ptr<RankLoad> load_;  // nullptr: not required
  RankMarks marks_;
  RankConditions conditions_, watched_;
  std::function<void(std::uint32_t)> becomes_true_;  // for watched_
  const std::int64_t interval_;
  std::int64_t this_interval_ = 0;  // the current interval begins at this_interval_ * interval_
  RankPlaces places_;
  InOrder<std::vector<Moment>> packs_;
  std::multimap<std::int64_t, Moment> others_;
  std::multimap<std::int64_t, Spread> spreads_;   // by end
  std::multimap<std::int64_t, EarlyWait> waits_;  // by begin of their calls, which have not arrived yet
  std::map<std::uint64_t, CallSums> spread_;      // so far, by key
  std::uint64_t marks_of_other_threads_ = 0;
  bool is_whole_ = true, has_moments_ = true;
};

}  // namespace ardoise::knowledge_sources
