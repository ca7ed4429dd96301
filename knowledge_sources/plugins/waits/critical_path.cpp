#include "knowledge_sources/plugins/waits/critical_path.hpp"

#include <algorithm>
#include <queue>
#include <span>
#include <utility>

namespace ardoise::knowledge_sources {

CriticalPath::CriticalPath(std::uint32_t ranks, std::size_t most_jumps)
    : most_(most_jumps), jumps_(ranks), ns_by_rank_(ranks), rank_at_(grid_slots(ranks)) {}

// Goes back in time and notes the path.
class CriticalPath::Walker {
 public:
  Walker(const std::vector<std::vector<Jump>>& jumps, std::vector<std::uint64_t>& ns_by_rank,
         GridValues<std::uint32_t>& rank_at)
      : jumps_(jumps), ns_by_rank_(ns_by_rank), rank_at_(rank_at), left_(jumps.size()) {
    for (std::size_t rank = 0; rank < jumps.size(); ++rank) left_[rank] = jumps[rank].size();
  }

  // The rank in which it ends.
  std::uint32_t walk(Place place, std::int64_t down_to) {
    if (place.time <= down_to) return place.rank;
    rank_at_.widen_for(place.time);
    slot_ = rank_at_.slot_of(place.time);
    point_ = grid_point(slot_, rank_at_.shift());
    while (place.time > down_to) {
      const auto begin = jumps_[place.rank].begin();
      const auto after = std::ranges::upper_bound(begin, begin + static_cast<std::ptrdiff_t>(left_[place.rank]),
                                                  place.time, {}, &Jump::time);
      left_[place.rank] = static_cast<std::size_t>(after - begin);  // each jump once, and only back in time
      const bool jumps = after != begin && (after - 1)->time > down_to;
      const std::int64_t from = jumps ? (after - 1)->time : down_to;
      note(place.rank, from, place.time);
      if (!jumps) break;
      --left_[place.rank];
      place = {(after - 1)->awaited, from};
    }
    return place.rank;
  }

 private:
  void note(std::uint32_t rank, std::int64_t from, std::int64_t to) {
    ns_by_rank_[rank] += static_cast<std::uint64_t>(to - from);
    while (point_ >= from) {
      if (point_ < to) rank_at_.set(slot_, rank + 1);
      if (slot_ == 0) break;
      point_ = grid_point(--slot_, rank_at_.shift());
    }
  }

  const std::vector<std::vector<Jump>>& jumps_;
  std::vector<std::uint64_t>& ns_by_rank_;
  GridValues<std::uint32_t>& rank_at_;
  std::vector<std::size_t> left_;  // unused jumps, by rank
  std::uint64_t slot_ = 0;         // the next point to note
  std::int64_t point_ = 0;
};

void CriticalPath::sort() {
  for (auto& each : jumps_) {
    if (!std::ranges::is_sorted(each, {}, &Jump::time)) std::ranges::stable_sort(each, {}, &Jump::time);
  }
}

std::int64_t CriticalPath::middle() const {
  std::vector<std::int64_t> times;
  times.reserve(count_);
  for (const auto& each : jumps_) {
    for (const Jump& jump : each) times.push_back(jump.time);
  }
  const auto half = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, half);
  return *half;
}

CriticalPath::Place CriticalPath::common_point_before(std::int64_t time) const {
  struct Next {
    std::int64_t time;
    std::uint32_t rank;
    bool operator<(const Next& other) const { return std::pair(time, rank) < std::pair(other.time, other.rank); }
  };
  std::vector<std::size_t> left(jumps_.size());  // jumps still ahead, by rank
  std::vector<bool> has_way(jumps_.size(), true);
  std::priority_queue<Next> next;
  const auto expect = [&](std::uint32_t rank, std::int64_t until) {
    const auto begin = jumps_[rank].begin();
    const auto after =
        std::ranges::upper_bound(begin, begin + static_cast<std::ptrdiff_t>(left[rank]), until, {}, &Jump::time);
    left[rank] = static_cast<std::size_t>(after - begin);
    if (left[rank] != 0) next.push({(after - 1)->time, rank});
  };
  for (std::uint32_t rank = 0; rank < jumps_.size(); ++rank) {
    left[rank] = jumps_[rank].size();
    expect(rank, time);
  }
  for (std::size_t ways = jumps_.size(); !next.empty();) {
    const Next latest = next.top();
    next.pop();
    if (!has_way[latest.rank] || left[latest.rank] == 0) continue;
    const Jump& jump = jumps_[latest.rank][left[latest.rank] - 1];
    if (jump.time != latest.time) continue;  // an outdated entry
    --left[latest.rank];
    has_way[latest.rank] = false;
    if (has_way[jump.awaited]) {
      if (--ways == 1) return {jump.awaited, jump.time};
    } else {
      has_way[jump.awaited] = true;
      expect(jump.awaited, jump.time);
    }
  }
  return {0, settled_to_};
}

void CriticalPath::forget_until(std::int64_t time) {
  count_ = 0;
  for (auto& each : jumps_) {
    each.erase(each.begin(), std::ranges::upper_bound(each, time, {}, &Jump::time));
    count_ += each.size();
  }
  settled_to_ = time;
}

void CriticalPath::settle() {
  sort();
  const std::int64_t half = middle();
  const Place common = common_point_before(half);
  if (common.time > settled_to_) {
    const std::uint32_t first = Walker(jumps_, ns_by_rank_, rank_at_).walk(common, settled_to_);
    if (settled_to_ == 0) first_rank_ = first;
    forget_until(common.time);
  }
  if (count_ <= most_ - most_ / 4) return;
  give_up_until(half);
}

void CriticalPath::give_up_until(std::int64_t time) {
  unsettled_ns_ += static_cast<std::uint64_t>(time - settled_to_);
  forget_until(time);
}

void CriticalPath::keep_latest(std::size_t most) {
  if (count_ <= most) return;
  sort();
  std::int64_t last = settled_to_;
  for (const auto& each : jumps_) {
    if (!each.empty()) last = std::max(last, each.back().time);
  }
  // As if they were spread evenly.
  const double kept = static_cast<double>(most) / static_cast<double>(count_);
  give_up_until(last - static_cast<std::int64_t>(kept * static_cast<double>(last - settled_to_)));
}

CriticalPath::Path CriticalPath::take_path(std::uint32_t last_rank, std::int64_t end,
                                           std::span<const std::int64_t> begins) {
  sort();
  std::uint32_t first = Walker(jumps_, ns_by_rank_, rank_at_).walk({last_rank, end}, settled_to_);
  if (settled_to_ != 0) first = first_rank_;
  if (first < begins.size() && begins[first] > 0) {
    ns_by_rank_[first] -= std::min<std::uint64_t>(ns_by_rank_[first], static_cast<std::uint64_t>(begins[first]));
    for (std::uint64_t slot = 0; slot < rank_at_.size(); ++slot) {
      if (grid_point(slot, rank_at_.shift()) >= begins[first]) break;
      rank_at_.set(slot, 0);
    }
  }
  return {std::move(rank_at_), std::move(ns_by_rank_), unsettled_ns_, late_};
}

// All jumps are on one analyzer, unless analyzers are not connected.
void CriticalPath::merge(const CriticalPath& other) {
  if (other.settled_to_ > settled_to_ && settled_to_ == 0) {
    auto own = std::exchange(jumps_, std::vector<std::vector<Jump>>(jumps_.size()));
    settled_to_ = other.settled_to_;
    first_rank_ = other.first_rank_;
    unsettled_ns_ = other.unsettled_ns_;
    ns_by_rank_ = other.ns_by_rank_;
    rank_at_ = other.rank_at_;
    count_ = 0;
    for (std::uint32_t rank = 0; rank < own.size(); ++rank) {
      for (const Jump& jump : own[rank]) add(rank, jump.awaited, jump.time);
    }
  }
  late_ += other.late_;
  for (std::uint32_t rank = 0; rank < jumps_.size(); ++rank) {
    for (const Jump& jump : other.jumps_[rank]) add(rank, jump.awaited, jump.time);
  }
}

void CriticalPath::write(ByteWriter& out) const {
  out.put(settled_to_);
  out.put(first_rank_);
  out.put(unsettled_ns_);
  out.put(late_);
  out.put_array(std::span<const std::uint64_t>(ns_by_rank_));
  std::vector<std::uint32_t> ranks(rank_at_.size());
  for (std::size_t slot = 0; slot < ranks.size(); ++slot) ranks[slot] = rank_at_.at(slot);
  out.put(std::uint32_t{rank_at_.shift()});
  out.put_array(std::span<const std::uint32_t>(ranks));
  for (const auto& each : jumps_) out.put_array(std::span<const Jump>(each));
}

void CriticalPath::read(ByteReader& in) {
  settled_to_ = in.get<std::int64_t>();
  first_rank_ = in.get<std::uint32_t>();
  unsettled_ns_ = in.get<std::uint64_t>();
  late_ = in.get<std::uint64_t>();
  auto ns = in.get_array<std::uint64_t>();
  in.check(ns.size() == ns_by_rank_.size(), "belongs to a program with another number of ranks");
  ns_by_rank_ = std::move(ns);
  const auto shift = in.get<std::uint32_t>();
  in.check(shift >= kFirstGridShift && shift <= kLastGridShift, "has an impossible width of time");
  const auto ranks = in.get_array<std::uint32_t>();
  in.check(ranks.size() <= grid_slots(static_cast<std::uint32_t>(jumps_.size())), "has too many points in time");
  rank_at_.widen_to(shift);
  for (std::size_t slot = 0; slot < ranks.size(); ++slot) {
    in.check(ranks[slot] <= jumps_.size(), "refers to a rank that does not exist");
    rank_at_.set(slot, ranks[slot]);
  }
  for (auto& each : jumps_) {
    each = in.get_array<Jump>();
    count_ += each.size();
    for (const Jump& jump : each) in.check(jump.awaited < jumps_.size(), "refers to a rank that does not exist");
  }
}

}  // namespace ardoise::knowledge_sources
