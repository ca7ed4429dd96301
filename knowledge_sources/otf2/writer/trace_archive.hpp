// The trace of a launch: where its parts are written while the programs run, and how they become archives in the end,
// trace/traces.otf2 in the folder of the report. Programs that have an MPI_COMM_WORLD of their own have an archive of
// their own, trace-PROGRAM: tools take the number of a process for its rank in the one world.
//
//   trace.part/part-XXXXXX/ …   of each analyzer and program (trace_part.hpp), whole with its tables
//        └── finish() on the first analyzer ──▶ trace.part/archive-N/ ──▶ renamed: trace/
//
// A launch that was ended leaves trace.part; `--merge` finds the parts there, and finishes.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "knowledge_sources/otf2/contents/trace_selection.hpp"
#include "knowledge_sources/otf2/writer/trace_marker.hpp"
#include "knowledge_sources/otf2/writer/trace_sink.hpp"
#include "knowledge_sources/otf2/writer/world_archive.hpp"

namespace ardoise::knowledge_sources {

class TraceArchive final : public TraceSink {
 public:
  explicit TraceArchive(std::filesystem::path output);  // folder of the report
  ~TraceArchive() override;

  // Archives of an earlier run, and what one that was ended has left. On one analyzer, before the others begin.
  static void remove_old(const std::filesystem::path& output);
  // There are parts of a launch that was ended.
  [[nodiscard]] static bool has_parts(const std::filesystem::path& output);
  // What the programs' traces need to know; selection "": there is no trace.
  [[nodiscard]] TraceSettings settings(const std::string& selection);
  // Where others have written parts, which what their processes have left behind is to follow.
  [[nodiscard]] TraceSettings settings_of_ended();
  // Before the first program. complain: gets sentences of this analyzer for the report; any thread.
  void begin(std::function<void(const std::string&)> complain) { complain_ = std::move(complain); }
  // Before its packs.
  void add_program(const Program& program);

  // Makes the parts of this analyzer whole, which has not seen the end of the programs. Its board is drained.
  void close_parts();

  struct Finished {
    std::vector<std::string> archives;  // files that tools open
    std::vector<std::string> notices;   // sentences for the report
  };
  // On the first analyzer, after all programs have contributed.
  [[nodiscard]] Finished finish(const std::vector<TraceMarker>& markers = {});

  void add_part(std::function<void()> close) override;
  void complain(const std::string& sentence) override { complain_(sentence); }
  void take(std::uint32_t partition, const Resolver& resolver) override;
  void take_rounds(std::uint32_t partition, const TraceRounds& rounds) override;
  [[nodiscard]] std::vector<const TraceTables*> earlier_parts(std::uint32_t partition) const override;

 private:
  [[nodiscard]] std::filesystem::path parts_folder() const;
  void read_parts();
  void remove_parts() const;
  void give_rounds();

  const std::filesystem::path output_;
  std::function<void(const std::string&)> complain_;
  const std::int64_t process_;                 // a copy of it writes nothing
  std::map<std::uint32_t, Program> programs_;  // by partition
  std::optional<TraceSelection> selection_;    // none: there is no trace
  struct Rounds {
    std::uint64_t all = 0;            // of the rank that has most
    std::vector<TraceRounds> chosen;  // of all ranks
  };
  std::map<std::uint32_t, Rounds> rounds_;  // by partition
  std::vector<std::function<void()>> close_;
  std::mutex close_mutex_;
  std::set<std::filesystem::path> seen_folders_;
  std::deque<ReadPart> parts_;
  std::size_t earlier_ = 0;  // of them
  std::size_t broken_parts_ = 0, failed_parts_ = 0;
  std::map<std::uint32_t, std::unique_ptr<WorldArchive>> worlds_;  // by number of the world
};

}  // namespace ardoise::knowledge_sources
