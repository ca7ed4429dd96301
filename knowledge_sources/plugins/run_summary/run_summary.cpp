// Overview of a program and the quality of its measurement: command, wall time of the program and of each rank, time in
// MPI and in I/O by rank, hosts, communicators, ledger, clock, overhead. Uses no events. Contributes the scalars of
// Application, communicators, per_rank and quality.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "knowledge_sources/containers/counted.hpp"
#include "knowledge_sources/interface/plugin.hpp"
#include "reports/text/shell_quote.hpp"

namespace ardoise::knowledge_sources {
namespace {

// Cost of counting a query relative to recording a call: measured as 4 of 56 ns.
constexpr double kCountingShare = 0.08;

using instrument::PackClass;

constexpr std::array<const char*, 4> kThreadLevels{"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
                                                   "MPI_THREAD_MULTIPLE"};

// Arguments separated by '\0' as one line, quoted for a shell.
std::string shell_line(std::string_view arguments) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin < arguments.size(); begin += words.back().size() + 1) {
    words.push_back(arguments.substr(begin, arguments.find('\0', begin) - begin));
  }
  return reports::shell_quote(words);
}

class RunSummary final : public Analysis {
 public:
  explicit RunSummary(const AnalysisContext&) {}
  void contribute(const Resolver& resolver, reports::Application& application) const override;

 private:
  static void identity(const Resolver& resolver, reports::Application& application);
  static void ranks(const Resolver& resolver, reports::Application& application);
  static void sleep_sites(const Resolver& resolver, reports::Application& application);
  static void memory(const Resolver& resolver, reports::Application& application);
  static void quality(const Resolver& resolver, reports::Application& application);
};

// The program's command line. For a partition that joins several programs (coupled codes), the command line that
// launches them alone: "-n 2 ./ocean : -n 4 ./atmosphere". Its length is limited, since ranks may have arguments of
// their own.
std::string command_of(const Resolver& resolver) {
  constexpr std::size_t kMostPrograms = 16;
  struct Run {
    std::string_view command_line;
    std::uint32_t ranks;
  };
  std::vector<Run> runs;
  for (std::uint32_t rank = 0; rank < resolver.ranks(); ++rank) {
    const ProcessFacts& facts = resolver.process(rank);
    if (!facts.has_process) continue;
    if (runs.empty() || runs.back().command_line != facts.command_line) runs.push_back({facts.command_line, 0});
    ++runs.back().ranks;
  }
  if (runs.size() == 1) return shell_line(runs.front().command_line);
  std::string line;
  for (std::size_t i = 0; i < std::min(runs.size(), kMostPrograms); ++i)
    line += (i == 0 ? "-n " : " : -n ") + std::to_string(runs[i].ranks) + ' ' + shell_line(runs[i].command_line);
  if (runs.size() > kMostPrograms) line += " : ...";
  return line;
}

void RunSummary::contribute(const Resolver& resolver, reports::Application& application) const {
  identity(resolver, application);
  ranks(resolver, application);
  sleep_sites(resolver, application);
  memory(resolver, application);
  quality(resolver, application);
  for (auto& comm : resolver.communicators()) {
    reports::Communicator& line = application.communicators.emplace_back();
    line.name = std::move(comm.name);
    line.size = comm.size;
    line.count = comm.count;
    line.group_of_rank = std::move(comm.group_of_rank);
  }
}

void RunSummary::identity(const Resolver& resolver, reports::Application& application) {
  bool named = false;
  std::uint32_t level = 0;
  for (std::uint32_t rank = 0; rank < resolver.ranks(); ++rank) {
    const ProcessFacts& facts = resolver.process(rank);
    application.threads = std::max(application.threads, facts.threads);
    if (!facts.has_process) continue;
    if (!named) {
      named = true;
      application.command = command_of(resolver);
      application.working_directory = facts.directory;
    }
    level = std::max(level, facts.process.thread_level);
    application.init_seconds = std::max(
        application.init_seconds, static_cast<double>(facts.process.init_ticks) * resolver.seconds_per_tick(rank));
    if (!facts.has_clock) continue;
    // Seconds since 1970; Reduction makes them relative to the first program of the run.
    const double since = (static_cast<double>(facts.process.begin_tick) - static_cast<double>(facts.clock.tick) -
                          static_cast<double>(facts.process.init_ticks)) *
                         resolver.seconds_per_tick(rank);
    const double start = static_cast<double>(facts.clock.realtime_ns) * 1e-9 + since;
    if (std::isfinite(start) && start > 0 && (application.start_seconds == 0 || start < application.start_seconds)) {
      application.start_seconds = start;
    }
  }
  if (named) application.thread_level = kThreadLevels[std::min<std::size_t>(level, kThreadLevels.size() - 1)];
}

// 1: unknown.
double part(std::uint64_t of_first, std::uint64_t of_all) {
  return of_all == 0 ? 1 : static_cast<double>(of_first) / static_cast<double>(of_all);
}

// Code of C++ libraries that sleeps for its caller.
bool is_of_library(const Location& place) {
  const auto starts = [&](std::string_view name) { return place.symbol.starts_with(name); };
  return starts("std::") || starts("__gnu_cxx::") || starts("boost::") ||
         place.source_file.find("/include/c++/") != std::string::npos;
}

void RunSummary::sleep_sites(const Resolver& resolver, reports::Application& application) {
  constexpr std::size_t kMost = 16;
  std::map<std::uint32_t, reports::SleepSite> sites;
  for (std::uint32_t rank = 0; rank < resolver.ranks(); ++rank) {
    const auto& usage = resolver.process(rank).usage;
    std::uint32_t outside = usage.sleep_sites[0];
    for (const std::uint32_t site : usage.sleep_sites) {
      if (site == 0 || is_of_library(resolver.call_site(site))) continue;
      outside = site;
      break;
    }
    if (outside == 0) continue;
    reports::SleepSite& site = sites[outside];
    site.looks += usage.sleep_site_looks;
    ++site.ranks;
  }
  auto& sorted = application.sleep_sites;
  for (auto& [id, site] : sites) {
    const Location& place = resolver.call_site(id);
    sorted.push_back({place.symbol, place.source_file, place.line, place.module, place.offset, site.looks, site.ranks});
  }
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &reports::SleepSite::looks);
  if (sorted.size() > kMost) sorted.resize(kMost);
}

void RunSummary::ranks(const Resolver& resolver, reports::Application& application) {
  auto& summary = application.per_rank;
  const std::uint32_t count = resolver.ranks();
  summary.wall_seconds.resize(count);
  summary.mpi_seconds.resize(count);
  summary.io_seconds.resize(count);
  summary.cpu_seconds.resize(count);
  summary.waiting_seconds.resize(count);
  summary.process_cpu_seconds.resize(count);
  summary.children_cpu_seconds.resize(count);
  summary.peak_memory_bytes.resize(count);
  summary.processors.resize(count);
  summary.first_processor.resize(count);
  summary.host_processors.resize(count);
  summary.host.resize(count);
  summary.first_mpi_seconds.resize(count);
  summary.first_io_seconds.resize(count);
  summary.asleep_outside.resize(count);
  summary.asleep_inside.resize(count);
  summary.asleep_for_thread.resize(count);
  summary.asleep_for_time.resize(count);
  summary.asleep_for_program.resize(count);
  summary.asleep_for_file_lock.resize(count);
  std::map<std::string_view, std::uint32_t> hosts;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const ProcessFacts& facts = resolver.process(rank);
    const double seconds_per_tick = resolver.seconds_per_tick(rank);
    for (const FunctionSums& sums : resolver.sums(rank)) {
      const bool mpi = sums.record_class == static_cast<std::uint16_t>(PackClass::kMpi);
      (mpi ? summary.mpi_seconds : summary.io_seconds)[rank] += static_cast<double>(sums.ticks) * seconds_per_tick;
    }
    const RankLedger& ledger = resolver.ledger(rank);
    summary.first_mpi_seconds[rank] = summary.mpi_seconds[rank] * part(ledger.first_mpi_ticks, ledger.mpi_ticks);
    summary.first_io_seconds[rank] = summary.io_seconds[rank] * part(ledger.first_posix_ticks, ledger.posix_ticks);
    // A rank that never reached MPI_Finalize ends with its last record.
    const std::uint64_t begin = facts.has_process ? facts.process.begin_tick : resolver.ledger(rank).origin_tick;
    std::uint64_t end = facts.has_clock ? facts.clock.end_tick : 0;
    if (end == 0) end = resolver.ledger(rank).last_tick;
    if (begin != 0 && end > begin) summary.wall_seconds[rank] = static_cast<double>(end - begin) * seconds_per_tick;
    application.wall_seconds = std::max(application.wall_seconds, summary.wall_seconds[rank]);
    if (facts.has_usage) {
      summary.cpu_seconds[rank] = static_cast<double>(facts.usage.cpu_ns) * 1e-9;
      summary.waiting_seconds[rank] = static_cast<double>(facts.usage.waiting_ns) * 1e-9;
      summary.process_cpu_seconds[rank] = static_cast<double>(facts.usage.process_cpu_ns) * 1e-9;
      summary.children_cpu_seconds[rank] = static_cast<double>(facts.usage.children_cpu_ns) * 1e-9;
      summary.peak_memory_bytes[rank] = facts.usage.peak_memory_bytes;
      summary.processors[rank] = facts.usage.processors;
      summary.first_processor[rank] = facts.usage.first_processor;
      summary.host_processors[rank] = facts.usage.host_processors;
      summary.asleep_outside[rank] = facts.usage.asleep_outside;
      summary.asleep_inside[rank] = facts.usage.asleep_in_mpi + facts.usage.asleep_in_io;
      summary.asleep_for_thread[rank] = facts.usage.asleep_for_thread;
      summary.asleep_for_time[rank] = facts.usage.asleep_for_time;
      summary.asleep_for_program[rank] = facts.usage.asleep_for_program;
      summary.asleep_for_file_lock[rank] = facts.usage.asleep_for_file_lock;
    }

    const std::string_view name = facts.host.empty() ? "(unknown)" : facts.host;
    const auto [host, added] = hosts.try_emplace(name, static_cast<std::uint32_t>(hosts.size()));
    if (added) application.hosts.emplace_back(name);
    summary.host[rank] = host->second;
  }
}

// The maximum resident set of each rank in bins of the run time, and the memory of the hosts.
void RunSummary::memory(const Resolver& resolver, reports::Application& application) {
  // Fewer values per rank for many ranks.
  const std::uint32_t bins = resolver.ranks() <= 1024 ? 60 : 8;
  std::uint32_t longest = 0;  // ms
  for (std::uint32_t rank = 0; rank < resolver.ranks(); ++rank) {
    const auto points = resolver.process(rank).memory_points;
    if (!points.empty()) longest = std::max(longest, points.back().milliseconds);
  }
  if (longest == 0) return;
  reports::MemoryProfile& memory = application.memory;
  memory.bins = bins;
  memory.bin_seconds = longest * 1e-3 / bins;
  memory.host_bytes.resize(application.hosts.size());
  memory.limit_bytes.resize(application.hosts.size());
  for (std::uint32_t rank = 0; rank < resolver.ranks(); ++rank) {
    const ProcessFacts& facts = resolver.process(rank);
    const auto points = facts.memory_points;
    std::size_t next = 0;
    std::uint64_t bytes = 0;
    for (std::uint32_t bin = 0; bin < bins; ++bin) {
      const double end = 1e3 * memory.bin_seconds * (bin + 1);
      for (; next < points.size() && (points[next].milliseconds <= end || bin + 1 == bins); ++next)
        bytes = points[next].kibibytes * std::uint64_t{1024};
      memory.peak_bytes.push_back(bytes);
    }
    const std::uint32_t host = application.per_rank.host[rank];
    memory.host_bytes[host] = std::max(memory.host_bytes[host], facts.memory.host);
    memory.limit_bytes[host] = std::max(memory.limit_bytes[host], facts.memory.limit);
  }
}

void RunSummary::quality(const Resolver& resolver, reports::Application& application) {
  auto& quality = application.quality;
  reports::Ledger mpi{.record_class = "mpi"}, posix{.record_class = "posix"}, samples{.record_class = "samples"};
  std::uint64_t missing_packs = 0, aggregated = 0, queries = 0;
  std::set<std::string_view> nodes;
  double calls_with_cost = 0;
  for (std::uint32_t rank = 0; rank < resolver.ranks(); ++rank) {
    const RankLedger& ledger = resolver.ledger(rank);
    const ProcessFacts& facts = resolver.process(rank);
    const double seconds_per_tick = resolver.seconds_per_tick(rank);
    quality.packs += ledger.packs;
    quality.pack_bytes += ledger.pack_bytes;
    quality.ranks_complete += ledger.complete ? 1 : 0;
    // An incomplete rank may still hold packs; the ledger covers their records.
    if (ledger.complete && ledger.next_sequence > ledger.packs) missing_packs += ledger.next_sequence - ledger.packs;
    const auto add = [](reports::Ledger& sum, const instrument::ClassLedger& said, std::uint64_t received) {
      sum.recorded += said.recorded;
      sum.dropped += said.dropped;
      sum.received += received;
    };
    add(mpi, ledger.mpi, ledger.mpi_received);
    add(posix, ledger.posix, ledger.posix_received);
    add(samples, ledger.samples, ledger.samples_received);
    aggregated += ledger.mpi.aggregated + ledger.posix.aggregated;

    const double blocked = static_cast<double>(ledger.blocked_ticks) * seconds_per_tick;
    std::uint64_t calls = 0;
    for (const FunctionSums& sums : resolver.sums(rank)) calls += sums.calls;
    const std::uint64_t counted = std::min(calls, ledger.queries), recorded = calls - counted;
    queries += counted;
    quality.blocked_seconds += blocked;
    quality.sending_seconds += std::max(blocked, static_cast<double>(ledger.sending_ticks) * seconds_per_tick);
    if (!facts.has_clock) continue;
    const double cost = facts.clock.record_cost_ticks * seconds_per_tick;
    if (std::isfinite(cost) && cost > 0) {
      const double whole = static_cast<double>(recorded) + kCountingShare * static_cast<double>(counted);
      calls_with_cost += whole;
      quality.recording_seconds += whole * cost;
    }
    if (quality.clock.empty()) quality.clock = facts.clock_name;
    nodes.insert(facts.node);
    if (std::isfinite(facts.clock.offset_error_seconds)) {
      quality.clock_error_seconds = std::max(quality.clock_error_seconds, facts.clock.offset_error_seconds);
    }
  }
  if (calls_with_cost > 0) quality.record_cost_seconds = quality.recording_seconds / calls_with_cost;
  quality.overhead_seconds += quality.recording_seconds + quality.sending_seconds;
  if (nodes.size() > 1) quality.clock += fmt::format(", {} nodes", nodes.size());
  for (reports::Ledger* ledger : {&mpi, &posix, &samples}) {
    if (ledger == &samples && samples.recorded == 0 && samples.received == 0) continue;  // sampling was off
    const std::uint64_t known = ledger->received + ledger->dropped;
    ledger->lost = ledger->recorded > known ? ledger->recorded - known : 0;
    if (known > ledger->recorded) {
      quality.notices.push_back(
          fmt::format("The ledger of {} records does not add up: {} recorded, {} received and {} "
                      "dropped.",
                      ledger->record_class, ledger->recorded, ledger->received, ledger->dropped));
    }
    quality.ledger.push_back(*ledger);
  }
  if (aggregated != 0) {
    quality.notices.push_back(
        fmt::format("{} of {} arrived as aggregates, for lack of memory or because of --record: sums, "
                    "sizes and edges are exact, times of single calls are unknown.",
                    aggregated, counted(mpi.recorded + posix.recorded, "record")));
  }
  if (queries != 0) {
    quality.notices.push_back(
        fmt::format("{} of queries (MPI_Type_size, MPI_Comm_rank ...) {} counted, and one in 61 timed: their times "
                    "are estimates.",
                    counted(queries, "call"), queries == 1 ? "was" : "were"));
  }
  if (missing_packs != 0) {
    quality.notices.push_back(counted(missing_packs, "numbered pack") + " did not arrive.");
  }
}

}  // namespace
}  // namespace ardoise::knowledge_sources

ARDOISE_ANALYSIS(run_summary, "1.0", ardoise::knowledge_sources::RunSummary)
