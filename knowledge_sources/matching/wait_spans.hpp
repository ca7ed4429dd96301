// Sends waits from `waits`, which finds them on the analyzer where an operation was matched, to sources that keep the
// calls of the waiter (snapshots, traces): entries of some waits each, of many ranks, on the analyzer that has the
// waiter's packs. Without such sources the entries match nothing.
//
//   found_.attach(sources, level);                                  // in Analysis::attach() of `waits`
//   sources.at_quiet([this] { lock; found_.flush(); });
//   found_.add(home, {waiter, function, call_site, …});             // in operations, under the same lock
//   sources.add({"snapshots", {WaitSpans::type(level)}, … waits_by_rank(entries[0]) …});    // elsewhere
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "blackboard/blackboard.hpp"
#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/interface/level_sources.hpp"

namespace ardoise::knowledge_sources {

// In one call of a rank. Times in ns on the program's time axis.
struct RankWait {
  std::uint32_t rank = 0, function = 0, call_site = 0;
  std::uint32_t pattern = 0;               // a WaitPattern
  std::int64_t call_begin = 0, begin = 0;  // begin: of the wait
  std::uint64_t ns = 0;                    // of the wait
  friend auto operator<=>(const RankWait&, const RankWait&) = default;
};

// Not thread safe.
class WaitSpans {
 public:
  static constexpr std::size_t kWaits = 256;  // of an entry

  [[nodiscard]] static blackboard::EntryType type(const std::string& level) {
    return blackboard::entry_type(level, "waits");
  }
  void attach(const LevelSources& sources, const std::string& level) {
    board_ = &sources.board();
    type_ = type(level);
    const unsigned boards = board_->boards();
    to_.resize(boards);
    // For keyed entries: a key for each analyzer.
    unsigned left = boards;
    for (std::uint64_t key = 0; left != 0; ++key) {
      To& to = to_[blackboard::owner_of(key, boards)];
      if (to.is_reached) continue;
      to.key = key;
      to.is_reached = true;
      --left;
    }
  }
  [[nodiscard]] std::size_t homes() const { return to_.size(); }
  // home: the analyzer that has the packs of the rank.
  void add(unsigned home, const RankWait& wait) {
    To& to = to_[home];
    to.waits.push_back(wait);
    if (to.waits.size() >= kWaits && !holds_) submit(to);
  }
  // At quiet: sends incomplete entries.
  void flush() {
    for (To& to : to_) {
      if (!to.waits.empty()) submit(to);
    }
  }
  // Holds all waits back while the board has to stay drained.
  void hold(bool holds) { holds_ = holds; }

  // The held waits, for the state of a running launch.
  void write(ByteWriter& out) const {
    std::vector<RankWait> all;
    for (const To& to : to_) all.insert(all.end(), to.waits.begin(), to.waits.end());
    out.put_array(std::span<const RankWait>(all));
  }

 private:
  struct To {
    std::uint64_t key = 0;
    bool is_reached = false;
    std::vector<RankWait> waits;
  };
  void submit(To& to) {
    const auto bytes = std::as_bytes(std::span<const RankWait>(to.waits));
    auto entry = blackboard::make_entry(type_, bytes.size());
    std::memcpy(entry.writable().data(), bytes.data(), bytes.size());
    to.waits.clear();
    board_->submit_keyed(std::move(entry), to.key);
  }

  blackboard::Blackboard* board_ = nullptr;
  blackboard::EntryType type_{};
  std::vector<To> to_;  // by analyzer
  bool holds_ = false;
};

// The waits of an entry, by rank.
[[nodiscard]] inline std::vector<RankWait> waits_by_rank(const blackboard::EntryRef& entry) {
  const auto bytes = entry.payload();
  std::vector<RankWait> waits(bytes.size() / sizeof(RankWait));
  if (!waits.empty()) std::memcpy(waits.data(), bytes.data(), waits.size() * sizeof(RankWait));
  std::ranges::stable_sort(waits, {}, &RankWait::rank);
  return waits;
}

}  // namespace ardoise::knowledge_sources
