// Completes one rank's calls when its event files are copied into the archive, with data known only then: waiting times
// and values of plug-ins (call_notes.hpp), and the selected rounds of the main loop (iterations=). joined_events.hpp
// calls it for each event, location by location.
//
// A wait has the begin of its call at the rate of the trace's time stamps, so the two differ by rounding only: at most
// kRounding ns. A value has the exact tick.
#pragma once

#include <otf2/OTF2_AttributeList.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "knowledge_sources/interface/event_values.hpp"
#include "knowledge_sources/matching/wait_spans.hpp"
#include "knowledge_sources/otf2/writer/trace_clocks.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe.
class CopiedCalls {
 public:
  static constexpr std::uint64_t kRounding = 2;
  // String references in ardoise::wait: this plus the number of the pattern (patterns.hpp).
  static constexpr std::uint32_t kPatterns = 3u << 20;  // behind those of rank_texts.hpp
  // String references in values and in events of their own: this plus a number of WorldArchive's.
  static constexpr std::uint32_t kTexts = 4u << 20;

  struct Value {
    std::uint32_t thread;
    EventPlace place;
    std::uint64_t time;
    OTF2_AttributeRef key;
    OTF2_Type type;
    OTF2_AttributeValue value;
    OTF2_StringRef name;  // of the key
    std::uint64_t call = kNoCall;
  };

  struct Times {  // time stamps: begin inclusive, end exclusive
    std::uint64_t begin, end;
  };
  CopiedCalls() = default;
  // waits: of the rank, in any order; duplicates may come from the state of a launch that was ended.
  explicit CopiedCalls(std::vector<RankWait> waits);
  // Keeps only calls that begin in these times, which are sorted.
  void restrict_to(std::vector<Times> times);
  // Values of the rank, in any order. Values without a call become separate events if has_own is set, otherwise they
  // are dropped. Returns the number of values dropped because the event already has one of that key.
  [[nodiscard]] std::size_t attach(std::vector<Value> values, bool has_own);
  [[nodiscard]] bool has_anything_to_do() const { return is_restricted_ || !waited_.empty() || !values_.empty(); }

  // Selects a location; its events follow in order.
  void begin_location(std::uint32_t thread, ClocksOfLocation* clocks);
  // A region, by TraceRegion::key(). These return whether the event is kept.
  [[nodiscard]] bool enter(std::uint64_t time, std::uint64_t key, OTF2_AttributeList* attributes);
  [[nodiscard]] bool leave(OTF2_AttributeList* attributes);
  [[nodiscard]] bool keeps(std::uint64_t time) const;
  // Operations that may end in another call: `id` is unique in the rank.
  [[nodiscard]] bool starts(std::uint64_t time, std::uint64_t id);
  [[nodiscard]] bool goes_on(std::uint64_t id) const { return !is_restricted_ || started_.contains(id); }
  [[nodiscard]] bool ends(std::uint64_t id) { return !is_restricted_ || started_.erase(id) != 0; }

  // The next value of the location before this time that becomes a separate event; nullptr: there is none.
  [[nodiscard]] const Value* next_own(std::uint64_t before);

  // For each event with a clock: attributes of kept events, nullptr for dropped ones.
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
    std::uint64_t number;
    std::size_t first_value, last_value;  // range of values that may belong to it
  };
  static constexpr std::uint64_t kNoCall = UINT64_MAX;
  void attach_to(const Open& call, EventPlace place, OTF2_AttributeList* attributes) const;
  [[nodiscard]] bool is_in_time(std::uint64_t time) const;
  [[nodiscard]] const Waited* take_waited(std::uint64_t time, std::uint64_t key);

  std::vector<Waited> waited_;  // by key and time
  std::vector<Value> values_;   // by thread and time
  bool has_own_ = false;
  std::size_t next_value_ = 0, end_of_values_ = 0;  // of the location, not passed yet
  std::uint64_t calls_ = 0;
  bool is_restricted_ = false;
  std::vector<Times> times_;
  std::vector<Open> open_;
  ClocksOfLocation* clocks_ = nullptr;
  std::unordered_set<std::uint64_t> started_;  // in calls that are kept
};

}  // namespace ardoise::knowledge_sources
