// The combined snapshots of files: merges the definitions of all blocks and adds late calls to their snapshots.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "knowledge_sources/snapshot_files/snapshot_block.hpp"

namespace ardoise::knowledge_sources {

// Throws std::runtime_error with a sentence.
struct SnapshotsOfOtherRun : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class SnapshotTable {
 public:
  using Block = SnapshotBlock;
  struct SeriesKey {
    std::uint32_t program;  // its number
    SeriesKind kind;
    std::uint32_t number;
    friend auto operator<=>(const SeriesKey&, const SeriesKey&) = default;
  };
  struct Snapshots {
    std::string name;
    std::map<std::uint32_t, std::vector<Block::Record>> ranks;  // by index; ids of cells: in calls(), values()
  };

  // Throws SnapshotsOfOtherRun.
  void add(const Block& block);
  // After all blocks: adds late calls to their snapshots. Returns the number of late calls without a snapshot.
  std::uint64_t finish();

  [[nodiscard]] const std::map<std::uint32_t, Block::Program>& programs() const { return programs_; }
  [[nodiscard]] std::map<SeriesKey, Snapshots>& series() { return series_; }
  [[nodiscard]] const std::map<SeriesKey, Snapshots>& series() const { return series_; }
  [[nodiscard]] const std::vector<Block::Call>& calls() const { return calls_; }     // `program`: its number
  [[nodiscard]] const std::vector<Block::Value>& values() const { return values_; }  // `program`: its number
  [[nodiscard]] std::uint64_t run() const { return run_.value_or(0); }

 private:
  using CallKey = std::tuple<std::uint32_t, Block::CallKind, std::uint32_t, std::uint32_t, std::uint32_t, std::string>;
  std::uint32_t id_of(const Block& block, const Block::Call& call);
  std::uint32_t id_of(const Block& block, const Block::Value& value);

  std::optional<std::uint64_t> run_;
  std::map<std::uint32_t, Block::Program> programs_;
  std::map<SeriesKey, Snapshots> series_;
  std::vector<Block::Call> calls_;
  std::map<CallKey, std::uint32_t> call_ids_;
  std::vector<Block::Value> values_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> value_ids_;
  std::vector<std::pair<SeriesKey, Block::Record>> late_;
};

// The snapshots of the table selected by `wanted`, as blocks of some thousand sums each: use(block).
using Wanted = std::function<bool(const SnapshotTable::SeriesKey&, const SnapshotBlock::Record&)>;
void for_each_block_of(const SnapshotTable& table, const Wanted& wanted,
                       const std::function<void(const SnapshotBlock&)>& use);

}  // namespace ardoise::knowledge_sources
