#include "knowledge_sources/plugins/waits/rank_windows.hpp"

#include <algorithm>
#include <type_traits>

#include "knowledge_sources/matching/collective_kind.hpp"

namespace ardoise::knowledge_sources {

using instrument::GroupExtension;
using instrument::MpiRecord;
using instrument::Shape;
using instrument::WindowAct;
using vmpi::FunctionId;

struct RankWindows::Now {
  const MpiRecord& record;
  WindowCall call;
  const CallMoments& moments;
  const LatestSamples& samples;

  [[nodiscard]] Stretch stretch(const ThreadProgress& from, const ThreadProgress& to) const {
    Stretch stretch = stretch_between(from, to);
    if (stretch.sampled > 0) stretch.place = samples.draw(from.time, to.time);
    return stretch;
  }
  [[nodiscard]] std::uint32_t target() const { return static_cast<std::uint32_t>(record.peer); }
};

bool RankWindows::follows(const MpiRecord& record) {
  const Shape shape = record.shape();
  return shape >= Shape::kPut && shape <= Shape::kWindow && collective_kind(record.function()) == CollectiveKind::kNone;
}

void RankWindows::add(const MpiRecord& record, const Part& part, const CallMoments& call,
                      const LatestSamples& samples) {
  group_of_ = nullptr;
  if (given_up_ != nullptr) return count(std::span(&record, 1));
  Window* const window = window_of(record);
  if (window == nullptr) return;
  const Now now{record, {part.begin, part.end, part.call_site, part.function}, call, samples};
  if (record.shape() != Shape::kWindow) return operate(*window, now);
  const WindowAct act = instrument::window_act_of(record.tag);
  switch (static_cast<FunctionId>(record.function())) {
    case FunctionId::kWin_start:
      return start(*window, now);
    case FunctionId::kWin_post:
      return post(*window, now);
    case FunctionId::kWin_complete:
      return complete(*window, now);
    case FunctionId::kWin_wait:
      return wait(*window, now, true);
    case FunctionId::kWin_test:
      if (act == WindowAct::kEnded) wait(*window, now, false);
      return;
    case FunctionId::kWin_lock:
      if (record.peer >= 0 && (act == WindowAct::kExclusive || act == WindowAct::kShared))
        lock(*window, now, now.target(), act == WindowAct::kExclusive);
      return;
    case FunctionId::kWin_lock_all:
      return lock(*window, now, kAllTargets, false);
    case FunctionId::kWin_unlock:
      if (record.peer >= 0) unlock(*window, now, now.target());
      return;
    case FunctionId::kWin_unlock_all:
      return unlock(*window, now, kAllTargets);
    case FunctionId::kWin_flush:
    case FunctionId::kWin_flush_all:
    case FunctionId::kWin_flush_local:
    case FunctionId::kWin_flush_local_all:
      return flush(*window, now);
    default:
      return;
  }
}

// nullptr: no memory.
RankWindows::Window* RankWindows::window_of(const MpiRecord& record) {
  const std::uint32_t comm = record.comm(), number = instrument::window_of(record.tag);
  if (last_ != nullptr && last_->comm == comm && last_->number == number) return last_;
  auto found = windows_.find({comm, number});
  if (found == windows_.end()) {
    if (!has_room()) return nullptr;
    found = windows_.emplace(std::pair(comm, number), Window{}).first;
    found->second.comm = comm;
    found->second.number = number;
  }
  return last_ = &found->second;
}

bool RankWindows::has_room() {
  if (used_ < kMost) {
    ++used_;
    return true;
  }
  give_up(&Unresolved::beyond_room);
  return false;
}

void RankWindows::start(Window& window, const Now& now) {
  const ThreadProgress since = window.has_ended ? window.last_end : now.moments.before;
  window.access = OpenAccess{now.call, since, now.moments.end, now.call.end, now.stretch(since, now.moments.begin), {}};
  group_of_ = &window;
  group_starts_ = true;
}

void RankWindows::post(Window& window, const Now& now) {
  const ThreadProgress since = window.has_ended ? window.last_end : now.moments.before;
  window.exposure = OpenExposure{now.call.begin, since, now.stretch(since, now.moments.begin), {}};
  group_of_ = &window;
  group_starts_ = false;
}

void RankWindows::add(const GroupExtension& group) {
  for (std::uint32_t i = 0; i < std::min(group.count, GroupExtension::kMost); ++i) {
    if (group_of_ == nullptr) return;
    if (group.ranks[i] < 0) continue;
    const auto rank = static_cast<std::uint32_t>(group.ranks[i]);
    auto& numbers = group_starts_ ? group_of_->starts : group_of_->posts;
    if (!numbers.contains(rank) && !has_room()) return;
    Group& ranks = group_starts_ ? group_of_->access->targets : group_of_->exposure->origins;
    const auto [with, is_new] = ranks.try_emplace(rank);
    if (is_new) with->second.number = numbers[rank]++;
  }
}

template <class Half>
void RankWindows::add_halves(const Window& window, const Group& group, Half half) {
  half.key.window.number = window.number;
  half.rank = rank_;
  half.others = static_cast<std::uint32_t>(group.size());
  half.serial = ++serial_;
  for (const auto& [rank, with] : group) {
    half.key.number = with.number;
    if constexpr (std::is_same_v<Half, Access>) {
      half.key.target = rank;
      half.first = with.first;
    } else {
      half.key.origin = rank;
    }
    give(window.comm, half);
  }
}

void RankWindows::complete(Window& window, const Now& now) {
  if (!window.access) return;
  const OpenAccess& open = *window.access;
  Access access{};
  access.start = open.start;
  access.complete = now.call;
  access.last_end = open.last_end_time;
  access.to_start = open.to_start;
  access.to_last = now.stretch(open.since, open.last_end);
  access.after_last = now.stretch(open.last_end, now.moments.begin);
  add_halves(window, open.targets, access);
  window.access.reset();
  end_epoch(window, now);
}

void RankWindows::wait(Window& window, const Now& now, bool waits) {
  if (!window.exposure) return;
  const OpenExposure& open = *window.exposure;
  Exposure exposure{};
  exposure.post = open.post;
  exposure.wait = now.call;
  if (!waits) exposure.wait.end = exposure.wait.begin;
  exposure.to_post = open.to_post;
  exposure.to_wait = now.stretch(open.since, now.moments.begin);
  add_halves(window, open.origins, exposure);
  window.exposure.reset();
  end_epoch(window, now);
}

void RankWindows::operate(Window& window, const Now& now) {
  if (now.record.peer < 0) return;
  if (window.access) {
    window.access->last_end = now.moments.end;
    window.access->last_end_time = now.call.end;
    const auto with = window.access->targets.find(now.target());
    if (with != window.access->targets.end() && with->second.first.end < with->second.first.begin)
      with->second.first = now.call;
  }
  for (const std::uint32_t target : {now.target(), kAllTargets}) {
    const auto lock = window.locks.find(target);
    if (lock != window.locks.end()) consider(lock->second, now, now.target(), lock->second.has_operation);
  }
}

void RankWindows::flush(Window& window, const Now& now) {
  const std::uint32_t of = now.record.peer < 0 ? kAllTargets : now.target();
  for (auto& [target, lock] : window.locks) {
    if (of == kAllTargets || target == of) consider(lock, now, target, lock.has_flush);
    if (target == kAllTargets && of != kAllTargets) consider(lock, now, of, lock.has_flush);
  }
}

// Only the first operation can have waited for the lock; with all targets locked, each may be for another one.
void RankWindows::consider(OpenLock& lock, const Now& now, std::uint32_t target, bool& has_one) {
  LockEpoch& epoch = lock.epoch;
  const bool is_first = !std::exchange(has_one, true) || epoch.target == kAllTargets;
  if (!is_first || now.call.end - now.call.begin <= epoch.later.end - epoch.later.begin) return;
  epoch.later = now.call;
  epoch.later_target = target;
}

void RankWindows::lock(Window& window, const Now& now, std::uint32_t target, bool exclusive) {
  if (!window.locks.contains(target) && !has_room()) return;
  OpenLock& open = window.locks[target];
  open = OpenLock{};
  open.epoch.window.number = window.number;
  open.epoch.rank = rank_;
  open.epoch.target = target;
  open.epoch.exclusive = exclusive ? 1 : 0;
  open.epoch.lock = now.call;
  open.epoch.later = kNoCall;
  open.epoch.later_target = target;
  open.got = now.moments.end;
}

void RankWindows::unlock(Window& window, const Now& now, std::uint32_t target) {
  const auto open = window.locks.find(target);
  if (open == window.locks.end()) return;
  consider(open->second, now, target, open->second.has_flush);
  LockEpoch& epoch = open->second.epoch;
  epoch.unlock_begin = now.call.begin;
  epoch.unlock_end = now.call.end;
  epoch.held = now.stretch(open->second.got, now.moments.begin);
  give(window.comm, epoch);
  window.locks.erase(open);
  --used_;
  end_epoch(window, now);
}

void RankWindows::end_epoch(Window& window, const Now& now) {
  window.has_ended = true;
  window.last_end = now.moments.end;
}

void RankWindows::give(std::uint32_t comm, WindowPart part) {
  if (const auto known = comms_.find(comm); known != comms_.end()) {
    place(known->second, part);
  } else if (comm >= instrument::kUnnamedComm) {
    ++unresolved_.of_no_kind;
  } else {
    early_[comm].push_back(part);
    early_bytes_.add(sizeof part);
  }
}

void RankWindows::place(const Definition& definition, WindowPart& part) {
  if (!definition.within_world) {
    ++unresolved_.of_no_kind;
    return;
  }
  if (auto* const access = std::get_if<Access>(&part)) {
    access->key.window.comm = definition.identity;
    access->key.origin = definition.own_rank;
  } else if (auto* const exposure = std::get_if<Exposure>(&part)) {
    exposure->key.window.comm = definition.identity;
    exposure->key.target = definition.own_rank;
  } else {
    std::get<LockEpoch>(part).window.comm = definition.identity;
  }
  std::visit([this](auto& each) { each.clock_error = clock_error_; }, part);
  parts_.push_back(part);
}

void RankWindows::define(std::uint32_t comm, const CommIdentity& identity, std::uint32_t own_rank, bool within_world) {
  if (!comms_.emplace(comm, Definition{identity, own_rank, within_world}).second) return;
  auto early = early_.extract(comm);
  if (!early) return;
  early_bytes_.remove(early.mapped().size() * sizeof(WindowPart));
  for (WindowPart& part : early.mapped()) give(comm, part);
}

void RankWindows::give_up(std::uint64_t Unresolved::*reason) {
  if (given_up_ != nullptr) return;
  given_up_ = reason;
  windows_.clear();
  last_ = group_of_ = nullptr;
}

std::uint64_t RankWindows::epochs_in(std::span<const MpiRecord> records) {
  std::uint64_t count = 0;
  for (const MpiRecord& record : records) {
    if (!follows(record)) continue;
    const auto function = static_cast<FunctionId>(record.function());
    const bool has_ended = function == FunctionId::kWin_complete || function == FunctionId::kWin_wait ||
                           function == FunctionId::kWin_unlock || function == FunctionId::kWin_unlock_all;
    count += has_ended || instrument::window_act_of(record.tag) == WindowAct::kEnded ? 1 : 0;
  }
  return count;
}

Unresolved RankWindows::unresolved() const {
  Unresolved sum = unresolved_;
  sum.incomplete += early_count();
  for (const auto& [id, window] : windows_) {
    sum.incomplete += window.access ? window.access->targets.size() : 0;
    sum.incomplete += window.exposure ? window.exposure->origins.size() : 0;
    sum.incomplete += window.locks.size();
  }
  return sum;
}

}  // namespace ardoise::knowledge_sources
