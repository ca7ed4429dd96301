// The program ardoise-replay: an ordinary MPI program, which can itself be measured.
#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <optional>
#include <thread>
#include <utility>

#include "knowledge_sources/otf2/reader/time_order.hpp"
#include "reports/text/units.hpp"
#include "reports/text/utf8.hpp"
#include "tools/replay/agreement.hpp"
#include "tools/replay/archive_world.hpp"
#include "tools/replay/player.hpp"
#include "tools/replay/replay_options.hpp"
#include "tools/replay/replay_report.hpp"
#include "tools/replay/script_compiler.hpp"
#include "tools/replay/shared_folder.hpp"
#include "tools/replay/stall_watch.hpp"

namespace ardoise::replay {
namespace {

void say(const std::string& sentence) {
  std::cerr << "ardoise-replay: " + reports::printable(sentence) + '\n' << std::flush;
}

// Operation for MPI_Op_create: takes no time and changes nothing.
void no_operation(void*, void*, int*, MPI_Datatype*) {}

std::uint64_t sum(const std::map<std::string, std::uint64_t>& counts) {
  std::uint64_t all = 0;
  for (const auto& [what, count] : counts) all += count;
  return all;
}

// Collective: reports the guesses of all ranks.
void report_guesses(const ScriptSummary& summary, int rank) {
  std::uint64_t guessed = sum(summary.guessed);
  PMPI_Allreduce(MPI_IN_PLACE, &guessed, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  std::vector<std::uint64_t> left_out(vmpi::kFunctionCount);
  for (std::size_t function = 0; function < left_out.size(); ++function) {
    const auto found = summary.left_out.find(vmpi::kFunctionTraits[function].name);
    if (found != summary.left_out.end()) left_out[function] = found->second;
  }
  PMPI_Allreduce(MPI_IN_PLACE, left_out.data(), static_cast<int>(left_out.size()), MPI_UINT64_T, MPI_SUM,
                 MPI_COMM_WORLD);
  for (std::size_t function = 0; function < left_out.size(); ++function) {
    if (rank != 0 || left_out[function] == 0) continue;
    say(fmt::format("{} call{} of {} {} skipped: {} cannot be replayed", left_out[function],
                    left_out[function] == 1 ? "" : "s", vmpi::kFunctionTraits[function].name,
                    left_out[function] == 1 ? "is" : "are", left_out[function] == 1 ? "it" : "they"));
  }
  if (guessed == 0 || rank != 0) return;
  for (const auto& [what, count] : summary.guessed)
    say(fmt::format("{} ({} of rank 0)", what, reports::counted(count, "call")));
}

struct Preparation {
  std::optional<knowledge_sources::ArchiveReader> archive;
  std::optional<ArchiveWorld> world;
  std::optional<CallScript> script;
  std::optional<ScriptCompiler> compiler;
};

// Rank and size from the launcher's environment, before MPI_Init: a tool that measures the replay would count later
// reads as the program's I/O.
struct Place {
  int rank = 0, ranks = 0;
  friend bool operator==(const Place&, const Place&) = default;
};
std::optional<Place> place_in_launch() {
  for (const auto& [rank_name, size_name] :
       {std::pair{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, std::pair{"PMI_RANK", "PMI_SIZE"}}) {
    const char* const rank = std::getenv(rank_name);
    const char* const size = std::getenv(size_name);
    if (rank != nullptr && size != nullptr) return Place{std::atoi(rank), std::atoi(size)};
  }
  return std::nullopt;
}

void prepare(Preparation& made, const ReplayOptions& options, int rank, int ranks) {
  made.archive.emplace(options.trace);
  made.world.emplace(*made.archive, options.ranks);
  if (made.world->ranks() != ranks)
    throw ReplayError(fmt::format("{} of {} ranks: start that many, mpirun -n {} ardoise-replay …",
                                  options.ranks.empty() ? "the trace is" : "--ranks is", made.world->ranks(),
                                  made.world->ranks()));
  const auto& threads = made.world->threads(rank);
  if (threads.empty())
    throw ReplayError(fmt::format("the trace has no data of rank {}", made.world->traced_rank(rank)));
  made.script.emplace(options.scratch, threads.size());
  made.compiler.emplace(*made.world, rank, *made.script);
  const auto faults = knowledge_sources::read_in_order(*made.archive, *made.compiler, threads);
  if (!faults.empty()) throw ReplayError(fmt::format("the trace is broken: {}", faults.sentences().front()));
  made.compiler->finish();
}

// Recorded time from the end of MPI_Init to the last call, of the longest thread.
std::uint64_t recorded_time(const CallScript& script) {
  std::uint64_t longest = 0;
  for (std::size_t thread = 0; thread < script.threads(); ++thread) {
    std::uint64_t time = 0;
    for (const Step& step : script.steps(thread)) {
      const unsigned shift = step.shape == kLong ? 32 : 0;
      time += (std::uint64_t{step.pause} << shift) + (std::uint64_t{step.duration} << shift);
    }
    longest = std::max(longest, time);
  }
  return longest;
}

void play_all(std::deque<Player>& players, ReplayTimes& times) {
  PMPI_Barrier(MPI_COMM_WORLD);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  const auto run = [](Player& player) {
    try {
      player.play();
    } catch (const std::exception& error) {
      say(error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  };
  for (std::size_t i = 1; i < players.size(); ++i) threads.emplace_back(run, std::ref(players[i]));
  run(players[0]);
  for (std::thread& thread : threads) thread.join();
  times.replayed = static_cast<std::uint64_t>((std::chrono::steady_clock::now() - begin) / std::chrono::nanoseconds(1));
}

// True: several threads of a process called MPI. Errors of the command line or the archive are reported later.
bool has_threads(const std::optional<ReplayOptions>& options) {
  if (!options) return false;
  try {
    const knowledge_sources::ArchiveReader archive(options->trace);
    const ArchiveWorld world(archive, options->ranks);
    for (std::int32_t rank = 0; rank < world.ranks(); ++rank) {
      if (world.threads(rank).size() > 1) return true;
    }
  } catch (const std::exception&) {
    return false;
  }
  return false;
}

// "": prepared; otherwise the error.
std::string try_to_prepare(Preparation& made, const ReplayOptions& options, const Place& place) {
  made.compiler.reset();
  made.script.reset();
  made.world.reset();
  try {
    prepare(made, options, place.rank, place.ranks);
    return "";
  } catch (const std::exception& thrown) {
    return thrown.what();
  }
}

int replay(Preparation& made, std::string error, const ReplayOptions& options, int rank, int provided,
           std::optional<SharedFolder>& shared_folder) {
  if (error.empty() && made.script->threads() > 1 && provided < MPI_THREAD_MULTIPLE)
    error = "several threads of the program called MPI, but this MPI lacks MPI_THREAD_MULTIPLE";
  agree_on_errors(error);
  const ScriptSummary& summary = made.compiler->summary();
  const Agreement agreement = agree(*made.world, rank, summary);
  report_guesses(summary, rank);
  std::uint64_t left_out = agreement.left_out;
  PMPI_Allreduce(MPI_IN_PLACE, &left_out, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (agreement.left_out != 0)
    say(fmt::format("rank {}: {} no other end in the trace and are skipped ({})", rank,
                    reports::counted(agreement.left_out, "message", "has", "have"), agreement.example));

  std::vector<std::string> not_made;
  shared_folder.emplace(options.scratch, summary.has_files);
  Stage stage(*made.world, rank, *made.script, options, summary.made, shared_folder->path(), not_made);
  for (const std::string& text : not_made)
    say(fmt::format("rank {}: this MPI cannot make the datatype '{}'; bytes are sent instead", rank,
                    text.substr(0, 80)));
  const auto& sizes = made.script->sizes();
  for (std::uint32_t text = 1; text < sizes.size(); ++text) {
    if (const std::int64_t size = stage.types[text].size; sizes[text] != 0 && sizes[text] != size)
      say(
          fmt::format("rank {}: '{}' has {} bytes here and had {} when the trace was recorded; counts are kept, so "
                      "message sizes differ",
                      rank, made.script->texts()[text].substr(0, 80), size, sizes[text]));
  }
  stage.most_sends = agreement.most_sends;
  stage.most_receives = agreement.most_receives;
  PMPI_Op_create(no_operation, 1, &stage.user_operation);
  PMPI_Op_create(no_operation, 0, &stage.user_operation_in_order);
  std::deque<Player> players;
  for (std::size_t i = 0; i < made.script->threads(); ++i) players.emplace_back(stage, i);

  ReplayTimes times;
  {
    const StallWatch watch(stage, players);
    play_all(players, times);
  }
  times.recorded = recorded_time(*made.script);
  times.functions.resize(players[0].times().size());
  std::uint64_t shared = 0;
  for (const Player& player : players) {
    for (std::size_t i = 0; i < times.functions.size(); ++i) {
      times.functions[i].calls += player.times()[i].calls;
      times.functions[i].recorded += player.times()[i].recorded;
      times.functions[i].replayed += player.times()[i].replayed;
    }
    times.pauses_asked += player.pauses().asked;
    times.pauses_taken += player.pauses().taken;
    shared += player.shared_buffers();
  }
  if (shared != 0)
    say(fmt::format("rank {}: {} shared a buffer because --memory is exhausted", rank,
                    reports::counted(shared, "operation")));
  const std::string report = replay_report(times);
  if (!options.quiet) std::cout << reports::printable_lines(report) << std::flush;
  PMPI_Op_free(&stage.user_operation);
  PMPI_Op_free(&stage.user_operation_in_order);
  stage.comms.finish_duplicates();
  PMPI_Barrier(MPI_COMM_WORLD);  // the shared folder is removed afterwards
  return 0;
}

}  // namespace
}  // namespace ardoise::replay

int main(int argc, char** argv) {
  using namespace ardoise::replay;
  int provided = 0, rank = 0, ranks = 0;
  const ReadOptions read = read_replay_options(argc, argv);
  const auto place = place_in_launch();
  Preparation made;
  std::string error;
  if (read.options && place) error = try_to_prepare(made, *read.options, *place);
  // Thread support slows every MPI call: requested only if the program had threads.
  MPI_Init_thread(&argc, &argv, has_threads(read.options) ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!read.options) {
    if (rank == 0) std::cout << read.text << std::flush;
    if (rank == 0 && !read.complaint.empty()) say(read.complaint + "; see ardoise-replay --help");
    MPI_Finalize();
    return read.complaint.empty() ? 0 : 2;
  }
  int status = 0;
  std::optional<SharedFolder> shared_folder;  // removed after MPI_Finalize
  try {
    if (const Place here{rank, ranks}; place != here) {
      error = try_to_prepare(made, *read.options, here);
    }
    status = replay(made, error, *read.options, rank, provided, shared_folder);
  } catch (const std::exception& thrown) {  // the same in all ranks
    if (rank == 0) say(thrown.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
