// What becomes of one rank's calls when its event files are copied into the archive, as much as is known only then:
// the waiting in them (trace_waits.hpp), and whether they are in the rounds of the main loop that were chosen
// (iterations=). joined_events.hpp asks it for each event, location by location.
//
// A wait tells the begin of its call with the rate that the trace's times are made with, so that the two differ by the
// rounding only: no more than kRounding ns.
#pragma once

#include <otf2/OTF2_AttributeList.h>

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "knowledge_sources/traces/trace_clocks.hpp"
#include "knowledge_sources/wait_spans.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe.
class CopiedCalls {
 public:
  static constexpr std::uint64_t kRounding = 2;
  // References to strings in ardoise::wait: this and the number of the pattern (patterns.hpp).
  static constexpr std::uint32_t kPatterns = 3u << 20;  // behind those of rank_texts.hpp

  struct Times {  // time stamps: begin included, end not
    std::uint64_t begin, end;
  };
  CopiedCalls() = default;
  // waits: of the rank, in any order; the same one may come twice, from the state of a launch that was ended.
  explicit CopiedCalls(std::vector<RankWait> waits);
  // Only what begins in these, by time.
  void restrict_to(std::vector<Times> times);
  [[nodiscard]] bool has_anything_to_do() const { return is_restricted_ || !waited_.empty(); }

  // Of a location; its events follow in their order.
  void begin_location(ClocksOfLocation* clocks) {
    open_.clear();
    clocks_ = clocks;
  }
  // A region, by TraceRegion::key(). These say whether the event is kept.
  [[nodiscard]] bool enter(std::uint64_t time, std::uint64_t key);
  [[nodiscard]] bool leave(OTF2_AttributeList* attributes);
  [[nodiscard]] bool keeps(std::uint64_t time) const;
  // Operations that may end in another call: `id` is unique in the rank.
  [[nodiscard]] bool starts(std::uint64_t time, std::uint64_t id);
  [[nodiscard]] bool goes_on(std::uint64_t id) const { return !is_restricted_ || started_.contains(id); }
  [[nodiscard]] bool ends(std::uint64_t id) { return !is_restricted_ || started_.erase(id) != 0; }

  // Of each event that has a clock, whether it is kept (attributes) or not (nullptr).
  void take_clock(OTF2_AttributeList* attributes);

  struct Waited {  // a call that waited
    std::uint64_t key, time, ns;
    std::uint32_t function, pattern;
    bool is_found;
  };
  [[nodiscard]] std::span<const Waited> waited() const { return waited_; }

 private:
  struct Open {
    const Waited* waited;
    bool is_kept, is_phase;
  };
  [[nodiscard]] bool is_in_time(std::uint64_t time) const;
  [[nodiscard]] const Waited* take_waited(std::uint64_t time, std::uint64_t key);

  std::vector<Waited> waited_;  // by key and time
  bool is_restricted_ = false;
  std::vector<Times> times_;
  std::vector<Open> open_;
  ClocksOfLocation* clocks_ = nullptr;
  std::unordered_set<std::uint64_t> started_;  // in calls that are kept
};

}  // namespace ardoise::knowledge_sources
