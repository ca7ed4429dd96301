#include "knowledge_sources/snapshot_files/snapshot_table.hpp"

#include <algorithm>
#include <iterator>

#include "knowledge_sources/snapshot_files/block_builder.hpp"

namespace ardoise::knowledge_sources {
namespace {

void use_if_empty(std::string& text, const std::string& other) {
  if (text.empty()) text = other;
}

// Sorted by id, each once.
void put_in_order(std::vector<CallCell>& cells) {
  std::ranges::sort(cells, {}, &CallCell::id);
  add_up_equals(cells);
}

}  // namespace

// Blocks may have different information on a call.
std::uint32_t SnapshotTable::id_of(const Block& block, const Block::Call& call) {
  const std::uint32_t program = block.programs[call.program].number;
  const auto [found, is_new] =
      call_ids_.try_emplace({program, call.kind, call.rank, call.place, call.thread, call.function}, calls_.size());
  if (is_new) {
    calls_.push_back(call);
    calls_.back().program = program;
    return found->second;
  }
  Block::Call& known = calls_[found->second];
  use_if_empty(known.symbol, call.symbol);
  use_if_empty(known.stack, call.stack);
  if (known.module.empty()) std::tie(known.module, known.offset) = std::tie(call.module, call.offset);
  if (known.source_file.empty()) std::tie(known.source_file, known.line) = std::tie(call.source_file, call.line);
  return found->second;
}

std::uint32_t SnapshotTable::id_of(const Block& block, const Block::Value& value) {
  const std::uint32_t program = block.programs[value.program].number;
  const auto [found, is_new] = value_ids_.try_emplace({program, value.number}, values_.size());
  if (is_new) values_.push_back({program, value.number, ""});
  use_if_empty(values_[found->second].name, value.name);
  return found->second;
}

void SnapshotTable::add(const Block& block) {
  if (run_.value_or(block.run) != block.run)
    throw SnapshotsOfOtherRun("snapshots of different runs cannot be put together");
  run_ = block.run;
  for (const Block::Program& each : block.programs) programs_.try_emplace(each.number, each);
  std::vector<std::uint32_t> calls, values;
  for (const Block::Call& each : block.calls) calls.push_back(id_of(block, each));
  for (const Block::Value& each : block.values) values.push_back(id_of(block, each));
  std::vector<SeriesKey> keys;
  for (const Block::Series& each : block.series) {
    keys.push_back({block.programs[each.program].number, each.kind, each.number});
    use_if_empty(series_[keys.back()].name, each.name);
  }
  for (Block::Record record : block.records) {
    const SeriesKey& key = keys[record.series];
    for (CallCell& cell : record.calls) cell.id = calls[cell.id];
    for (ValueCell& cell : record.values) cell.id = values[cell.id];
    put_in_order(record.calls);
    if (record.is_late) {
      late_.emplace_back(key, std::move(record));
    } else {
      series_[key].ranks[record.rank].push_back(std::move(record));
    }
  }
}

std::uint64_t SnapshotTable::finish() {
  for (auto& [key, snapshots] : series_) {
    // A block may have been added twice.
    for (auto& [rank, records] : snapshots.ranks) {
      std::ranges::sort(records, {}, &Block::Record::index);
      const auto again =
          std::unique(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.index == b.index; });
      records.erase(again, records.end());
    }
  }
  std::uint64_t of_none = 0;
  for (auto& [key, late] : late_) {
    auto& records = series_[key].ranks[late.rank];
    const auto after = std::ranges::upper_bound(records, late.begin, {}, &Block::Record::begin);
    if (after == records.begin() || late.begin >= std::prev(after)->end) {
      ++of_none;
      continue;
    }
    auto& cells = std::prev(after)->calls;
    cells.insert(cells.end(), late.calls.begin(), late.calls.end());
    put_in_order(cells);
  }
  late_.clear();
  return of_none;
}

void for_each_block_of(const SnapshotTable& table, const Wanted& wanted,
                       const std::function<void(const SnapshotBlock&)>& use) {
  BlockBuilder builder(table.run());
  for (const auto& [key, snapshots] : table.series()) {
    const SnapshotBlock::Program& program = table.programs().at(key.program);
    for (const auto& [rank, records] : snapshots.ranks) {
      for (const SnapshotBlock::Record& record : records) {
        if (!wanted(key, record)) continue;
        SnapshotBlock::Record& into = builder.add(program, {0, key.kind, key.number, snapshots.name}, record);
        for (const CallCell& cell : record.calls) {
          const SnapshotBlock::Call& call = table.calls()[cell.id];
          into.calls.push_back({builder.id_of(program, call), 0, cell.sums});
        }
        for (const ValueCell& cell : record.values)
          into.values.push_back({builder.id_of(program, table.values()[cell.id]), 0, cell.sums});
        if (!builder.add_cells(record.calls.size() + record.values.size())) continue;
        use(builder.block());
        builder.clear();
      }
    }
  }
  if (!builder.block().records.empty()) use(builder.block());
}

}  // namespace ardoise::knowledge_sources
