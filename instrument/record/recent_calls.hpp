// The last calls of a thread, for the report on the end of its process. Collected when a bin leaves the thread, at no
// cost for a call.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "instrument/format/definitions.hpp"
#include "instrument/format/event_format.hpp"

namespace ardoise::instrument {

class RecentCalls {
 public:
  static constexpr std::size_t kMost = 6;

  // Adds records of the thread, in its order; skips calls that are already known.
  void add(std::span<const MpiRecord> records);
  void add(std::span<const PosixRecord> records);
  void clear() { count_ = 0; }

  // In the order of their begin.
  [[nodiscard]] std::span<const RecentCall> calls() const { return std::span(calls_).first(count_); }

 private:
  void put(const RecentCall& call);

  std::array<RecentCall, kMost> calls_{};
  std::size_t count_ = 0;
};

}  // namespace ardoise::instrument
