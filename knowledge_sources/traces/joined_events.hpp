// The events of one location from several parts, one after the other, as one file: where a launch was ended, what its
// processes had not sent comes to a part of its own. Numbers of regions and names become those of the archive.
#pragma once

#include <otf2/OTF2_Archive.h>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace ardoise::knowledge_sources {

class JoinedEvents {
 public:
  JoinedEvents(OTF2_Archive* archive, std::uint64_t location);

  // part: its folder. regions, names: of the archive, by number in the part. False: it cannot be read or written.
  [[nodiscard]] bool add(const std::filesystem::path& part, const std::vector<std::uint64_t>& regions,
                         const std::vector<std::uint64_t>& names);
  // Number of all events.
  [[nodiscard]] std::uint64_t end();

  // Used by what copies single events.
  struct Target {
    OTF2_EvtWriter* out;
    const std::vector<std::uint64_t>*regions, *names;
    std::uint64_t time = 0;  // that it has come to

    [[nodiscard]] std::uint64_t move_to(std::uint64_t to) { return time = to > time ? to : time; }
  };

 private:
  OTF2_Archive* archive_;
  std::uint64_t location_;
  Target target_;
};

}  // namespace ardoise::knowledge_sources
