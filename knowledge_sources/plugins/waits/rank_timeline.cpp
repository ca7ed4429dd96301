#include "knowledge_sources/plugins/waits/rank_timeline.hpp"

#include <algorithm>
#include <span>

namespace ardoise::knowledge_sources {

void RankTimeline::next_point() {
  ++next_slot_;
  if (next_slot_ >= slots_ && values_.shift() < kLastGridShift) {
    values_.widen_to(values_.shift() + 1);
    next_slot_ /= 2;
    std::erase_if(pending_, [this](const Pending& each) {
      return grid_point(values_.slot_of(each.point), values_.shift()) != each.point;
    });
  }
  next_point_ = grid_point(next_slot_, values_.shift());
}

void RankTimeline::leave_outside(std::int64_t until) {
  while (next_point_ < until) {
    pending_.push_back({next_point_, outside_ + (next_point_ - now_)});
    next_point();
  }
  if (until <= now_) return;
  outside_ += until - now_;
  now_ = until;
}

void RankTimeline::pass_points(std::int64_t until, const Activity& activity) {
  for (; next_point_ < until; next_point()) put(next_point_, activity);
  now_ = std::max(now_, until);
}

// Unless the point has been dropped since.
void RankTimeline::put(std::int64_t point, const Activity& activity) {
  const std::uint64_t slot = values_.slot_of(point);
  if (grid_point(slot, values_.shift()) == point) values_.set(slot, activity);
}

void RankTimeline::add_sample(std::int64_t time, std::uint64_t weight, std::uint32_t place) {
  leave_outside(time);
  samples_ = (samples_ + 1) & 0xFFFFFF;
  if (pending_.empty()) return;
  const std::int64_t reach =
      outside_ - static_cast<std::int64_t>(std::min<std::uint64_t>(weight, std::uint64_t{1} << 62));
  for (const Pending& each : pending_) {
    put(each.point, each.outside >= reach ? Activity{Activity::kSampled, samples_ & 0xFFFFFFu, place}
                                          : Activity{Activity::kOther, 0, 0});
  }
  pending_.clear();
}

void RankTimeline::end_at(std::int64_t time) {
  leave_outside(time);
  for (const Pending& each : pending_) put(each.point, {Activity::kOther, 0, 0});
  pending_.clear();
}

void RankTimeline::write(ByteWriter& out) const {
  std::vector<Activity> all(values_.size());
  for (std::size_t slot = 0; slot < all.size(); ++slot) all[slot] = values_.at(slot);
  out.put(std::uint32_t{values_.shift()});
  out.put_array(std::span<const Activity>(all));
}

void RankTimeline::read(ByteReader& in) {
  const auto shift = in.get<std::uint32_t>();
  in.check(shift >= kFirstGridShift && shift <= kLastGridShift, "has an impossible width of time");
  const auto all = in.get_array<Activity>();
  in.check(all.size() <= slots_, "has too many points in time");
  values_.widen_to(shift);
  for (std::size_t slot = 0; slot < all.size(); ++slot) values_.set(slot, all[slot]);
}

}  // namespace ardoise::knowledge_sources
