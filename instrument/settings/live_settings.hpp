// Settings that change while the program runs (`ardoise control`). The survivor stores them (process/watch/control.hpp)
// in the program's memory; threads see them at their next slow path or sample. Relaxed: independent of each other.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ardoise::instrument {

// Texts with a number, from the survivor, one at a time, to the first thread that takes them. Allocates nothing.
class LiveTexts {
 public:
  // Stores a text of two parts.
  void put(std::string_view begin, std::string_view what, std::uint32_t number = 0) noexcept {
    const std::uint32_t count = put_count_.load(std::memory_order_relaxed);
    Text& text = texts_[count % kTexts];
    text.size = begin.copy(text.bytes.data(), text.bytes.size());
    text.size += what.copy(text.bytes.data() + text.size, text.bytes.size() - text.size);
    text.number = number;
    put_count_.store(count + 1, std::memory_order_release);
  }
  // Calls use(text, number) for each text that was not taken yet. If more than kTexts are stored at once, the first are
  // lost.
  template <class Use>
  void take(Use&& use) {
    const std::uint32_t count = put_count_.load(std::memory_order_acquire);
    std::uint32_t taken = taken_.load(std::memory_order_relaxed);
    if (taken == count || !taken_.compare_exchange_strong(taken, count, std::memory_order_relaxed)) return;
    if (count - taken > kTexts) taken = count - kTexts;
    for (; taken != count; ++taken) {
      const Text& text = texts_[taken % kTexts];
      use(std::string_view(text.bytes.data(), text.size), text.number);
    }
  }

 private:
  static constexpr std::uint32_t kTexts = 16;
  struct Text {
    std::size_t size = 0;
    std::uint32_t number = 0;
    std::array<char, 176> bytes{};
  };
  std::array<Text, kTexts> texts_{};
  std::atomic<std::uint32_t> put_count_ = 0, taken_ = 0;
};

struct LiveSettings {
  explicit LiveSettings(std::uint64_t ticks) : flush_ticks(ticks) {}

  std::atomic<std::uint64_t> flush_ticks;
  LiveTexts changes;    // changed settings, for the report
  LiveTexts snapshots;  // names of requested snapshots, with the numbers of the commands
};

}  // namespace ardoise::instrument
