// What becomes of one rank's calls when its event files are copied into the archive, as much as is known only then:
// the waiting in them and values of plug-ins (call_notes.hpp), and whether they are in the rounds of the main loop that
// were chosen (iterations=). joined_events.hpp asks it for each event, location by location.
//
// A wait tells the begin of its call with the rate that the trace's times are made with, so that the two differ by the
// rounding only: no more than kRounding ns. A value tells the tick, so that both are equal.
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
  // References to strings in ardoise::wait: this and the number of the pattern (patterns.hpp).
  static constexpr std::uint32_t kPatterns = 3u << 20;  // behind those of rank_texts.hpp
  // … in values, and in events of their own: this and a number of WorldArchive's.
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

  struct Times {  // time stamps: begin included, end not
    std::uint64_t begin, end;
  };
  CopiedCalls() = default;
  // waits: of the rank, in any order; the same one may come twice, from the state of a launch that was ended.
  explicit CopiedCalls(std::vector<RankWait> waits);
  // Only what begins in these, by time.
  void restrict_to(std::vector<Times> times);
  // Of the rank, in any order. Those whose call is not there become events of their own where has_own says so, others
  // are left out. Returns how many are left out because there is one of the key for the same event.
  [[nodiscard]] std::size_t attach(std::vector<Value> values, bool has_own);
  [[nodiscard]] bool has_anything_to_do() const { return is_restricted_ || !waited_.empty() || !values_.empty(); }

  // Of a location; its events follow in their order.
  void begin_location(std::uint32_t thread, ClocksOfLocation* clocks);
  // A region, by TraceRegion::key(). These say whether the event is kept.
  [[nodiscard]] bool enter(std::uint64_t time, std::uint64_t key, OTF2_AttributeList* attributes);
  [[nodiscard]] bool leave(OTF2_AttributeList* attributes);
  [[nodiscard]] bool keeps(std::uint64_t time) const;
  // Operations that may end in another call: `id` is unique in the rank.
  [[nodiscard]] bool starts(std::uint64_t time, std::uint64_t id);
  [[nodiscard]] bool goes_on(std::uint64_t id) const { return !is_restricted_ || started_.contains(id); }
  [[nodiscard]] bool ends(std::uint64_t id) { return !is_restricted_ || started_.erase(id) != 0; }

  // The next value of the location that lies before the time and becomes an event of its own; nullptr: there is none.
  [[nodiscard]] const Value* next_own(std::uint64_t before);

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
    std::uint64_t number;
    std::size_t first_value, last_value;  // that may belong to it
  };
  static constexpr std::uint64_t kNoCall = UINT64_MAX;
  void attach_to(const Open& call, EventPlace place, OTF2_AttributeList* attributes) const;
  [[nodiscard]] bool is_in_time(std::uint64_t time) const;
  [[nodiscard]] const Waited* take_waited(std::uint64_t time, std::uint64_t key);

  std::vector<Waited> waited_;  // by key and time
  std::vector<Value> values_;   // by thread and time
  bool has_own_ = false;
  std::size_t next_value_ = 0, end_of_values_ = 0;  // of the location: not passed yet
  std::uint64_t calls_ = 0;
  bool is_restricted_ = false;
  std::vector<Times> times_;
  std::vector<Open> open_;
  ClocksOfLocation* clocks_ = nullptr;
  std::unordered_set<std::uint64_t> started_;  // in calls that are kept
};

}  // namespace ardoise::knowledge_sources
