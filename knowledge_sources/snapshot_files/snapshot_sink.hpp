// Receives the snapshots of all ranks one by one as they are taken, in addition to the model: a file
// (analyzer/results/snapshot_log.hpp). Called by workers, concurrently.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "knowledge_sources/snapshot_files/snapshot_list.hpp"

namespace ardoise::knowledge_sources {

enum class SeriesKind : std::uint8_t { kSnapshot, kPhase, kPcontrol, kCondition, kTimer, kIteration };

// Name as in profile.json.
[[nodiscard]] constexpr const char* trigger_of(SeriesKind kind) {
  switch (kind) {
    case SeriesKind::kSnapshot:
      return "snapshot";
    case SeriesKind::kPhase:
      return "phase";
    case SeriesKind::kPcontrol:
      return "pcontrol";
    case SeriesKind::kCondition:
      return "condition";
    case SeriesKind::kTimer:
      return "timer";
    case SeriesKind::kIteration:
      break;
  }
  return "iteration";
}

class SnapshotSink {
 public:
  // The snapshots of one trigger in a rank. name: of a mark (mark_name.hpp), or the number of a condition.
  struct Series {
    std::uint32_t program, rank;
    SeriesKind kind;
    std::uint32_t name;
    friend auto operator<=>(const Series&, const Series&) = default;
  };
  virtual ~SnapshotSink() = default;

  // The part of its series that a snapshot covers.
  struct Part {
    std::uint64_t index = 0;   // number of earlier rounds of the series
    bool is_rest = false;      // remainder after the last cut
    bool lacks_calls = false;  // some of the rank's calls did not arrive; set with the rest, like the next one
    bool has_spread = false;   // some of the rank's calls were aggregated, and are spread evenly
  };
  // keys, names: by id, as in RankMarks.
  virtual void take(const Series& series, const Part& part, const Snapshot& snapshot,
                    std::span<const std::uint64_t> keys, std::span<const std::uint64_t> names) = 0;
  // A call that belongs to an earlier snapshot.
  virtual void take_late(const Series& series, std::int64_t time, std::uint64_t key, const CallSums& sums) = 0;

  // For "snapshot" and "phase" series, and for values.
  virtual void name_mark(std::uint32_t program, std::uint32_t name, std::string_view text) = 0;
  // For series of any other kind.
  virtual void name_series(std::uint32_t program, SeriesKind kind, std::uint32_t name, std::string_view text) = 0;
  // Location of a call or of a sample.
  struct Place {
    std::string_view module;   // path
    std::uint64_t offset = 0;  // in the module
    std::string_view symbol, source_file;
    std::uint32_t line = 0;
    std::string_view stack{};  // of a sample: "main;step;relax"
  };
  // During the run, when only the module is known.
  virtual void name_call_site(std::uint32_t program, std::uint32_t call_site, const Place& place) = 0;
  // At the end. key: as in CallSums.
  virtual void name_call(std::uint32_t program, std::uint32_t rank, std::uint64_t key, const Place& place) = 0;
};

}  // namespace ardoise::knowledge_sources
