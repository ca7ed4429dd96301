// Runs the measured launch. All checks are made before mpirun starts, because a running job is never ended on our
// account.
#include "tools/ardoise/launch/measure.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>

#include "analyzer/output_folder/own_files.hpp"
#include "analyzer/output_folder/status_file.hpp"
#include "reports/text/joined.hpp"
#include "reports/text/shell_quote.hpp"
#include "reports/text/units.hpp"
#include "tools/ardoise/common/installation.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/common/process.hpp"
#include "tools/ardoise/launch/binding.hpp"
#include "tools/ardoise/launch/hydra_status.hpp"
#include "tools/ardoise/launch/launch_line.hpp"
#include "tools/ardoise/launch/launch_plan.hpp"
#include "tools/ardoise/launch/mpi_launcher.hpp"
#include "tools/ardoise/launch/partition_option.hpp"
#include "tools/ardoise/launch/preload_path.hpp"
#include "tools/ardoise/launch/program_check.hpp"
#include "tools/ardoise/launch/race_folder.hpp"
#include "tools/ardoise/launch/rank_file.hpp"
#include "tools/ardoise/launch/shown_command.hpp"
#include "tools/ardoise/report/finish_report.hpp"
#include "tools/ardoise/report/output_folder.hpp"
#include "tools/ardoise/report/report_signals.hpp"
#include "vmpi/world/window_folders.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

int status_of(const Outcome& job) { return job.time_limit_reached ? kTimeLimitStatus : job.status; }

int run_untouched(const std::vector<std::string>& words, const std::string& why, const Options& options) {
  if (const bool records = !options.record_races.empty(); records || !options.replay_races.empty()) {
    throw UsageError(fmt::format("{}: races cannot be {} then; leave out {}.", why, records ? "recorded" : "forced",
                                 records ? "--record-races" : "--replay-races"));
  }
  say("{}; the launch runs without being measured.", why);
  return status_of(run_and_wait(words, {}, options.time_limit));
}

// Arguments for every analyzer, including one that merges states.
std::vector<std::string> analysis_words(const Options& options) {
  std::vector<std::string> words;
  for (const auto& plugin : options.plugins) words.insert(words.end(), {"--plugin", fs::absolute(plugin).string()});
  for (const auto& when : options.snapshot_conditions) words.insert(words.end(), {"--snapshot-when", when});
  return words;
}

// All arguments of the analyzers of a launch.
std::vector<std::string> words_of_launch(const Options& options) {
  std::vector<std::string> words = analysis_words(options);
  if (!options.rules.empty()) words.insert(words.end(), {"--rules", fs::absolute(options.rules).string()});
  if (!options.trace.empty()) words.insert(words.end(), {"--trace", options.trace});
  return words;
}

void check_analysis(const Options& options, const Installation& installation) {
  const auto analysis = words_of_launch(options);
  if (analysis.empty()) return;
  std::vector<std::string> words{installation.analyzer, "--check"};
  words.insert(words.end(), analysis.begin(), analysis.end());
  const auto check = run_and_read(words);
  if (check.status == 0) return;
  auto sentence = check.output.substr(0, check.output.find('\n'));
  if (const std::string prefix = "ardoise-analyzer: "; sentence.starts_with(prefix)) sentence.erase(0, prefix.size());
  throw UsageError(sentence.empty() ? "the options could not be checked: ardoise-analyzer does not run." : sentence);
}

struct Room {
  unsigned analyzers = 1;
  std::optional<unsigned> ranks;      // of all programs, if known
  std::optional<unsigned> processes;  // of the only program, if the line does not give the number: all slots
  bool oversubscribe = false;
  bool slots_suffice = false;           // for the programs, but not for the analyzers, too
  std::optional<BindingFacts> binding;  // nullopt: the launcher binds by rank, or not at all
};

// Number of ranks that can have their own core. A launch on one machine runs on this one, which may have more slots.
std::optional<unsigned> count_processors(const LaunchLine& line, const std::optional<Slots>& slots) {
  if (!slots) return std::nullopt;
  const unsigned cores = slots->machines == 1 ? usable_cores(uses_hardware_threads(line, mca_parameter)) : 0;
  return cores == 0 ? slots->all : std::min(slots->all, cores);
}

// Decides the number of analyzers and whether they have slots beside the programs. Only mpirun knows its slots (host
// files, resource managers, configuration), so it is queried. Hydra starts any number of processes, whatever the cores.
Room find_room(const Options& options, const LaunchLine& line, const MpiLauncher& mpirun) {
  const bool allowed = mpirun.hydra || allows_oversubscription(line);
  Room room;
  auto ranks = count_ranks(line, std::nullopt);
  if (mpirun.open_mpi && mpirun.major == 4 && mpirun.minor == 1) room.binding.emplace();
  const bool binds = room.binding && may_bind(line, mca_parameter);
  std::optional<Slots> slots;
  if (!mpirun.hydra && (!ranks || !allowed || binds)) {
    slots = read_slot_answer(run_and_read(slot_question(line)).output);
  }
  const auto all_slots = slots ? std::optional(slots->all) : std::nullopt;
  if (!ranks && (ranks = count_ranks(line, all_slots)) && line.contexts.size() == 1) room.processes = ranks;
  room.analyzers = options.analyzers != 0 ? options.analyzers : default_analyzers(ranks ? ranks : all_slots);
  room.ranks = ranks;
  const bool lacks_slots = slots && (!ranks || *ranks + room.analyzers > slots->all);
  if (room.binding)
    *room.binding = {ranks, count_processors(line, slots), lacks_slots, slots && slots->machines == 1, mca_parameter};
  room.slots_suffice = lacks_slots && ranks && *ranks <= slots->all;
  if (allowed || !slots) return room;
  // If the programs alone need too many slots, mpirun prints its usual error.
  if (ranks && (*ranks > slots->all || !lacks_slots)) return room;
  if (forbids_oversubscription(line)) {
    throw UsageError(
        fmt::format("{} more slot{} needed for the analyzers, and the launch line forbids oversubscription.",
                    room.analyzers, room.analyzers == 1 ? " is" : "s are"));
  }
  room.oversubscribe = true;
  return room;
}

Measurement describe(const Options& options, const Installation& installation, const fs::path& output,
                     const LaunchLine& line) {
  Measurement measurement;
  measurement.environment = options.environment;
  measurement.analyzer = {installation.analyzer,
                          "--no-report",
                          "--quiet",
                          "--status-file",
                          status_file_in(output).string(),
                          "--output",
                          output.string(),
                          "--command",
                          shown_command(line, options.no_command)};
  if (!options.on_command_line.empty()) {
    measurement.analyzer.insert(measurement.analyzer.end(),
                                {"--on-command-line", reports::joined(options.on_command_line, ",")});
  }
  for (auto& word : words_of_launch(options)) measurement.analyzer.push_back(std::move(word));
  return measurement;
}

void check_races(const Options& options, const LaunchLine& line, const std::vector<std::string>& programs) {
  if (!options.record_races.empty() && !options.replay_races.empty())
    throw UsageError(
        "--record-races and --replay-races are for two launches: record the races of one, force them in another.");
  if (!options.replay_races.empty()) check_race_folder(options.replay_races, count_ranks(line, std::nullopt), programs);
  if (!options.record_races.empty()) prepare_race_folder(options.record_races);
}

void tell_races(const Options& options, const fs::path& output) {
  if (!options.replay_races.empty()) {
    for (const std::string& clause : take_divergences(output)) say("{}.", clause);
  }
  if (options.record_races.empty()) return;
  const RecordedRaces races = name_race_sites(options.record_races);
  if (options.quiet) return;
  say("{} of {} {} recorded in '{}', {}{}.", reports::counted(races.decisions, "decision"),
      reports::counted(races.ranks, "rank"), races.decisions == 1 ? "is" : "are", options.record_races,
      reports::counted(races.bytes, "byte"),
      races.incomplete == 0 ? ""
                            : fmt::format("; the record of {} of them ends before MPI_Finalize", races.incomplete));
}

Outcome run_hydra(std::vector<std::string> words, const LaunchLine& user_line, const std::optional<TimeLimit>& limit,
                  const Watch& watch) {
  const bool asked_for = user_line.has({std::string_view(kHydraStatusOption).substr(1)});
  if (!asked_for) words.insert(words.begin() + 1, kHydraStatusOption);
  HydraStatus status(asked_for);
  auto job = run_and_wait(
      words, [&](std::string_view piece) { return piece.empty() ? status.rest() : status.pass(piece); }, limit, watch);
  if (!job.signalled) job.status = status.status(job.status);
  return job;
}

// If something on the way to a program changes LD_PRELOAD, the program uses MPI without our library and would share its
// MPI_COMM_WORLD with the analyzers. It waits for them in MPI_Init (analyzer/launch/job_watch.hpp), so the launch can
// be called off and started again as the user wrote it.
Watch watch_for_unjoined(const fs::path& output, std::string& program) {
  return [file = status_file_in(output), &program] {
    std::istringstream left(analyzer::read_own_file(file).value_or(""));
    std::string state;
    if (!(left >> state)) return Watched::kAskAgain;
    if (state != analyzer::kStateUnjoined) return Watched::kEnough;
    left >> std::ws;
    std::getline(left, program);
    return Watched::kCallOff;
  };
}

// Standard input of a launch, to be rewound if the launch is started again.
class StandardInput {
 public:
  void begin_again() const {
    if (start_ >= 0) ::lseek(STDIN_FILENO, start_, SEEK_SET);
  }
  // True for a pipe or socket: mpirun may have read from it.
  [[nodiscard]] static bool may_be_gone() {
    struct stat status {};
    return ::fstat(STDIN_FILENO, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
  }

 private:
  off_t start_ = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
};

int start_again(const std::vector<std::string>& words, const std::string& program, const StandardInput& input,
                const Options& options) {
  input.begin_again();
  return run_untouched(
      words,
      fmt::format("'{}' was started without libardoise.so, because LD_PRELOAD was changed on the way to it{}", program,
                  input.may_be_gone() ? " (what it was given on standard input before is lost)" : ""),
      options);
}

// Only the status tells whether these signals ended the programs, which may handle them and go on.
void complete_ended_by(Outcome& job, const std::string& mpirun) {
  constexpr int kSignals = 128;  // a higher status is 128 + the signal that ended the process
  if (job.user_signal != 0 && job.status % kSignals == job.user_signal)
    job.ended_by = signal_to(job.user_signal, "ardoise");
  if (job.ended_by.empty() && job.signalled) job.ended_by = signal_to(job.status - kSignals, mpirun);
}

}  // namespace

int measure(const Options& options, const std::vector<std::string>& words) {
  check_launcher_name(words.front());
  const auto mpirun = identify_launcher(words.front());
  const auto installation = find_installation();
  const auto family = family_of(installation.mpi_library);
  if (family == "MPICH" ? !mpirun.hydra : !mpirun.open_mpi) {
    return run_untouched(
        words, fmt::format("'{}' is not the mpirun of {}, which this Ardoise was built for", words.front(), family),
        options);
  }
  const auto line = parse_launch_line(words, mpirun.hydra ? LauncherKind::kHydra : LauncherKind::kOpenMpi);
  const char* const partition = std::getenv(kPartitionVariable);
  const bool is_shared = options.partitions.empty() && !options.separate;
  const auto partitions = is_shared ? join_all(line, partition) : assign_partitions(options.partitions, line);
  check_partition_variable(line, partition);
  if (!options.disabled.empty()) return run_untouched(words, options.disabled + " is given", options);
  // Programs of one launch share one real MPI_COMM_WORLD: either all are measured or none.
  std::vector<std::string> sanitizers, mpi_programs;
  for (const auto& context : line.contexts) {
    const auto check = check_program(context, installation.mpi_library);
    if (check.not_measurable) return run_untouched(words, *check.not_measurable, options);
    sanitizers.push_back(check.sanitizer);
    mpi_programs.push_back(check.is_mpi_program ? check.path : "");
  }
  check_races(options, line, mpi_programs);
  check_analysis(options, installation);
  const auto room = find_room(options, line, mpirun);
  const OutputFolder output(options.output);
  if (!options.capture.empty()) make_writable_folder(options.capture);
  if (!output.why_renamed().empty())
    say("'{}' {}; the report goes to '{}'.", options.output, output.why_renamed(), output.path().string());

  const PreloadPath preload_path(installation.preload_library);
  auto measurement = describe(options, installation, output.path(), line);
  measurement.preload_library = preload_path.path();
  measurement.partitions = partitions;
  measurement.sanitizers = std::move(sanitizers);
  measurement.analyzers = room.analyzers;
  measurement.processes = room.processes;
  measurement.oversubscribe = room.oversubscribe;
  measurement.slots_suffice = room.slots_suffice;
  measurement.preload_by = mpirun.hydra        ? PreloadBy::kHydraEnvOption
                           : mpirun.major >= 5 ? PreloadBy::kEnvProgram
                                               : PreloadBy::kExportOption;
  const char* preload = std::getenv("LD_PRELOAD");
  auto bound_line = line;
  if (room.binding) keep_binding(bound_line, *room.binding);
  std::optional<RankFile> rank_file;
  if (room.ranks && !mpirun.hydra) rank_file.emplace(bound_line, *room.ranks, room.analyzers, output.path());
  auto launch =
      to_words(plan_launch(bound_line, measurement, preload ? std::optional<std::string>(preload) : std::nullopt));
  if (options.verbose) say("{}", reports::shell_quote(launch));

  const UndisturbedReport undisturbed;  // as soon as signals are no longer passed on to mpirun
  const StandardInput input;
  std::string unjoined;
  const auto watch = watch_for_unjoined(output.path(), unjoined);
  auto job = mpirun.hydra ? run_hydra(launch, line, options.time_limit, watch)
                          : run_and_wait(launch, {}, options.time_limit, watch);
  if (job.called_off && job.ended_by.empty()) {
    vmpi::remove_stale_window_folders();
    return start_again(words, unjoined, input, options);
  }
  complete_ended_by(job, fs::path(words.front()).filename().string());
  tell_races(options, output.path());
  vmpi::remove_stale_window_folders();  // of programs that did not end by themselves
  auto merge = merge_command(installation.analyzer, output.path());
  for (auto& word : analysis_words(options)) merge.push_back(std::move(word));
  finish_report({options.render, options.short_report, options.quiet, room.analyzers, std::move(merge)}, output.path(),
                job.status, job.ended_by);
  return status_of(job);
}

}  // namespace ardoise::launcher
