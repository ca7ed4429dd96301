#include "knowledge_sources/snapshot_files/snapshot_list.hpp"

#include <iterator>
#include <span>

namespace ardoise::knowledge_sources {
namespace {

std::size_t size_of(const Snapshot& each) { return 2 + each.calls.size() + each.values.size(); }

template <class Cell>
void join_cells(std::vector<Cell>& into, const std::vector<Cell>& more) {
  // Usually both have the same.
  if (std::ranges::equal(into, more, {}, &Cell::id, &Cell::id)) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i].sums += more[i].sums;
    return;
  }
  std::vector<Cell> all;
  all.reserve(std::max(into.size(), more.size()));
  std::ranges::merge(into, more, std::back_inserter(all), {}, &Cell::id, &Cell::id);
  add_up_equals(all);
  into = std::move(all);
}

template <class Cell>
bool is_in_order(const std::vector<Cell>& cells, std::uint32_t ids) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].id >= ids || (i != 0 && cells[i].id <= cells[i - 1].id)) return false;
  }
  return true;
}

}  // namespace

void Snapshot::join(const Snapshot& next) {
  number = next.number;
  end = next.end;
  ns += next.ns;
  rounds += next.rounds;
  join_cells(calls, next.calls);
  join_cells(values, next.values);
}

void SnapshotList::append(Snapshot&& round) {
  if (!snapshots_.empty() && snapshots_.back().rounds < rounds_each_) {
    used_ -= size_of(snapshots_.back());
    snapshots_.back().join(round);
  } else {
    snapshots_.push_back(std::move(round));
  }
  used_ += size_of(snapshots_.back());
  while (used_ > most_ && snapshots_.size() > 1 && rounds_each_ < kMostRounds) join_pairs();
}

void SnapshotList::join_pairs() {
  rounds_each_ *= 2;
  std::vector<Snapshot> joined;
  used_ = 0;
  for (std::size_t i = 0; i < snapshots_.size(); i += 2) {
    joined.push_back(std::move(snapshots_[i]));
    if (i + 1 < snapshots_.size()) joined.back().join(snapshots_[i + 1]);
    used_ += size_of(joined.back());
  }
  snapshots_ = std::move(joined);
}

std::span<const Snapshot> SnapshotList::between(std::int64_t begin, std::int64_t end) const {
  const auto first = std::ranges::upper_bound(snapshots_, begin, {}, &Snapshot::end);
  return {first, std::ranges::lower_bound(first, snapshots_.end(), end, {}, &Snapshot::begin)};
}

bool SnapshotList::add(std::int64_t time, std::uint32_t id, const CallSums& sums) {
  const auto after = std::ranges::upper_bound(snapshots_, time, {}, &Snapshot::begin);
  if (after == snapshots_.begin()) return false;
  Snapshot& snapshot = *std::prev(after);
  if (time >= snapshot.end) return false;
  const auto cell = std::ranges::lower_bound(snapshot.calls, id, {}, &CallCell::id);
  if (cell != snapshot.calls.end() && cell->id == id) {
    cell->sums += sums;
  } else {
    snapshot.calls.insert(cell, {id, 0, sums});
    ++used_;
  }
  return true;
}

void SnapshotList::write(ByteWriter& out) const {
  out.put(rounds_each_);
  out.put_count(snapshots_.size());
  for (const Snapshot& each : snapshots_) {
    out.put(each.number);
    out.put(each.begin);
    out.put(each.end);
    out.put(each.ns);
    out.put(each.rounds);
    out.put_array(std::span<const CallCell>(each.calls));
    out.put_array(std::span<const ValueCell>(each.values));
  }
}

void SnapshotList::read(ByteReader& in, std::uint32_t ids) {
  rounds_each_ = in.get<std::uint64_t>();
  in.check(rounds_each_ >= 1 && rounds_each_ <= kMostRounds, "has a snapshot of too many rounds");
  for (auto left = in.get_count(56); left != 0; --left) {
    Snapshot& each = snapshots_.emplace_back();
    each.number = in.get<std::int64_t>();
    each.begin = in.get<std::int64_t>();
    each.end = in.get<std::int64_t>();
    each.ns = in.get<std::uint64_t>();
    each.rounds = in.get<std::uint64_t>();
    each.calls = in.get_array<CallCell>();
    each.values = in.get_array<ValueCell>();
    in.check(is_in_order(each.calls, ids) && is_in_order(each.values, ids), "has sums without an owner");
    in.check(is_time(each.begin) && is_time(each.end), "has a snapshot out of time");
    in.check(each.rounds >= 1 && (left == 1 ? each.rounds <= rounds_each_ : each.rounds == rounds_each_),
             "has a snapshot of another number of rounds than its neighbours");
    used_ += size_of(each);
  }
  in.check(std::ranges::is_sorted(snapshots_, {}, &Snapshot::begin), "has snapshots out of order");
}

}  // namespace ardoise::knowledge_sources
