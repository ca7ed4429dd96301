#include "instrument/unwind/walk_trail.hpp"

namespace ardoise::instrument {
namespace {

bool holds(std::uint64_t address, std::uint64_t value) {
  return *reinterpret_cast<const std::uint64_t*>(address) == value;
}

}  // namespace

// True from `place` outwards; otherwise no level up to the changed one can match any more.
bool WalkTrail::is_unchanged(std::uint32_t place) noexcept {
  for (std::size_t checked = 0; checked < kChecked; ++checked, --place) {
    const TrailLevel& at = levels_[place % kSlots];
    const bool is_outermost = place == begin_;
    const TrailLevel& caller = levels_[(place - 1) % kSlots];
    const bool is_same =
        (at.return_at == 0 || holds(at.return_at, at.return_value)) &&
        (at.base_at == 0 || holds(at.base_at, at.base_value)) &&
        (is_outermost || at.rbp_at <= TrailLevel::kLost || !caller.needs_rbp || holds(at.rbp_at, caller.rbp)) &&
        (is_outermost || at.rbx_at <= TrailLevel::kLost || !caller.needs_rbx || holds(at.rbx_at, caller.rbx));
    if (!is_same) {
      cursor_ = place;
      return false;
    }
    if (is_outermost) return true;
  }
  return true;
}

bool WalkTrail::meets(const TrailLevel& frame) noexcept {
  while (cursor_ != begin_ && levels_[(cursor_ - 1) % kSlots].sp < frame.sp) --cursor_;
  if (cursor_ == begin_) return false;
  const TrailLevel& at = levels_[(cursor_ - 1) % kSlots];
  if (at.sp != frame.sp || at.pc != frame.pc || at.in_call != frame.in_call || (at.needs_rbp && at.rbp != frame.rbp) ||
      (at.needs_rbx && at.rbx != frame.rbx))
    return false;
  return is_unchanged(cursor_ - 1);
}

void WalkTrail::finish(bool met, const TrailLevel* next) noexcept {
  if (met) {
    end_ = cursor_;
  } else {
    begin_ = end_ = 0;
    set_next(next);
  }
  // Beyond the outermost level of a cut trail nothing is known.
  bool rbp = !met && is_cut_, rbx = rbp;
  if (met) {
    rbp = levels_[(end_ - 1) % kSlots].needs_rbp;
    rbx = levels_[(end_ - 1) % kSlots].needs_rbx;
  }
  for (std::size_t i = inner_count_; i-- > 0;) {
    if (size() == kMost) set_next(&levels_[begin_++ % kSlots]);
    TrailLevel& level = levels_[end_++ % kSlots];
    level = inner_[i];
    rbp = level.needs_rbp = level.uses_rbp || (level.rbp_at == 0 && rbp);
    rbx = level.needs_rbx = level.uses_rbx || (level.rbx_at == 0 && rbx);
    level.context = TrailLevel::kNoContext;
  }
}

}  // namespace ardoise::instrument
