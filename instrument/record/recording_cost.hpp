// The cost of recording for the program, measured during the run: at the start of the session caches are warm, bins are
// few and nothing is sent, so a calibration alone is too low. One call in kPeriod is timed from its end to the return
// into the program. Rare work (new bins, sending) is timed each time (Ledger::count_sending()) and not here.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace ardoise::instrument {

class RecordingCost {
 public:
  static constexpr std::uint32_t kPeriod = 251;  // calls of a thread per timed call

  // before: ticks of the part before the call. after: ticks of the part after it, used as the first timing. excess:
  // ticks by which a timing exceeds the timed work, since the processor overlaps calls in a row.
  void calibrate(double before, double after, double excess) {
    before_ = before;
    first_after_ = after;
    excess_ = std::max(excess, 0.0);
  }
  void add(std::uint64_t ticks) noexcept {
    // The thread was off its processor: that time is not the cost of recording.
    if (static_cast<double>(ticks) > kLongest * first_after_) return;
    after_.fetch_add(ticks, std::memory_order_relaxed);
    timed_.fetch_add(1, std::memory_order_relaxed);
  }
  // Mean ticks of one call.
  [[nodiscard]] double ticks() const {
    const auto after = static_cast<double>(after_.load(std::memory_order_relaxed));
    const auto timed = static_cast<double>(timed_.load(std::memory_order_relaxed));
    return before_ + (first_after_ + std::max(after - excess_ * timed, 0.0)) / (1 + timed);
  }

 private:
  static constexpr double kLongest = 200;  // times the calibrated part: some 10 us

  double before_ = 0, first_after_ = 0, excess_ = 0;
  std::atomic<std::uint64_t> after_ = 0, timed_ = 0;
};

}  // namespace ardoise::instrument
