// See safe_state.hpp.
#include "analyzer/safe_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "analyzer/event_loop.hpp"
#include "analyzer/ingest.hpp"
#include "analyzer/plugins.hpp"
#include "analyzer/safe_state_files.hpp"
#include "analyzer/stands.hpp"
#include "knowledge_sources/byte_stream.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using knowledge_sources::ByteReader;
using knowledge_sources::ByteWriter;
using knowledge_sources::Program;

struct SafeState {
  SafeFacts facts;
  std::string command;
  std::vector<reports::RunSetting> settings;
  std::vector<std::byte> partial;
};

void put(ByteWriter& out, const Program& program) {
  out.put(program.partition);
  out.put_text(program.name);
  out.put(program.ranks);
  out.put(program.ticks_per_second);
  out.put(program.world);
  out.put(program.place);
}
Program get_program(ByteReader& in) {
  Program program;
  program.partition = in.get<std::uint32_t>();
  program.name = in.get_text();
  program.ranks = in.get<std::uint32_t>();
  program.ticks_per_second = in.get<double>();
  program.world = in.get<std::uint32_t>();
  program.place = in.get<knowledge_sources::WorldPart>();
  return program;
}

SafeState read_state(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string name = path.filename().string();
  ByteReader in(std::as_bytes(std::span(text)), name);
  SafeState state;
  in.check(in.get_text() == ARDOISE_VERSION, "is of another version of Ardoise");
  state.facts.run.universe_ranks = in.get<std::uint32_t>();
  state.facts.run.analyzer_ranks = in.get<std::uint32_t>();
  state.facts.run.analyzer_workers = in.get<std::uint32_t>();
  for (auto left = in.get_count(sizeof(std::uint32_t)); left != 0; --left)
    state.facts.run.notices.emplace_back(in.get_text());
  state.command = in.get_text();
  for (auto left = in.get_count(3 * sizeof(std::uint32_t)); left != 0; --left) {
    reports::RunSetting& setting = state.settings.emplace_back();
    setting.name = in.get_text();
    setting.value = in.get_text();
    setting.set_by = in.get_text();
  }
  for (auto left = in.get_count(sizeof(double)); left != 0; --left) state.facts.programs.push_back(get_program(in));
  for (auto left = in.get_count(sizeof(std::uint32_t)); left != 0; --left)
    state.facts.first_gone.emplace_back(in.get_text());
  for (auto left = in.get_count(sizeof(std::uint64_t)); left != 0; --left) {
    const auto partition = in.get<std::uint32_t>(), rank = in.get<std::uint32_t>();
    state.facts.arrived[{partition, rank}] = in.get<std::uint64_t>();
  }
  const auto partial = in.get_bytes();
  state.partial.assign(partial.begin(), partial.end());
  in.expect_end();
  return state;
}

}  // namespace

void write_safe_state(const AnalyzerRun& run, const SafeFacts& facts, unsigned rank, const Options& options) {
  ByteWriter out;
  out.put_text(ARDOISE_VERSION);
  out.put(facts.run.universe_ranks);
  out.put(facts.run.analyzer_ranks);
  out.put(facts.run.analyzer_workers);
  out.put_count(facts.run.notices.size());
  for (const std::string& notice : facts.run.notices) out.put_text(notice);
  out.put_text(options.command);
  out.put_count(options.settings.size());
  for (const reports::RunSetting& setting : options.settings) {
    out.put_text(setting.name);
    out.put_text(setting.value);
    out.put_text(setting.set_by);
  }
  out.put_count(facts.programs.size());
  for (const Program& program : facts.programs) put(out, program);
  out.put_count(facts.first_gone.size());
  for (const std::string& each : facts.first_gone) out.put_text(each);
  out.put_count(facts.arrived.size());
  for (const auto& [process, next] : facts.arrived) {
    out.put(process.first);
    out.put(process.second);
    out.put(next);
  }
  out.put_bytes(run.partial());
  const auto bytes = out.take();
  // Not forced to the disk, which may take longer than there is time: it is this process that ends, not the machine.
  const char* const prefix = facts.is_first ? kFirstStatePrefix : kSafeStatePrefix;
  const fs::path path = safe_state_file(options.output, prefix, rank),
                 beside = fmt::format("{}.part{}", path.string(), ::getpid());
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::error_code error;
  if (file) fs::rename(beside, path, error);
  if ((!file || error) && !facts.is_first)
    say(fmt::format("what was measured cannot be written to {}.", path.string()));
}

void SafeKeeper::keep(const std::function<void()>& write) {
  has_kept_ = true;
  wait();  // the latest stays
  const pid_t child = ::fork();
  if (child > 0) return children_.push_back(child);
  if (child == 0) {
    ::setsid();
    ::signal(SIGTERM, SIG_IGN);
  }
  write();
  if (child == 0) ::_exit(0);
}

void SafeKeeper::wait() {
  for (const pid_t child : std::exchange(children_, {})) {
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  }
}

void remove_safe_state(unsigned rank, const Options& options) {
  std::error_code ignored;
  for (const char* const prefix : {kFirstStatePrefix, kSafeStatePrefix})
    fs::remove(safe_state_file(options.output, prefix, rank), ignored);
}

namespace {

// Processes of a launch, and of how many what they had not sent is there.
struct Left {
  std::size_t processes = 0, complete = 0;
};

std::string how_it_ended(std::span<const std::string> first_gone, const std::optional<int>& status, const Left& left,
                         bool lacks_analyzers) {
  constexpr std::size_t kMostNamed = 4;  // more were ended together
  constexpr int kSignals = 128;          // above: that of a process that died of one
  std::string text = "The launch was ended before its programs had finished MPI";
  if (!first_gone.empty() && first_gone.size() <= kMostNamed)
    text += fmt::format(": {} ended first, without MPI_Finalize", fmt::join(first_gone, ", "));
  if (status && *status > kSignals && *status < kSignals + NSIG)
    text +=
        fmt::format("; mpirun's status is that of signal {} ({})", *status - kSignals, ::strsignal(*status - kSignals));
  else if (status)
    text += fmt::format("; mpirun's status is {}", *status);
  if (lacks_analyzers) return text + ".";
  if (left.complete >= left.processes) return text + ". This report has all that they recorded until then.";
  return text + fmt::format(
                    ". This report has all that {} of {} processes recorded until then; of the others, what they had "
                    "not sent in the last second or so is missing.",
                    left.complete, left.processes);
}

std::size_t processes_of(const SafeState& state) {
  std::size_t processes = 0;
  for (const Program& program : state.facts.programs) processes += program.ranks;
  return processes;
}

// Analyzers may still write, and what survives of `processes`; not all of them need to. Where mpirun was killed, they
// live for another second.
void wait_for_writers(const fs::path& output, std::size_t processes) {
  using namespace std::chrono_literals;
  auto first_seen = std::chrono::steady_clock::time_point::max();
  for (const auto begin = std::chrono::steady_clock::now();; std::this_thread::sleep_for(10ms)) {
    const auto now = std::chrono::steady_clock::now();
    const auto remains = remains_files(output);
    const auto states = safe_state_files(output, kSafeStatePrefix).size();
    if (std::ranges::any_of(remains, is_unfinished)) {
      if (now - begin > 10s) return;
      continue;
    }
    if (remains.size() >= processes && states >= safe_state_files(output, kFirstStatePrefix).size()) return;
    if (states + remains.size() == 0 && now - begin < 3s) continue;
    first_seen = std::min(first_seen, now);
    if (now - first_seen > 1s) return;
  }
}

// For each analyzer its state, else its first one.
std::vector<fs::path> latest_states(const fs::path& output) {
  auto files = safe_state_files(output, kSafeStatePrefix);
  for (const fs::path& first : safe_state_files(output, kFirstStatePrefix)) {
    const auto rank = first.filename().string().substr(std::string_view(kFirstStatePrefix).size());
    if (!fs::exists(output / (kSafeStatePrefix + rank))) files.push_back(first);
  }
  return files;
}

bool is_first_state(const fs::path& file) { return file.filename().string().starts_with(kFirstStatePrefix); }

// They are in the report. Or the report was made without them.
void remove_all(const fs::path& output) {
  std::error_code ignored;
  for (const char* const prefix : {kFirstStatePrefix, kSafeStatePrefix, kHangMarkPrefix}) {
    for (const fs::path& file : safe_state_files(output, prefix)) fs::remove(file, ignored);
  }
  for (const fs::path& file : remains_files(output)) fs::remove(file, ignored);
  for (const fs::path& file : stand_files(output)) fs::remove(file, ignored);
}

}  // namespace

int merge_safe_states(const Options& options) {
  // Of the launch that has just ended.
  if (options.job_status) {
    std::size_t processes = 0;
    try {
      for (const fs::path& file : latest_states(options.output)) processes = processes_of(read_state(file));
    } catch (const std::exception&) {
      processes = 0;  // said below
    }
    wait_for_writers(options.output, processes);
  }
  std::optional<AnalyzerRun> run;
  std::optional<SafeState> first;
  std::vector<std::string> first_gone;
  NextPacks arrived;
  std::uint32_t merged = 0;
  for (const fs::path& file : latest_states(options.output)) {
    try {
      SafeState state = read_state(file);
      first_gone.insert(first_gone.end(), state.facts.first_gone.begin(), state.facts.first_gone.end());
      for (const auto& [process, next] : state.facts.arrived) arrived[process] = std::max(arrived[process], next);
      if (!first) {
        auto plugins = load_plugins(installed_plugins_folder(), options.plugins);
        run.emplace(AnalyzerRun::Options{1, options.memory_bytes, std::move(plugins.analyses)});
        for (const Program& program : state.facts.programs) run->add_program(program);
      }
      run->absorb(state.partial);
      merged += is_first_state(file) ? 0 : 1;
      if (!first) first = std::move(state);
    } catch (const std::exception& error) {
      say(fmt::format("{} cannot be used: {}", file.string(), error.what()));
    }
  }
  if (!first) {
    say(fmt::format("nothing that an analyzer left is in '{}', so there is nothing to report.", options.output));
    return kIncomplete;
  }
  Options of_run = options;
  of_run.command = first->command;
  of_run.settings = first->settings;
  Remains remains(options.output, std::move(arrived));
  const bool lacks_analyzers = merged < first->facts.run.analyzer_ranks;
  const Left left{.processes = processes_of(*first), .complete = remains.open_all()};
  EventLoop loop;
  ingest(loop, remains, *run);
  run->finish();
  RunFacts facts = first->facts.run;
  facts.programs_ended = std::chrono::steady_clock::now();
  facts.notices.insert(facts.notices.begin(), how_it_ended(first_gone, options.job_status, left, lacks_analyzers));
  if (lacks_analyzers) {
    run->complain(fmt::format(
        "What {} of {} analyzers had received is missing: they were killed. (Out of memory? An analyzer takes some "
        "--memory.){}",
        facts.analyzer_ranks - merged, facts.analyzer_ranks,
        left.complete < left.processes ? ""
                                       : " The sums of calls are whole all the same, what is told of single calls is "
                                         "not."));
  }
  const int status = write_report(*run, facts, of_run);
  std::error_code ignored;
  if (fs::exists(fs::path(options.output) / "profile.json", ignored)) remove_all(options.output);
  return status;
}

}  // namespace ardoise::analyzer
