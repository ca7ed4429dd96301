#include "knowledge_sources/plugins/snapshots/rank_marks.hpp"

#include <algorithm>
#include <utility>

namespace ardoise::knowledge_sources {

RankMarks::Series* RankMarks::find(SeriesKind kind, std::uint32_t name) {
  const auto found =
      std::ranges::find_if(series_, [&](const Series& each) { return each.kind == kind && each.name == name; });
  return found == series_.end() ? nullptr : &*found;
}

RankMarks::Series* RankMarks::make(SeriesKind kind, const Mark& mark) {
  if (series_.size() == kMostSeries) {
    ++complaints_.further_series;
    return nullptr;
  }
  Series& series = series_.emplace_back(most_);
  series.kind = kind;
  series.name = mark.name;
  series.call_site = mark.call_site;
  return &series;
}

std::uint32_t RankMarks::id_of(std::uint64_t key, FlatTable<std::uint64_t, std::uint32_t>& ids,
                               std::vector<std::uint64_t>& keys) {
  if (const std::uint32_t* const known = ids.find(key); known != nullptr) return *known;
  if (keys.size() + 1 >= kMostIds && key != kFurther) return id_of(kFurther, ids, keys);
  const auto id = static_cast<std::uint32_t>(keys.size());
  keys.push_back(key);
  (void)ids.insert(key, id);
  return id;
}

void RankMarks::add_open(Series& series, std::uint32_t id, const CallSums& sums) {
  if (series.places.size() <= id) series.places.resize(id + 1);
  std::uint32_t& place = series.places[id];
  if (place == 0) {
    series.calls.push_back({id, 0, sums});
    place = static_cast<std::uint32_t>(series.calls.size());
  } else {
    series.calls[place - 1].sums += sums;
  }
}

void RankMarks::add(std::uint64_t key, std::int64_t begin, const CallSums& sums) {
  if (series_.empty()) return;
  const std::uint32_t id = id_of(key, ids_, keys_);
  for (Series& series : series_) {
    if (series.depth != 0 && begin >= series.begin) {
      add_open(series, id, sums);
    } else {
      add_taken(series, key, id, begin, sums);
    }
  }
}

void RankMarks::add_taken(Series& series, std::uint64_t key, std::uint32_t id, std::int64_t time,
                          const CallSums& sums) {
  if (series.list.add(time, id, sums) && origin_.sink != nullptr)
    origin_.sink->take_late(series_in_sink(series), time, key, sums);
}

void RankMarks::spread(std::uint64_t key, std::int64_t begin, std::int64_t end, const CallSums& sums) {
  if (series_.empty()) return;
  end = std::max(end, begin + 1);
  const auto length = static_cast<std::uint64_t>(end - begin);
  const auto until = [&](std::int64_t time) -> CallSums {  // of calls before `time`
    const auto part = static_cast<std::uint64_t>(std::clamp(time, begin, end) - begin);
    const auto of = [&](std::uint64_t all) {
      return static_cast<std::uint64_t>(static_cast<unsigned __int128>(all) * part / length);
    };
    return {of(sums.calls), of(sums.ns), of(sums.bytes), 0};
  };
  const std::uint32_t id = id_of(key, ids_, keys_);
  for (Series& series : series_) {
    struct Piece {
      std::int64_t time;
      CallSums sums;
    };
    std::vector<Piece> taken;
    CallSums before;  // part before this snapshot, or in no snapshot
    const auto difference = [](const CallSums& all, const CallSums& less) -> CallSums {
      return {all.calls - less.calls, all.ns - less.ns, all.bytes - less.bytes, 0};
    };
    for (const Snapshot& snapshot : series.list.between(begin, end)) {
      if (!is_cut(series.kind)) before = until(snapshot.begin);
      const CallSums all = until(snapshot.end);
      taken.push_back({snapshot.begin, difference(all, before)});
      before = all;
    }
    for (const Piece& piece : taken) {
      if (piece.sums != CallSums{}) add_taken(series, key, id, piece.time, piece.sums);
    }
    if (series.depth == 0) continue;
    if (!is_cut(series.kind)) before = until(series.begin);
    const CallSums rest = difference(sums, before);
    if (rest != CallSums{}) add_open(series, id, rest);
  }
}

void RankMarks::begin_phase(const Mark& mark) {
  Series* series = find(SeriesKind::kPhase, mark.name);
  if (series == nullptr) series = make(SeriesKind::kPhase, mark);
  if (series != nullptr && series->depth++ == 0) series->begin = mark.time;
}

void RankMarks::end_phase(const Mark& mark) {
  Series* const series = find(SeriesKind::kPhase, mark.name);
  if (series == nullptr || series->depth == 0) {
    ++complaints_.unbegun_phases;
  } else if (--series->depth == 0) {
    take(*series, mark.time, 0);
  }
}

void RankMarks::add_value(std::uint32_t name, double x) {
  const std::uint32_t id = id_of(name, name_ids_, names_);
  for (Series& series : series_) {
    if (series.depth == 0) continue;
    const auto cell = std::ranges::find(series.values, id, &ValueCell::id);
    if (cell == series.values.end()) {
      series.values.push_back({id, 0, ValueSums::one(x)});
    } else {
      cell->sums += ValueSums::one(x);
    }
  }
}

Snapshot RankMarks::open_of(const Series& series, std::int64_t time, std::int64_t number) {
  const std::int64_t end = std::max(time, series.begin);
  Snapshot open{number, series.begin, end,          static_cast<std::uint64_t>(end - series.begin),
                1,      series.calls, series.values};
  // They usually arrive in that order.
  if (!std::ranges::is_sorted(open.calls, {}, &CallCell::id)) std::ranges::sort(open.calls, {}, &CallCell::id);
  std::ranges::sort(open.values, {}, &ValueCell::id);
  return open;
}

// Closes the open snapshot; later calls belong to the next one.
void RankMarks::take(Series& series, std::int64_t time, std::int64_t number) {
  Snapshot taken = open_of(series, time, number);
  for (const CallCell& cell : series.calls) series.places[cell.id] = 0;
  series.calls.clear();
  series.values.clear();
  series.begin = taken.end;
  give(series, taken, {series.taken});
  if (origin_.load != nullptr && (series.kind == SeriesKind::kSnapshot || series.kind == SeriesKind::kPhase))
    origin_.load->took(series.name, series.taken, taken, keys_);
  ++series.taken;
  series.list.append(std::move(taken));
}

void RankMarks::give(const Series& series, const Snapshot& snapshot, const SnapshotSink::Part& part) const {
  if (origin_.sink != nullptr) origin_.sink->take(series_in_sink(series), part, snapshot, keys_, names_);
}

void RankMarks::send_rest(std::int64_t end, bool lacks_calls, bool has_spread) const {
  for (const Series& series : series_) {
    if (is_cut(series.kind)) give(series, rest_of(series, end), {series.taken, true, lacks_calls, has_spread});
  }
}

Snapshot RankMarks::rest_of(const Series& series, std::int64_t end) const {
  if (series.kind == SeriesKind::kPcontrol || series.kind == SeriesKind::kTimer)
    return open_of(series, end, series.level);
  const auto& all = series.list.snapshots();
  const auto last = static_cast<std::uint64_t>(all.empty() ? -1 : all.back().number);
  const auto next = static_cast<std::int64_t>(last + 1);  // the program's numbers are arbitrary
  return open_of(series, end, next);
}

std::vector<Snapshot> RankMarks::snapshots_of(const Series& series, std::int64_t end) const {
  std::vector<Snapshot> all = series.list.snapshots();
  if (is_cut(series.kind)) all.push_back(rest_of(series, end));
  return all;
}

RankMarks::Complaints RankMarks::complaints() const {
  Complaints all = complaints_;
  for (const Series& each : series_) all.unfinished_phases += !is_cut(each.kind) && each.depth != 0 ? 1 : 0;
  return all;
}

void RankMarks::write(ByteWriter& out) const {
  out.put(complaints_);
  out.put_array(std::span<const std::uint64_t>(keys_));
  out.put_array(std::span<const std::uint64_t>(names_));
  out.put_count(series_.size());
  for (const Series& each : series_) {
    out.put(static_cast<std::uint32_t>(each.kind));
    out.put(each.name);
    out.put(each.call_site);
    out.put(each.depth);
    out.put(each.taken);
    out.put(each.begin);
    out.put(each.level);
    each.list.write(out);
    out.put_array(std::span<const CallCell>(each.calls));
    out.put_array(std::span<const ValueCell>(each.values));
  }
}

void RankMarks::read(ByteReader& in) {
  complaints_ = in.get<Complaints>();
  keys_ = in.get_array<std::uint64_t>();
  names_ = in.get_array<std::uint64_t>();
  in.check(keys_.size() <= kMostIds && names_.size() <= kMostIds, "has too many calls");
  for (std::uint32_t id = 0; id < keys_.size(); ++id) (void)ids_.insert(keys_[id], id);
  for (std::uint32_t id = 0; id < names_.size(); ++id) (void)name_ids_.insert(names_[id], id);
  for (auto left = in.get_count(32); left != 0; --left) {
    in.check(series_.size() < kMostSeries, "has too many series");
    Series& series = series_.emplace_back(most_);
    const auto kind = in.get<std::uint32_t>();
    in.check(kind <= static_cast<std::uint32_t>(SeriesKind::kTimer), "has a series of an unknown kind");
    series.kind = static_cast<SeriesKind>(kind);
    series.name = in.get<std::uint32_t>();
    series.call_site = in.get<std::uint32_t>();
    series.depth = in.get<std::uint32_t>();
    series.taken = in.get<std::uint64_t>();
    series.begin = in.get<std::int64_t>();
    in.check(SnapshotList::is_time(series.begin), "has a series out of time");
    series.level = in.get<std::int64_t>();
    series.list.read(in, kMostIds);
    for (const CallCell& cell : in.get_array<CallCell>()) {
      in.check(cell.id < keys_.size(), "has sums without an owner");
      add_open(series, cell.id, cell.sums);
    }
    series.values = in.get_array<ValueCell>();
    in.check(std::ranges::all_of(series.values, [&](const ValueCell& cell) { return cell.id < names_.size(); }),
             "has a value without a name");
    in.check(std::ranges::all_of(series.list.snapshots(),
                                 [&](const Snapshot& each) {
                                   return (each.calls.empty() || each.calls.back().id < keys_.size()) &&
                                          (each.values.empty() || each.values.back().id < names_.size());
                                 }),
             "has sums without an owner");
  }
}

}  // namespace ardoise::knowledge_sources
