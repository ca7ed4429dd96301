// Marks of a rank's program (instrument/api/ardoise.h, MPI_Pcontrol), as series of snapshots:
//
//   ardoise_snapshot(name, n)   all since the previous mark of that name, or since the start
//   MPI_Pcontrol(level)         the same; later activity has this number, activity before the first has 1
//   ardoise_phase_begin, _end   all between them; phases of different names may nest or overlap
//   ardoise_value(name, x)      in all open snapshots
//   condition, interval         as ardoise_snapshot
//
// Marks and calls arrive in the order of the first thread; calls of other threads, and I/O, at any later time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "instrument/format/event_format.hpp"
#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/containers/flat_table.hpp"
#include "knowledge_sources/plugins/snapshots/load.hpp"
#include "knowledge_sources/snapshot_files/snapshot_list.hpp"
#include "knowledge_sources/snapshot_files/snapshot_sink.hpp"

namespace ardoise::knowledge_sources {

struct Mark {
  instrument::MarkKind kind;
  std::uint32_t name, call_site;
  std::int64_t time;  // ns on the program's time axis
  std::uint64_t value;
};

// Destination of a rank's snapshots, one by one.
struct SnapshotOrigin {
  SnapshotSink* sink = nullptr;  // nullptr: none
  std::uint32_t program = 0, rank = 0;
  RankLoad* load = nullptr;  // nullptr: none; for snapshots of marks
};

// Not thread safe. May be copied.
class RankMarks {
 public:
  static constexpr std::size_t kMostSeries = 64;   // marks of further ones are counted, and make no snapshots
  static constexpr std::uint32_t kMostIds = 4096;  // of calls and of names of values; further ones share one
  static constexpr std::uint64_t kFurther = ~std::uint64_t{0};

  struct Series {
    explicit Series(std::size_t most) : list(most) {}
    SeriesKind kind{};
    std::uint32_t name = 0, call_site = 0;  // kCondition: its number
    std::uint64_t taken = 0;                // rounds
    std::uint32_t depth = 0;                // nesting depth of phases of this name; 1 for series that are always open
    std::int64_t begin = 0;                 // of the open snapshot
    std::int64_t level = 1;                 // kPcontrol: the latest level; kTimer: number of the open snapshot
    SnapshotList list;
    std::vector<CallCell> calls;        // of the open snapshot, in any order
    std::vector<ValueCell> values;      // of the open snapshot
    std::vector<std::uint32_t> places;  // by id: index in `calls` + 1
  };
  struct Complaints {
    std::uint64_t unfinished_phases = 0, unbegun_phases = 0, further_series = 0;
  };

  // most: as in SnapshotList, for all series together.
  explicit RankMarks(std::size_t most, const SnapshotOrigin& origin = {}) : most_(most), origin_(origin) {}

  // for_each_call_before(use): calls use(key, sums) for all of the rank's calls so far.
  template <class ForEachCallBefore>
  void mark(const Mark& mark, ForEachCallBefore&& for_each_call_before);
  // Takes a snapshot of a series without gaps: all since the previous one.
  template <class ForEachCallBefore>
  void cut(SeriesKind kind, const Mark& mark, std::int64_t number, ForEachCallBefore&& for_each_call_before);
  void add(std::uint64_t key, std::int64_t begin, const CallSums& sums);
  // Spreads calls that were made at unknown times in [begin, end) evenly over the snapshots there, an estimate; the
  // total over a series without gaps is exact.
  void spread(std::uint64_t key, std::int64_t begin, std::int64_t end, const CallSums& sums);
  [[nodiscard]] static bool is_cut(SeriesKind kind) { return kind != SeriesKind::kPhase; }
  [[nodiscard]] bool is_empty() const { return series_.empty(); }
  [[nodiscard]] const std::vector<Series>& series() const { return series_; }
  [[nodiscard]] const std::vector<std::uint64_t>& keys() const { return keys_; }    // by id, of calls
  [[nodiscard]] const std::vector<std::uint64_t>& names() const { return names_; }  // by id, of values
  // The snapshots of a series; for a series without gaps including, as the last one, the one still open at the end of
  // the run.
  [[nodiscard]] std::vector<Snapshot> snapshots_of(const Series& series, std::int64_t end) const;
  // Sends the snapshots open at the end of the run to the sink.
  void send_rest(std::int64_t end, bool lacks_calls, bool has_spread) const;
  // Open phases are unfinished.
  [[nodiscard]] Complaints complaints() const;

  void write(ByteWriter& out) const;
  void read(ByteReader& in);  // into an empty one

 private:
  [[nodiscard]] Series* find(SeriesKind kind, std::uint32_t name);
  Series* make(SeriesKind kind, const Mark& mark);
  void begin_phase(const Mark& mark);
  void end_phase(const Mark& mark);
  [[nodiscard]] std::uint32_t id_of(std::uint64_t key, FlatTable<std::uint64_t, std::uint32_t>& ids,
                                    std::vector<std::uint64_t>& keys);
  void add_open(Series& series, std::uint32_t id, const CallSums& sums);
  void add_taken(Series& series, std::uint64_t key, std::uint32_t id, std::int64_t time, const CallSums& sums);
  [[nodiscard]] static Snapshot open_of(const Series& series, std::int64_t time, std::int64_t number);
  [[nodiscard]] Snapshot rest_of(const Series& series, std::int64_t end) const;
  void give(const Series& series, const Snapshot& snapshot, const SnapshotSink::Part& part) const;
  [[nodiscard]] SnapshotSink::Series series_in_sink(const Series& series) const {
    return {origin_.program, origin_.rank, series.kind, series.name};
  }
  void take(Series& series, std::int64_t time, std::int64_t number);
  void add_value(std::uint32_t name, double x);

  std::size_t most_;
  SnapshotOrigin origin_;
  std::vector<Series> series_;
  FlatTable<std::uint64_t, std::uint32_t> ids_, name_ids_;
  std::vector<std::uint64_t> keys_, names_;
  Complaints complaints_;
};

template <class ForEachCallBefore>
void RankMarks::mark(const Mark& mark, ForEachCallBefore&& for_each_call_before) {
  using instrument::MarkKind;
  const auto number = static_cast<std::int64_t>(mark.value);
  switch (mark.kind) {
    case MarkKind::kValue:
      return add_value(mark.name, std::bit_cast<double>(mark.value));
    case MarkKind::kPhaseBegin:
      return begin_phase(mark);
    case MarkKind::kPhaseEnd:
      return end_phase(mark);
    case MarkKind::kSnapshot:
      return cut(SeriesKind::kSnapshot, mark, number, for_each_call_before);
    case MarkKind::kPcontrol:
      return cut(SeriesKind::kPcontrol, mark, number, for_each_call_before);
  }
}

template <class ForEachCallBefore>
void RankMarks::cut(SeriesKind kind, const Mark& mark, std::int64_t number, ForEachCallBefore&& for_each_call_before) {
  Series* series = find(kind, mark.name);
  if (series == nullptr) {
    series = make(kind, mark);
    if (series == nullptr) return;
    series->depth = 1;
    for_each_call_before(
        [&](std::uint64_t key, const CallSums& sums) { add_open(*series, id_of(key, ids_, keys_), sums); });
  }
  // A level applies to later activity, a number to earlier activity.
  take(*series, mark.time, kind == SeriesKind::kPcontrol ? std::exchange(series->level, number) : number);
  if (kind == SeriesKind::kTimer) series->level = number + 1;
}

}  // namespace ardoise::knowledge_sources
