// Copies the events of one location from its parts (usually one) into one file: a launch that was ended has a second
// part with data that its processes had not sent, and some data on calls is known only at the end (copied_calls.hpp).
// Numbers of regions and names become those of the archive.
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
  // Maps a part's numbers to those of the archive, and regions to TraceRegion::key().
  struct Numbers {
    const std::vector<std::uint64_t>&regions, &names, &keys;
  };
  // calls: of the location's rank. clocks: of the location; nullptr: none. own: the parameter of values' separate
  // events, a text.
  JoinedEvents(OTF2_Archive* archive, std::uint64_t location, CopiedCalls& calls, ClocksOfLocation* clocks,
               OTF2_ParameterRef own);

  // part: its folder. False: it cannot be read or written.
  [[nodiscard]] bool add(const std::filesystem::path& part, const Numbers& numbers);
  struct Ended {
    std::uint64_t events, first_time, last_time;
    std::string fault;  // reason of a write error, or ""
  };
  [[nodiscard]] Ended end();

  // Data of the functions that copy single events.
  struct Target {
    OTF2_EvtWriter* out;
    CopiedCalls* calls;
    const Numbers* numbers = nullptr;
    std::uint64_t first = UINT64_MAX, time = 0;  // time: latest time so far
    OTF2_ParameterRef own = 0;                   // of values' separate events
    bool is_good = true;

    // Writes pending values before that time first.
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
