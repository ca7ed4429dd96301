// The snapshots of one series of a rank, in sequence, in bounded memory: when full, neighbours are joined in pairs, and
// from then on a snapshot covers 2, 4, 8 … rounds. Sums stay exact.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/snapshot_files/call_sums.hpp"

namespace ardoise::knowledge_sources {

// Sums of values passed to ardoise_value().
struct ValueSums {
  std::uint64_t count = 0;
  double sum = 0, least = 0, most = 0;
  [[nodiscard]] static ValueSums one(double x) { return {1, x, x, x}; }
  ValueSums& operator+=(const ValueSums& other) {
    if (other.count == 0) return *this;
    least = count == 0 ? other.least : std::min(least, other.least);
    most = count == 0 ? other.most : std::max(most, other.most);
    count += other.count;
    sum += other.sum;
    return *this;
  }
};

// `id`: number given by the owner of the list.
struct CallCell {
  std::uint32_t id, reserved;
  CallSums sums;
};
struct ValueCell {
  std::uint32_t id, reserved;
  ValueSums sums;
};

// Joins cells of equal id; the cells are sorted by id.
template <class Cell>
void add_up_equals(std::vector<Cell>& cells) {
  std::size_t last = 0;
  for (std::size_t i = 1; i < cells.size(); ++i) {
    if (cells[i].id == cells[last].id) {
      cells[last].sums += cells[i].sums;
    } else {
      cells[++last] = cells[i];
    }
  }
  if (!cells.empty()) cells.resize(last + 1);
}

// Times in ns on the program's time axis. Cells are sorted by id.
struct Snapshot {
  std::int64_t number = 0;  // the program's number of its last round
  std::int64_t begin = 0, end = 0;
  std::uint64_t ns = 0;  // of its rounds: less than end - begin if there are gaps
  std::uint64_t rounds = 1;
  std::vector<CallCell> calls;
  std::vector<ValueCell> values;

  void join(const Snapshot& next);
};

// Not thread safe.
class SnapshotList {
 public:
  static constexpr std::uint64_t kMostRounds = std::uint64_t{1} << 60;  // of a snapshot
  static constexpr std::int64_t kLatest = std::int64_t{1} << 61;        // ns: times beyond ± this are invalid
  [[nodiscard]] static constexpr bool is_time(std::int64_t ns) { return ns > -kLatest && ns < kLatest; }

  // most: limit of cells and snapshots together, of some 32 and 80 bytes.
  explicit SnapshotList(std::size_t most) : most_(most) {}

  // One round, later than all present ones.
  void append(Snapshot&& round);
  // A call that became known after its snapshot was taken. False: no snapshot contains it.
  bool add(std::int64_t time, std::uint32_t id, const CallSums& sums);

  [[nodiscard]] const std::vector<Snapshot>& snapshots() const { return snapshots_; }
  // Snapshots that overlap [begin, end).
  [[nodiscard]] std::span<const Snapshot> between(std::int64_t begin, std::int64_t end) const;
  [[nodiscard]] std::uint64_t rounds_each() const { return rounds_each_; }  // except for the last one

  void write(ByteWriter& out) const;
  void read(ByteReader& in, std::uint32_t ids);  // into an empty list; ids: number of valid ids

 private:
  void join_pairs();

  std::size_t most_, used_ = 0;
  std::uint64_t rounds_each_ = 1;
  std::vector<Snapshot> snapshots_;
};

}  // namespace ardoise::knowledge_sources
