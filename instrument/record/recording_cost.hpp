// What recording takes from the program, measured where it runs: when the session starts, caches are warm, bins are few
// and nothing is sent, so that a calibration says too little. One call in kPeriod is timed from its end to the return
// into the program. What is done rarely, new bins and sending, is timed each time (Ledger::count_sending()) and not
// here.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace ardoise::instrument {

class RecordingCost {
 public:
  static constexpr std::uint32_t kPeriod = 251;  // calls of a thread, for each that is timed

  // Ticks of the part before the call; of that after it as long as nothing better is known, which counts as one timing;
  // and by how much a timing exceeds what it times: of calls in a row the processor works on several at once.
  void calibrate(double before, double after, double excess) {
    before_ = before;
    first_after_ = after;
    excess_ = std::max(excess, 0.0);
  }
  void add(std::uint64_t ticks) noexcept {
    // The thread was off its processor: that is not what recording takes.
    if (static_cast<double>(ticks) > kLongest * first_after_) return;
    after_.fetch_add(ticks, std::memory_order_relaxed);
    timed_.fetch_add(1, std::memory_order_relaxed);
  }
  // Of one call, on the average.
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
