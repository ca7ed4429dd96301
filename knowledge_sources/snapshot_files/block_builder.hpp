// Builds a block: numbers the definitions that its snapshots refer to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "knowledge_sources/snapshot_files/snapshot_block.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe. Ignores `program` of its arguments.
class BlockBuilder {
 public:
  explicit BlockBuilder(std::uint64_t run) { block_.run = run; }

  // A snapshot without sums; they are added to the returned record before the next call.
  SnapshotBlock::Record& add(const SnapshotBlock::Program& program, SnapshotBlock::Series series,
                             const SnapshotBlock::Record& like) {
    const auto [found, is_new] =
        series_.try_emplace({program.number, series.kind, series.number}, block_.series.size());
    if (is_new) {
      series.program = id_of(program);
      block_.series.push_back(std::move(series));
    }
    SnapshotBlock::Record& record = block_.records.emplace_back();
    record.series = found->second;
    std::tie(record.rank, record.is_rest, record.is_late, record.lacks_calls, record.has_spread) =
        std::tie(like.rank, like.is_rest, like.is_late, like.lacks_calls, like.has_spread);
    std::tie(record.index, record.number, record.rounds) = std::tie(like.index, like.number, like.rounds);
    std::tie(record.begin, record.end, record.ns) = std::tie(like.begin, like.end, like.ns);
    return record;
  }
  std::uint32_t id_of(const SnapshotBlock::Program& program) {
    const auto [found, is_new] = programs_.try_emplace(program.number, block_.programs.size());
    if (is_new) block_.programs.push_back(program);
    return found->second;
  }
  std::uint32_t id_of(const SnapshotBlock::Program& program, const SnapshotBlock::Call& call) {
    const auto [found, is_new] = calls_.try_emplace(
        {program.number, call.kind, call.rank, call.place, call.thread, call.function}, block_.calls.size());
    if (is_new) {
      const std::uint32_t number = id_of(program);
      block_.calls.push_back(call);
      block_.calls.back().program = number;
    }
    return found->second;
  }
  std::uint32_t id_of(const SnapshotBlock::Program& program, const SnapshotBlock::Value& value) {
    const auto [found, is_new] = values_.try_emplace({program.number, value.number}, block_.values.size());
    if (is_new) block_.values.push_back({id_of(program), value.number, value.name});
    return found->second;
  }
  // True: the block is large enough now.
  [[nodiscard]] bool add_cells(std::size_t cells) { return (cells_ += cells) >= kEnoughCells; }

  [[nodiscard]] const SnapshotBlock& block() const { return block_; }
  void clear() { *this = BlockBuilder(block_.run); }
  [[nodiscard]] SnapshotBlock take() {
    SnapshotBlock block = std::move(block_);
    *this = BlockBuilder(block.run);
    return block;
  }

 private:
  static constexpr std::size_t kEnoughCells = 16384;

  SnapshotBlock block_;
  std::size_t cells_ = 0;
  std::map<std::uint32_t, std::uint32_t> programs_;
  std::map<std::tuple<std::uint32_t, SeriesKind, std::uint32_t>, std::uint32_t> series_;
  std::map<std::tuple<std::uint32_t, SnapshotBlock::CallKind, std::uint32_t, std::uint32_t, std::uint32_t, std::string>,
           std::uint32_t>
      calls_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> values_;
};

}  // namespace ardoise::knowledge_sources
