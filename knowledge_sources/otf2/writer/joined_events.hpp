// The events of one location from its parts, mostly one, copied one after the other into one file: where a launch was
// ended, what its processes had not sent comes to a part of its own; and where something is known of calls in the end
// only (copied_calls.hpp). Numbers of regions and names become those of the archive.
#pragma once

#include <otf2/OTF2_Archive.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "knowledge_sources/otf2/writer/copied_calls.hpp"

namespace ardoise::knowledge_sources {

class JoinedEvents {
 public:
  // What the numbers in a part's events are in the archive, and of regions TraceRegion::key().
  struct Numbers {
    const std::vector<std::uint64_t>&regions, &names, &keys;
  };
  // calls: of the location's rank. clocks: its own; nullptr: none. own: the parameter of values' own events, a text.
  JoinedEvents(OTF2_Archive* archive, std::uint64_t location, CopiedCalls& calls, ClocksOfLocation* clocks,
               OTF2_ParameterRef own);

  // part: its folder. False: it cannot be read or written.
  [[nodiscard]] bool add(const std::filesystem::path& part, const Numbers& numbers);
  struct Ended {
    std::uint64_t events, first_time, last_time;
    std::string fault;  // why it cannot be written, or ""
  };
  [[nodiscard]] Ended end();

  // Used by what copies single events.
  struct Target {
    OTF2_EvtWriter* out;
    CopiedCalls* calls;
    const Numbers* numbers = nullptr;
    std::uint64_t first = UINT64_MAX, time = 0;  // time: that it has come to
    OTF2_ParameterRef own = 0;                   // of events that values have of their own
    bool is_good = true;

    // Writes those that lie before it first.
    [[nodiscard]] std::uint64_t move_to(std::uint64_t to) {
      write_own(to);
      return pass(to);
    }
    void write_own(std::uint64_t before);
    [[nodiscard]] std::uint64_t pass(std::uint64_t to) {
      if (first == UINT64_MAX) first = to;
      return time = to > time ? to : time;
    }
  };

 private:
  OTF2_Archive* archive_;
  std::uint64_t location_;
  Target target_;
};

}  // namespace ardoise::knowledge_sources
