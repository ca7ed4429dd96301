#include "knowledge_sources/plugins/snapshots/rank_series.hpp"

#include <bit>

namespace ardoise::knowledge_sources {
namespace {

// The interrupted function is enough: no offset.
instrument::SampledExtension sample_of(const Moment& moment) {
  instrument::SampledExtension sample{};
  sample.context = moment.where;
  sample.function = static_cast<std::uint16_t>(moment.key >> 8);
  sample.flags = static_cast<std::uint8_t>(moment.key);
  return sample;
}

}  // namespace

void RankSeries::add_first_thread(std::uint64_t order, std::span<const Moment> moments) {
  const auto take = [this](std::span<const Moment> ordered, bool after_gap) { deliver(ordered, after_gap); };
  if (packs_.take(order)) {
    deliver(moments, false);
    packs_.deliver_ready(take);
  } else {
    packs_.add(order, {moments.begin(), moments.end()}, moments.size_bytes(), take);
  }
}

void RankSeries::give_up_missing() {
  packs_.give_up_missing([this](std::span<const Moment> moments, bool after_gap) { deliver(moments, after_gap); });
}

void RankSeries::deliver(std::span<const Moment> moments, bool after_gap) {
  if (after_gap) lacks_calls();
  for (const Moment& moment : moments) {
    if (moment.begin > series_.last_begin()) place_until(moment.begin);
    if (interval_ != 0) cut_intervals(moment.begin);
    const bool is_call = moment.kind == Moment::Kind::kVisit || moment.kind == Moment::Kind::kCall;
    if (load_ != nullptr && is_call && moment.sums.calls != 0)
      load_->call(moment.begin, moment.begin + static_cast<std::int64_t>(moment.sums.ns));
    switch (moment.kind) {
      case Moment::Kind::kVisit:
        series_.visit(moment.key, moment.begin, moment.sums);
        add_to_marks(moment);
        break;
      case Moment::Kind::kCall:
      case Moment::Kind::kCounted:
        add_call(moment);
        break;
      case Moment::Kind::kMark:
        add_mark(moment);
        break;
      case Moment::Kind::kSample:
        add_sample(moment);
        break;
    }
  }
}

void RankSeries::add_sample(const Moment& moment) {
  const auto thread = static_cast<std::uint32_t>(moment.key >> 32);
  Moment call = moment;
  call.key = kIsSampled | in_thread(thread) | places_.number_of(thread, sample_of(moment));
  add_call(call);
}

void RankSeries::add_call(const Moment& moment) {
  series_.add(moment.key, moment.begin, moment.sums);
  add_to_marks(moment);
}

// All calls so far, for a series that begins with the run and becomes known only now.
template <class Use>
void RankSeries::for_each_call_before(Use&& use) const {
  series_.for_each_sum(use);
  for (const auto& [key, sums] : spread_) use(key, sums);
}

// A call that makes a condition true belongs to the snapshot taken then.
void RankSeries::add_to_marks(const Moment& moment) {
  marks_.add(moment.key, moment.begin, moment.sums);
  if (moment.kind == Moment::Kind::kSample) return;
  if (moment.kind == Moment::Kind::kCounted) return add_counted(moment);
  const std::int64_t end = moment.begin + static_cast<std::int64_t>(moment.sums.ns);
  conditions_.call(moment.key, end, moment.sums, moment.is_in_world,
                   [&](std::uint32_t condition) { cut(condition, end); });
  watched_.call(moment.key, end, moment.sums, moment.is_in_world, becomes_true_);
}

void RankSeries::add_counted(const Moment& moment) {
  const std::uint32_t name = place_of_key(moment.key);
  const std::int64_t time = moment.begin;
  conditions_.counted(name, moment.sums.bytes, time, [&](std::uint32_t condition) { cut(condition, time); });
  watched_.counted(name, moment.sums.bytes, time, becomes_true_);
}

void RankSeries::cut(std::uint32_t condition, std::int64_t time) {
  const Mark mark{instrument::MarkKind::kSnapshot, condition, 0, time, 0};
  marks_.cut(SeriesKind::kCondition, mark, conditions_.times_held(condition),
             [this](auto&& use) { for_each_call_before(use); });
}

// Intervals without calls are added to the next one.
void RankSeries::cut_intervals(std::int64_t time) {
  const std::int64_t interval = time / interval_;
  if (interval <= this_interval_) return;
  const Mark mark{instrument::MarkKind::kSnapshot, 0, 0, interval * interval_, 0};
  marks_.cut(SeriesKind::kTimer, mark, interval - 1, [this](auto&& use) { for_each_call_before(use); });
  this_interval_ = interval;
}

void RankSeries::add_mark(const Moment& moment) {
  const Mark mark{moment.mark, static_cast<std::uint32_t>(moment.key), moment.where, moment.begin, moment.sums.ns};
  marks_.mark(mark, [this](auto&& use) { for_each_call_before(use); });
  if (mark.kind != instrument::MarkKind::kValue) return;
  const auto value = std::bit_cast<double>(mark.value);
  conditions_.value(mark.name, value, mark.time, [&](std::uint32_t condition) { cut(condition, mark.time); });
  watched_.value(mark.name, value, mark.time, becomes_true_);
}

void RankSeries::add_other(const Moment& moment) {
  if (moment.kind == Moment::Kind::kMark && moment.mark != instrument::MarkKind::kValue) {
    ++marks_of_other_threads_;
    return;
  }
  others_.emplace(moment.begin, moment);
  if (others_.size() > kMostWaiting) place_until(others_.begin()->first + 1);
}

void RankSeries::add_sums(std::uint64_t key, std::int64_t begin, std::int64_t end, const CallSums& sums) {
  spreads_.emplace(end, Spread{key, begin, sums});
  if (spreads_.size() <= kMostWaiting) return;
  const auto first = spreads_.extract(spreads_.begin());
  place(first.key(), first.mapped());
}

void RankSeries::place(std::int64_t end, const Spread& spread) {
  marks_.spread(spread.key, spread.begin, end, spread.sums);
  spread_[spread.key] += spread.sums;
  conditions_.call(spread.key, end, spread.sums, false, [&](std::uint32_t condition) { cut(condition, end); });
  watched_.call(spread.key, end, spread.sums, false, becomes_true_);
}

void RankSeries::add_wait(std::uint64_t key, std::int64_t call_begin, std::uint64_t ns) {
  if (call_begin < series_.last_begin()) return place_wait(call_begin, {key, ns});
  waits_.emplace(call_begin, EarlyWait{key, ns});
  if (waits_.size() <= kMostEarlyWaits) return;
  const auto first = waits_.extract(waits_.begin());
  place_wait(first.key(), first.mapped());
}

void RankSeries::place_wait(std::int64_t call_begin, const EarlyWait& wait) {
  const CallSums sums{0, 0, 0, wait.ns};
  series_.add(wait.key, call_begin, sums);
  marks_.add(wait.key, call_begin, sums);
}

void RankSeries::place_until(std::int64_t time) {
  while (!waits_.empty() && waits_.begin()->first < time) {
    const auto first = waits_.extract(waits_.begin());
    place_wait(first.key(), first.mapped());
  }
  while (!spreads_.empty() && spreads_.begin()->first < time) {
    const auto first = spreads_.extract(spreads_.begin());
    place(first.key(), first.mapped());
  }
  while (!others_.empty() && others_.begin()->first < time) {
    const Moment moment = others_.extract(others_.begin()).mapped();
    if (moment.kind == Moment::Kind::kMark) {
      add_mark(moment);
    } else if (moment.kind == Moment::Kind::kSample) {
      add_sample(moment);
    } else {
      add_call(moment);
    }
  }
}

void RankSeries::write(ByteWriter& out) {
  place_until(INT64_MAX);
  out.put(std::uint32_t{is_whole_});
  out.put(std::uint32_t{has_moments_});
  out.put(packs_.next());
  out.put(marks_of_other_threads_);
  series_.finish();
  series_.write(out);
  marks_.write(out);
  conditions_.write(out);
  out.put_array(std::span<const SampledPlace>(places()));
}

void RankSeries::read(ByteReader& in) {
  is_whole_ = in.get<std::uint32_t>() != 0;
  has_moments_ = in.get<std::uint32_t>() != 0;
  packs_.begin_with(in.get<std::uint64_t>());
  marks_of_other_threads_ = in.get<std::uint64_t>();
  series_.read(in);
  marks_.read(in);
  conditions_.read(in);
  places_.read(in.get_array<SampledPlace>());
}

}  // namespace ardoise::knowledge_sources
