// The trace of a launch: the parts written while the programs run, and the archives made of them at the end,
// trace/traces.otf2 in the folder of the report. Programs with separate MPI_COMM_WORLDs have separate archives,
// trace-PROGRAM: tools take a process's number for its rank in the only world.
//
//   trace.part/part-XXXXXX/ …   of each analyzer and program (trace_part.hpp), complete with its tables
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

  // Removes archives of an earlier run, and leftovers of an ended one. On one analyzer, before the others begin.
  static void remove_old(const std::filesystem::path& output);
  // There are parts of a launch that was ended.
  [[nodiscard]] static bool has_parts(const std::filesystem::path& output);
  // Settings for the programs' traces; selection "": there is no trace.
  [[nodiscard]] TraceSettings settings(const std::string& selection);
  // Settings for a second part, with data that the processes of an ended launch left behind.
  [[nodiscard]] TraceSettings settings_of_ended();
  // Before the first program. complain: gets sentences of this analyzer for the report; any thread.
  void begin(std::function<void(const std::string&)> complain) { complain_ = std::move(complain); }
  // Before its packs.
  void add_program(const Program& program);

  // Completes this analyzer's parts before the programs have ended. Its board is drained.
  void close_parts();

  struct Finished {
    std::vector<std::string> archives;  // files for tools to open
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
  void send_rounds();

  const std::filesystem::path output_;
  std::function<void(const std::string&)> complain_;
  const std::int64_t process_;                 // a copy of the process writes nothing
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
  std::size_t earlier_ = 0;  // number of earlier parts
  std::size_t broken_parts_ = 0, failed_parts_ = 0;
  std::map<std::uint32_t, std::unique_ptr<WorldArchive>> worlds_;  // by number of the world
};

}  // namespace ardoise::knowledge_sources
