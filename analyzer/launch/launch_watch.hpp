// What an analyzer does beside taking packs, from its first pack until all analyzers have settled: makes safe what it
// knows when the launch is ended and, in case that there is no time for it then, twice a second before; answers who
// asks for it meanwhile, says that the launch hangs, has it kept.
//
// When a process dies, Open MPI ends the launch with SIGCONT, SIGTERM and SIGKILL to all others: a second later, or,
// after MPI_Abort, within milliseconds. So what is here is made safe at the first sign, a peer that is gone or SIGCONT,
// or when the guardian has died (guardian.hpp); where that was none of an end, all goes on.
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
  // All outlive it. facts gets a notice of each hang.
  LaunchWatch(EventLoop& loop, AnalyzerRun& run, const Options& options, RunFacts& facts, Setting setting);
  ~LaunchWatch();
  LaunchWatch(const LaunchWatch&) = delete;
  LaunchWatch& operator=(const LaunchWatch&) = delete;

  void begin(StreamSource& stream) { stream_ = &stream; }
  // All of its packs have been submitted; it may go.
  void stream_ends();

 private:
  void save();
  // The process, which was told so (SIGTERM); what is here is safe then.
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
  StreamSource* stream_ = nullptr;        // nullptr: not yet, or not any more
  std::map<ProcessKey, bool> processes_;  // when the stream ended
  NextPacks arrived_;
  std::vector<std::string> first_gone_;  // what ended the launch, where it was seen
  std::size_t known_gone_ = 0;
  bool has_saved_ = false;
  SafeKeeper keeper_, snapshots_;
  EventLoop::Clock::time_point renewed_{};  // the first state
  NextPacks renewed_with_;
  SnapshotRequests requests_;
  KeepSafe keep_safe_;
  std::optional<HangWatch> hang_watch_;
  bool has_begun_to_keep_ = false;
  const EventLoop::Registration deaths_, answers_, renewals_, hangs_, keeps_;
};

}  // namespace ardoise::analyzer
