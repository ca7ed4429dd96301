// Tasks of an analyzer besides taking packs, from its first pack until all analyzers have settled: saves its state when
// the launch is ended and, in case there is no time for that, twice a second before; answers snapshot requests; reports
// hangs; triggers KeepSafe.
//
// When a process dies, Open MPI ends the launch with SIGCONT, SIGTERM and SIGKILL to all others: a second later, or,
// after MPI_Abort, within milliseconds. So the state is saved at the first sign: a dead peer, SIGCONT, or a dead
// guardian (guardian.hpp). If the launch goes on, so does the analysis.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/hangs/hang_watch.hpp"
#include "analyzer/launch/keep_safe.hpp"
#include "analyzer/options/options.hpp"
#include "analyzer/results/results.hpp"
#include "analyzer/run/analyzer_run.hpp"
#include "analyzer/run/event_loop.hpp"
#include "analyzer/sources/stream_source.hpp"
#include "analyzer/states/memory_kills.hpp"
#include "analyzer/states/safe_keeper.hpp"
#include "analyzer/states/snapshot.hpp"

namespace ardoise::analyzer {

class LaunchWatch {
 public:
  struct Setting {
    std::vector<knowledge_sources::Program> programs;
    unsigned rank = 0, analyzers = 1;
    double hang_seconds = 0;                           // 0: never
    knowledge_sources::TraceArchive* trace = nullptr;  // nullptr: none
  };
  // All arguments outlive the object. facts gets a notice for each hang.
  LaunchWatch(EventLoop& loop, AnalyzerRun& run, const Options& options, RunFacts& facts, Setting setting);
  ~LaunchWatch();
  LaunchWatch(const LaunchWatch&) = delete;
  LaunchWatch& operator=(const LaunchWatch&) = delete;

  void begin(StreamSource& stream) { stream_ = &stream; }
  // All packs of the stream have been submitted; it may be destroyed.
  void stream_ends();

 private:
  void save();
  // Ends the process after SIGTERM; its state is saved then.
  void end();
  void look_for_deaths();
  void look_for_a_hang();
  void answer();
  void renew_first_state();
  void keep();
  [[nodiscard]] std::string trace_mark() const;
  void write(const std::string& prefix, std::int64_t time);
  [[nodiscard]] std::map<ProcessKey, bool> processes() const;  // as StreamSource::processes()

  EventLoop& loop_;
  AnalyzerRun& run_;
  const Options& options_;
  RunFacts& facts_;
  const Setting setting_;
  const std::int64_t process_ = ::getpid();  // not that of a copy
  const std::uint64_t memory_kills_before_ = memory_kills();
  StreamSource* stream_ = nullptr;        // nullptr: before and after the stream
  std::map<ProcessKey, bool> processes_;  // at the end of the stream
  NextPacks arrived_;
  std::vector<std::string> first_gone_;  // processes that ended the launch, as far as seen
  std::size_t known_gone_ = 0;
  bool has_saved_ = false;
  SafeKeeper keeper_, snapshots_;
  EventLoop::Clock::time_point renewed_{};  // time of the first state
  NextPacks renewed_with_;
  SnapshotRequests requests_;
  KeepSafe keep_safe_;
  std::optional<HangWatch> hang_watch_;
  bool has_begun_to_keep_ = false;
  const EventLoop::Registration deaths_, answers_, renewals_, hangs_, keeps_;
};

}  // namespace ardoise::analyzer
