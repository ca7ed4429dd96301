// The analyzer: an MPI program launched together with the measured programs, as the partition "Analyzer".
//
//   warm start → load plug-ins → blackboard → wait until programs use MPI → MPI_Init → ingest until all streams end
//   → settle entries in flight between analyzers → merge to rank 0 → model, profile.json, summary.txt → report.pdf →
//   MPI_Finalize
//
// No program waits for the report, because MPI_Finalize fences only each program's own world
// (vmpi/world/finalize_fence.hpp). If it is a fence over the whole job, it is called before the model is made.
//
// Open MPI ends all processes of a job when one exits with a non-zero status. Programs may still run after their
// MPI_Finalize, so under the launcher (--status-file) this process always exits with 0 and leaves its status in a file;
// started by hand, it exits with 1 only after everything else is done.
#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "analyzer/commands/control.hpp"
#include "analyzer/commands/replay.hpp"
#include "analyzer/launch/guardian.hpp"
#include "analyzer/launch/job_watch.hpp"
#include "analyzer/launch/launch_rules.hpp"
#include "analyzer/launch/launch_watch.hpp"
#include "analyzer/launch/warm_start.hpp"
#include "analyzer/options/options.hpp"
#include "analyzer/output_folder/live_process.hpp"
#include "analyzer/output_folder/own_files.hpp"
#include "analyzer/output_folder/status_file.hpp"
#include "analyzer/results/results.hpp"
#include "analyzer/results/snapshot_log.hpp"
#include "analyzer/run/analyzer_run.hpp"
#include "analyzer/run/event_loop.hpp"
#include "analyzer/run/ingest.hpp"
#include "analyzer/run/mpi_transport.hpp"
#include "analyzer/run/plugins.hpp"
#include "analyzer/run/tree_reduction.hpp"
#include "analyzer/run/workers.hpp"
#include "analyzer/sources/stream_source.hpp"
#include "analyzer/states/merge_states.hpp"
#include "analyzer/states/snapshot.hpp"
#include "instrument/format/analyzer_partition.hpp"
#include "instrument/settings/settings.hpp"
#include "knowledge_sources/otf2/writer/trace_archive.hpp"
#include "reports/atomic_file.hpp"
#include "vmpi/vmpi.h"
#include "vmpi/world/finalize_fence.hpp"
#include "vmpi/world/window_files.hpp"

namespace {

using namespace ardoise::analyzer;

int check(const Options& options) {
  const auto plugins = load_plugins(installed_plugins_folder(), options.plugins);
  for (const auto& complaint : plugins.complaints) say(complaint);
  return plugins.complaints.empty() ? kDone : kUsage;
}

// The last rank of the launch is an analyzer; before MPI_Init no other process can be selected to print for all.
bool is_last_of_launch() {
  for (const auto& [rank_name, size_name] :
       {std::pair{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, std::pair{"PMI_RANK", "PMI_SIZE"}}) {
    const char* rank = std::getenv(rank_name);
    const char* size = std::getenv(size_name);
    if (rank != nullptr && size != nullptr) return std::atoi(rank) + 1 == std::atoi(size);
  }
  return true;
}

// Equal on all analyzers.
std::uint64_t number_of_run(MPI_Comm analyzers) {
  std::uint64_t number = std::uint64_t{std::random_device{}()} << 32 | std::random_device{}();
  PMPI_Bcast(&number, 1, MPI_UINT64_T, 0, analyzers);
  return number;
}

// A program of the launch uses MPI without our library and waits in MPI_Init for this process; it would share its world
// with the analyzers.
int exit_unjoined(const std::string& program, const Options& options) {
  if (!options.status_file.empty()) {
    // The launcher ends this launch, prints the reason, and starts it again without us. If it cannot see the file, this
    // process exits.
    leave_state(fmt::format("{} {}", kStateUnjoined, program), options);
    std::this_thread::sleep_for(kUnjoinedTimeout);
  }
  say(fmt::format(
      "the program '{}' of this launch runs without libardoise.so and would share its MPI_COMM_WORLD with the "
      "analyzer; start it with env LD_PRELOAD=…/libardoise.so, or the whole launch with ardoise.",
      program));
  // Open MPI ends the launch when a process exits with 1, Hydra only when one dies of a signal.
  if (is_mpich_launch()) std::raise(SIGTERM);
  return kIncomplete;
}

int report_of_launch(bool is_empty, const AnalyzerRun& run, const RunFacts& facts, const Options& options,
                     ardoise::knowledge_sources::TraceArchive& trace) {
  if (is_empty) {
    say("this launch has no program besides the analyzer, so there is nothing to report.");
    return kIncomplete;
  }
  return write_report(run, facts, options, &trace);
}

int serve(const Options& options, int argc, char** argv) {
  if (!options.status_file.empty()) take_processors_of_launcher();  // started by hand, the user chooses the processors
  fork_guardian();
  std::optional<WarmStart> warm(std::in_place);
  auto plugins = load_plugins(installed_plugins_folder(), options.plugins);
  const unsigned workers = options.workers != 0 ? options.workers : default_workers();
  // Before MPI starts threads: the board registers the process for barriers in all threads, which costs the kernel 20
  // ms when there are several, and programs wait for us in MPI_Init.
  std::optional<MpiTransport> transport;                           // outlives its users
  SnapshotLog log(say);                                            // outlives its users
  ardoise::knowledge_sources::TraceArchive trace(options.output);  // outlives its users
  AnalyzerRun run({.workers = workers,
                   .in_background = true,
                   .memory_bytes = options.memory_bytes,
                   .analyses = std::move(plugins.analyses),
                   .snapshots = log.settings(options),
                   .rules = options.rules,
                   .traces = trace.settings(options.trace)});
  trace.begin([&run](const std::string& sentence) { run.complain(sentence); });
  EventLoop loop;
  const auto job = wait_for_programs(loop);
  if (job.kind == JobState::Kind::ended_without_mpi) {
    if (is_last_of_launch()) say("no program of this launch called MPI_Init, so there is nothing to report.");
    return kIncomplete;
  }
  if (job.kind == JobState::Kind::lacks_library) return exit_unjoined(job.program, options);
  // Both ends of a stream must have the same block size, and a block is a pack: the variables of the programs' recorder
  // apply here too.
  const auto recorder =
      ardoise::instrument::read_settings([](const char* name) -> const char* { return std::getenv(name); });
  VMPI_Set_partition_name(ardoise::instrument::kAnalyzerPartition);
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  const MPI_Comm analyzers = VMPI_Comm_partition();
  if (analyzers == MPI_COMM_NULL) {
    say("the launch could not be divided into programs and analyzers, so there is nothing to report.");
    MPI_Finalize();
    return kIncomplete;
  }

  RunFacts facts;
  int rank = 0, ranks = 1, universe = 1;
  PMPI_Comm_rank(analyzers, &rank);
  PMPI_Comm_size(analyzers, &ranks);
  PMPI_Comm_size(MPI_COMM_UNIVERSE, &universe);
  facts.universe_ranks = static_cast<std::uint32_t>(universe);
  facts.analyzer_ranks = static_cast<std::uint32_t>(ranks);
  facts.analyzer_workers = workers;
  if (const std::string notice = crowding_notice(); !notice.empty()) facts.notices.push_back(notice);

  if (rank == 0) {  // equal on all analyzers
    for (const auto& complaint : plugins.complaints) run.complain(complaint);
  }
  if (!options.rules_fault.empty())
    run.complain(fmt::format("Rules were not applied on {}: {}.", host_name(), options.rules_fault));
  const auto programs = programs_of_launch();
  if (ranks > 1) run.connect(transport.emplace(analyzers, run));
  // failures are reported for its files
  if (!options.trace.empty()) (void)ardoise::reports::make_own_folder(options.output);
  if (rank == 0) {
    SnapshotLog::remove_old(options.output);
    ardoise::knowledge_sources::TraceArchive::remove_old(options.output);
  }
  log.begin(options.output, static_cast<std::uint32_t>(rank), number_of_run(analyzers));
  for (const auto& program : programs) {
    log.add_program(program);
    trace.add_program(program);
    run.add_program(program);
  }
  {
    LaunchWatch watch(loop, run, options, facts,
                      {.programs = programs,
                       .rank = static_cast<unsigned>(rank),
                       .analyzers = static_cast<unsigned>(ranks),
                       .hang_seconds = recorder.hang_seconds,
                       .trace = options.trace.empty() ? nullptr : &trace});
    {
      StreamSource stream(
          programs,
          {.block_bytes = recorder.bin_bytes, .memory_bytes = options.memory_bytes, .output = options.output});
      watch.begin(stream);
      const LaunchRules rules(loop, run, options, programs);
      {
        const auto entries = loop.poll([&] { return transport ? transport->poll() : Found::nothing; });
        const auto flushes = loop.every(std::chrono::seconds(1), [&] { log.flush(); });
        ingest(loop, stream, run);
      }
      facts.programs_ended = std::chrono::steady_clock::now();
      facts.analyzer_cpu_seconds = cpu_seconds();
      run.hurry();
      run.drain();  // releases every block
      watch.stream_ends();
    }
    if (transport) {
      transport->settle(loop);
    } else {
      run.finish();
    }
    // All programs are in MPI_Finalize. If one exits with a non-zero status, mpirun ends the job: SIGTERM, a second
    // later SIGKILL. That is enough time for the files below, which are written atomically, so SIGTERM is ignored until
    // these are there.
  }
  merge_to_root(loop, analyzers, run);
  warm.reset();  // takes MPI 10 ms, for which no program waits now
  // If finalize is a fence over the job, programs would wait for the report. Otherwise the report comes first, because
  // Open MPI may end this process inside finalize when a program exits with a non-zero status.
  const bool finalizes_first = !ardoise::vmpi::job_fence_is_dropped();
  if (finalizes_first) MPI_Finalize();
  const int status = rank == 0 ? report_of_launch(programs.empty(), run, facts, options, trace) : kDone;
  log.finish();
  if (!finalizes_first) {
    ardoise::vmpi::remove_window_folder();  // no destructor runs if the process is ended
    end_with_guardian(status);
    MPI_Finalize();
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  const auto parsed = parse_options(argc, argv);
  if (!parsed.options) return parsed.status;
  const auto& options = *parsed.options;
  if (!options.called_by.empty()) set_own_name(options.called_by);
  try {
    if (options.check) return check(options);
    if (options.snapshot) return take_snapshot(options);
    if (options.control) return control(options);
    // The launcher has checked its machine; another machine may have a different folder of this name, where nothing is
    // written.
    if (const auto fault = fault_of_folder(options.output); !fault.empty() && options.status_file.empty()) {
      say(fmt::format("the folder '{}' {}; name another one with --output.", options.output, fault));
      return kUsage;
    }
    if (!options.replay.empty()) return replay(options);
    if (options.merge) return merge_safe_states(options);
    return exit_status(serve(options, argc, argv), options);
  } catch (const std::exception& error) {
    say(fmt::format("the analyzer stopped: {}.", error.what()));
    return exit_status(kIncomplete, options);
  }
}
