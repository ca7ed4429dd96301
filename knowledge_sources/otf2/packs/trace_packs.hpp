// Converts an OTF2 archive of any writer to the packs that its program would have sent under Ardoise.
//
//   const ArchiveReader archive("trace");
//   const TracedProgram program(archive);
//   TracePacks packs(program, [&](MadePack pack) { … });
//   const ArchiveFaults faults = archive.read_side_by_side(packs);
//   packs.finish();
//
// All locations are read side by side, so that the packs of all ranks advance together in time, as in a running launch.
// Memory: the packs being filled for each recording thread, and the operations in flight of each rank.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "knowledge_sources/otf2/packs/traced_thread.hpp"
#include "knowledge_sources/otf2/reader/event_callbacks.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe. The program outlives it.
class TracePacks final : public EventConsumer {
 public:
  TracePacks(const TracedProgram& program, TakePack take) : program_(program), take_(std::move(take)) {}

  [[nodiscard]] bool event(const ArchivedEvent& event) override;
  // After the last event. Sends each rank's last pack, even without events.
  void finish();

  // A sentence for each kind of data that is omitted or changed.
  [[nodiscard]] std::vector<std::string> notices() const;

 private:
  static constexpr std::uint64_t kEventsTogether = std::uint64_t{1} << 18;  // then all packs are sent, full or not
  struct Place {
    TracedThread* thread = nullptr;  // nullptr: omitted
    bool is_samples = false;
  };
  [[nodiscard]] Place place_of(const ArchivedLocation& location, std::uint64_t time);
  [[nodiscard]] TracedRank& rank_of(std::uint32_t number, std::uint64_t first_tick);

  const TracedProgram& program_;
  const TakePack take_;
  std::vector<std::unique_ptr<TracedRank>> ranks_;
  std::unordered_map<std::uint64_t, std::unique_ptr<TracedThread>> threads_;  // by rank and thread
  std::unordered_map<const ArchivedLocation*, Place> places_;
  const ArchivedLocation* last_location_ = nullptr;
  Place last_place_;
  std::uint64_t events_ = 0;
  TracedLosses losses_;
};

}  // namespace ardoise::knowledge_sources
