// Decides when a thread's sampling rate falls or rises. Memory, stream and the cost of sampling drive one number, the
// shift s: the rate is the base rate divided by 2^s. Plain arithmetic, fed by SampleStore, tested alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "instrument/format/event_format.hpp"

namespace ardoise::instrument {

// All ticks are of one monotonic clock.
class RateControl {
 public:
  struct Limits {
    double share = 0.01;           // of the time that sampling may cost; 0: no limit
    std::uint64_t hold_ticks = 1;  // minimum time between a change and a rise
    std::uint32_t max_shift = kMaxSampleLevel;
  };
  RateControl() = default;
  RateControl(const Limits& limits, std::uint64_t tick) : limits_(limits), begin_(tick), changed_(tick) {
    hold_ = limits_.hold_ticks;
  }

  [[nodiscard]] std::uint32_t shift() const { return shift_; }
  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  [[nodiscard]] std::uint64_t mean_cost() const { return samples_ == 0 ? 0 : cost_ / samples_; }  // ticks

  // No bin was free. False: the rate is the lowest already.
  bool lower(std::uint64_t tick) {
    if (shift_ == limits_.max_shift) return false;
    // The last rise did not last: the next one waits longer.
    if (rose_ && tick - changed_ < 2 * hold_) hold_ = std::min(2 * hold_, kMaxHolds * limits_.hold_ticks);
    rose_ = false;
    change(shift_ + 1, tick);
    return true;
  }
  void set(std::uint32_t shift, std::uint64_t tick) {
    rose_ = false;
    change(std::min(shift, limits_.max_shift), tick);
  }

  void set_share(double share) { limits_.share = share; }

  // The number of halvings that bring a rate that costs `share` of the time to a cost of at most `limit`.
  [[nodiscard]] static std::uint32_t halvings(double share, double limit, std::uint32_t most) {
    std::uint32_t count = 0;
    for (; share > limit && count < most; share /= 2) ++count;
    return count;
  }

  // Adds the cost of one sample. True: the rate must be lowered to wanted(), by set().
  [[nodiscard]] bool cost(std::uint64_t ticks, std::uint64_t tick) {
    cost_ += ticks;
    ++samples_;
    window_cost_ += ticks;
    ++window_samples_;
    // Both are needed: a sample that was itself interrupted, or a very short time, says nothing.
    if (window_samples_ < kWindowSamples || tick - begin_ < limits_.hold_ticks / kWindowsPerHold) return false;
    share_ = tick > begin_ ? static_cast<double>(window_cost_) / static_cast<double>(tick - begin_) : 0;
    begin_ = tick;
    window_cost_ = window_samples_ = 0;
    wanted_ = shift_;
    if (limits_.share <= 0) return false;
    wanted_ += halvings(share_, limits_.share, limits_.max_shift - shift_);
    return wanted_ > shift_;
  }
  [[nodiscard]] std::uint32_t wanted() const { return wanted_; }
  [[nodiscard]] double share() const { return share_; }  // of the last window

  // The thread's samples went to the stream, and the pool has this share of free bins. True: the rate rose.
  [[nodiscard]] bool rise(double free_share, std::uint64_t tick) {
    if (shift_ == 0 || free_share < kFreeToRise || tick - changed_ < hold_) return false;
    // Twice the samples cost twice the share. A margin remains, otherwise the rate would oscillate.
    if (limits_.share > 0 && 2 * share_ > kShareToRise * limits_.share) return false;
    // The last rise lasted: shorten the hold time again, step by step.
    if (rose_) hold_ = std::max(hold_ / 2, limits_.hold_ticks);
    change(shift_ - 1, tick);
    rose_ = true;
    return true;
  }

 private:
  static constexpr double kFreeToRise = 0.75, kShareToRise = 0.8;
  static constexpr std::uint64_t kMaxHolds = 64, kWindowSamples = 32, kWindowsPerHold = 16;

  void change(std::uint32_t shift, std::uint64_t tick) {
    // The best estimate until a window at the new rate has passed.
    share_ = shift >= shift_ ? share_ / static_cast<double>(1u << (shift - shift_))
                             : share_ * static_cast<double>(1u << (shift_ - shift));
    shift_ = shift;
    changed_ = begin_ = tick;
    window_cost_ = window_samples_ = 0;
  }

  Limits limits_{};
  std::uint32_t shift_ = 0, wanted_ = 0;
  std::uint64_t begin_ = 0;    // of the window
  std::uint64_t changed_ = 0;  // tick of the last change
  std::uint64_t hold_ = 1;
  bool rose_ = false;  // the last change was a rise
  double share_ = 0;
  std::uint64_t cost_ = 0, samples_ = 0, window_cost_ = 0, window_samples_ = 0;
};

}  // namespace ardoise::instrument
