// Where the snapshots of all ranks go one by one as they are taken, beside what is kept of them for the model: a file,
// analyzer/results/snapshot_log.hpp. Called by workers, concurrently.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "knowledge_sources/snapshot_files/snapshot_list.hpp"

namespace ardoise::knowledge_sources {

enum class SeriesKind : std::uint8_t { kSnapshot, kPhase, kPcontrol, kCondition, kTimer, kIteration };

// As in profile.json.
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

  // Of a snapshot.
  struct Part {
    std::uint64_t index = 0;   // how many rounds the series had before
    bool is_rest = false;      // what came after the last cut
    bool lacks_calls = false;  // of the rank some did not arrive; this and the next are told with the rest
    bool has_spread = false;   // of the rank some became sums, and are spread evenly
  };
  // keys, names: by id, as in RankMarks.
  virtual void take(const Series& series, const Part& part, const Snapshot& snapshot,
                    std::span<const std::uint64_t> keys, std::span<const std::uint64_t> names) = 0;
  // A call that belongs to a snapshot which was taken before.
  virtual void take_late(const Series& series, std::int64_t time, std::uint64_t key, const CallSums& sums) = 0;

  // Of "snapshot" and "phase", and of values.
  virtual void name_mark(std::uint32_t program, std::uint32_t name, std::string_view text) = 0;
  // Of a series of any other kind.
  virtual void name_series(std::uint32_t program, SeriesKind kind, std::uint32_t name, std::string_view text) = 0;
  // Where a call was made, or the rank was sampled.
  struct Place {
    std::string_view module;   // path
    std::uint64_t offset = 0;  // in it
    std::string_view symbol, source_file;
    std::uint32_t line = 0;
    std::string_view stack{};  // where it was sampled: "main;step;relax"
  };
  // While it runs, when only the module is known.
  virtual void name_call_site(std::uint32_t program, std::uint32_t call_site, const Place& place) = 0;
  // At the end. key: as in CallSums.
  virtual void name_call(std::uint32_t program, std::uint32_t rank, std::uint64_t key, const Place& place) = 0;
};

}  // namespace ardoise::knowledge_sources
