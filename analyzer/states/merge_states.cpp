#include "analyzer/states/merge_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "analyzer/hangs/stalled_processes.hpp"
#include "analyzer/output_folder/live_process.hpp"
#include "analyzer/output_folder/safe_state_files.hpp"
#include "analyzer/run/event_loop.hpp"
#include "analyzer/run/ingest.hpp"
#include "analyzer/run/plugins.hpp"
#include "analyzer/states/memory_kills.hpp"
#include "reports/text/joined.hpp"
#include "reports/text/units.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;

// Number of processes of a launch, and of those whose unsent data was found.
struct Left {
  std::size_t processes = 0, complete = 0;
};

std::string how_it_ended(std::span<const std::string> first_gone, const std::optional<int>& status, const Left& left,
                         bool lacks_analyzers) {
  constexpr std::size_t kMostNamed = 4;  // more were ended together
  constexpr int kSignals = 128;          // a status above: the process died of a signal
  std::string text = "The launch was ended before its programs had finished MPI";
  if (!first_gone.empty() && first_gone.size() <= kMostNamed)
    text += fmt::format(": {} ended first, without MPI_Finalize", reports::joined(first_gone, ", "));
  if (status && *status > kSignals && *status < kSignals + NSIG)
    text +=
        fmt::format("; mpirun's status is that of signal {} ({})", *status - kSignals, ::strsignal(*status - kSignals));
  else if (status)
    text += fmt::format("; mpirun's status is {}", *status);
  if (lacks_analyzers) return text + ".";
  if (left.complete >= left.processes) return text + ". This report has all that they had recorded.";
  return text + fmt::format(
                    ". This report has all records of {} of {} processes; about the last second of the "
                    "others is missing.",
                    left.complete, left.processes);
}

// Waits for analyzers and for survivors of `processes` that may still write; not all of them need to. They start late
// if mpirun was killed or the machine is crowded.
void wait_for_writers(const fs::path& output, std::size_t processes) {
  using namespace std::chrono_literals;
  auto first_seen = std::chrono::steady_clock::time_point::max();
  for (const auto begin = std::chrono::steady_clock::now();; std::this_thread::sleep_for(10ms)) {
    const auto now = std::chrono::steady_clock::now();
    const auto unsent = unsent_pack_files(output);
    const auto states = safe_state_files(output, kSafeStatePrefix).size();
    if (std::ranges::any_of(unsent, is_unfinished) || !safe_state_files(output, kSavesMarkPrefix).empty()) {
      if (now - begin > 10s) return;
      continue;
    }
    if (unsent.size() >= processes && states >= safe_state_files(output, kFirstStatePrefix).size()) return;
    if (states + unsent.size() == 0 && now - begin < 3s) continue;
    first_seen = std::min(first_seen, now);
    if (now - first_seen > 2s) return;
  }
}

// The state of each analyzer, or else its first one.
std::vector<fs::path> latest_states(const fs::path& output) {
  auto files = safe_state_files(output, kSafeStatePrefix);
  for (const fs::path& first : safe_state_files(output, kFirstStatePrefix)) {
    const auto rank = first.filename().string().substr(std::string_view(kFirstStatePrefix).size());
    if (!fs::exists(output / (kSafeStatePrefix + rank))) files.push_back(first);
  }
  return files;
}

bool is_first_state(const fs::path& file) { return file.filename().string().starts_with(kFirstStatePrefix); }

// The report contains them, or was made without them.
void remove_all(const fs::path& output) {
  std::error_code ignored;
  remove_states(output);
  for (const fs::path& file : unsent_pack_files(output)) fs::remove(file, ignored);
  for (const fs::path& file : position_files(output)) fs::remove(file, ignored);
}

}  // namespace

std::size_t processes_of(const SafeState& state) {
  std::size_t processes = 0;
  for (const auto& program : state.facts.programs) processes += program.ranks;
  return processes;
}

MergedStates merge_states(std::span<const fs::path> files, const Options& options,
                          knowledge_sources::TraceArchive* trace) {
  MergedStates merged;
  for (const fs::path& file : files) {
    try {
      SafeState state = read_safe_state(file);
      const SafeFacts& facts = state.facts;
      merged.first_gone.insert(merged.first_gone.end(), facts.first_gone.begin(), facts.first_gone.end());
      for (const auto& [process, next] : facts.arrived)
        merged.arrived[process] = std::max(merged.arrived[process], next);
      if (!merged.first) {
        auto plugins = load_plugins(installed_plugins_folder(), options.plugins);
        merged.run = std::make_unique<AnalyzerRun>(AnalyzerRun::Options{
            .memory_bytes = options.memory_bytes,
            .analyses = std::move(plugins.analyses),
            .snapshots = {options.snapshot_conditions},
            .traces = trace != nullptr ? trace->settings_of_ended() : knowledge_sources::TraceSettings{}});
        if (trace != nullptr)
          trace->begin([run = merged.run.get()](const std::string& sentence) { run->complain(sentence); });
        for (const auto& program : facts.programs) {
          if (trace != nullptr) trace->add_program(program);
          merged.run->add_program(program);
        }
      }
      merged.run->absorb(state.partial);
      merged.complete += facts.complete;
      // The launch has just ended: an analyzer may have been killed itself, and its count may be older.
      auto& kills = merged.memory_kills[state.host];
      kills = std::max(kills, facts.run.memory_kills);
      if (options.job_status && state.host == host_name())
        kills = std::max(kills, memory_kills_since(facts.memory_kills_before));
      if (!is_first_state(file)) {
        ++merged.analyzers;
      } else if (!facts.arrived.empty()) {
        merged.kept_time = merged.kept == 0 ? facts.time : std::min(merged.kept_time, facts.time);
        ++merged.kept;
      }
      if (!merged.first) merged.first = std::move(state);
    } catch (const std::exception& error) {
      say(fmt::format("{} cannot be used: {}", file.string(), error.what()));
    }
  }
  return merged;
}

int merge_safe_states(const Options& options) {
  // Status of the launch that has just ended.
  if (options.job_status) {
    std::size_t processes = 0, complete = 0;
    try {
      for (const fs::path& file : latest_states(options.output)) {
        const SafeState state = read_safe_state(file);
        processes = processes_of(state);
        complete += state.facts.complete;
      }
    } catch (const std::exception&) {
      processes = 0;  // reported below
    }
    wait_for_writers(options.output, processes - std::min(processes, complete));
  }
  // Completes the trace with data that programs have left.
  knowledge_sources::TraceArchive trace(options.output);
  const bool has_trace = knowledge_sources::TraceArchive::has_parts(options.output);
  MergedStates merged = merge_states(latest_states(options.output), options, has_trace ? &trace : nullptr);
  if (!merged.first) {
    say(fmt::format("'{}' contains no data of an analyzer, so there is nothing to report.", options.output));
    return kIncomplete;
  }
  Options of_run = options;
  of_run.command = merged.first->command;
  of_run.settings = merged.first->settings;
  UnsentPacks unsent(options.output, std::move(merged.arrived));
  const bool lacks_analyzers = merged.analyzers < merged.first->facts.run.analyzer_ranks;
  const Left left{.processes = processes_of(*merged.first), .complete = merged.complete + unsent.open_all()};
  EventLoop loop;
  ingest(loop, unsent, *merged.run);
  merged.run->finish();
  RunFacts facts = merged.first->facts.run;
  facts.programs_ended = std::chrono::steady_clock::now();
  facts.notices.insert(facts.notices.begin(),
                       how_it_ended(merged.first_gone, options.job_status, left, lacks_analyzers));
  facts.analyzers_lost = lacks_analyzers;
  facts.memory_kills = 0;
  for (const auto& [host, kills] : merged.memory_kills) facts.memory_kills += kills;
  if (lacks_analyzers) {
    const std::uint32_t missing = facts.analyzer_ranks - merged.analyzers;
    merged.run->complain(fmt::format(
        "{} of {} {} killed: the data received there{} is lost. (Out of memory? Each analyzer takes about --memory.){}",
        missing, reports::counted(facts.analyzer_ranks, "analyzer"), missing == 1 ? "was" : "were",
        merged.kept == missing ? " after " + reports::utc_time(merged.kept_time, "%H:%M:%S UTC") : "",
        left.complete < left.processes ? "" : " Sums of calls are complete, data on single calls is not."));
  }
  // An older profile (--save-every) may exist: the states stay if none was written now.
  const fs::path profile = fs::path(options.output) / "profile.json";
  std::error_code ignored;
  const auto before = fs::last_write_time(profile, ignored);
  const int status = write_report(*merged.run, facts, of_run, has_trace ? &trace : nullptr);
  if (fs::last_write_time(profile, ignored) != before) remove_all(options.output);
  return status;
}

}  // namespace ardoise::analyzer
