// Memory: steady growth of ranks, nearly full hosts. From the peak resident set of each rank over time.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/findings/findings.hpp"
#include "reports/findings/memory_growth.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr double kLeastGrowth = 32e6;  // bytes, in the last two thirds of the run
constexpr double kLeastPart = 0.1;     // of the rank's memory at the end
constexpr double kLongRun = 60;        // seconds: in a shorter run growth may be set-up
constexpr double kForesight = 10;      // times the observed period: a forecast goes no further
constexpr double kNearlyFull = 0.9;
constexpr double kLeastKernel = 0.02;  // of the CPU time: enough page faults to name the function that uses new memory

// Memory or limit of each host; 0: unknown.
std::vector<double> memory_of_hosts(const MemoryProfile& memory) {
  std::vector<double> room;
  for (std::size_t h = 0; h < memory.host_bytes.size(); ++h) {
    const std::uint64_t limit = memory.limit_bytes[h];
    room.push_back(static_cast<double>(limit != 0 ? limit : memory.host_bytes[h]));
  }
  return room;
}

std::string host_in_words(const Application& a, std::size_t host) {
  return a.hosts.size() > 1 ? "host " + in_sentence(a.hosts[host]) : "the host";
}

// A sentence on the function with most page faults, judged by kernel time below it; "": too few.
std::string page_faults_in_words(const SampleProfile& s) {
  std::map<std::uint32_t, double> beneath;
  for (std::size_t i = 0; i < s.tree.parent.size(); ++i) {
    if (s.functions[s.tree.function[i]].symbol == "(kernel)" && s.tree.parent[i] != kNoParent)
      beneath[s.tree.function[s.tree.parent[i]]] += s.tree.self[i];
  }
  const auto most = std::max_element(beneath.begin(), beneath.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == beneath.end() || most->second < kLeastKernel * s.self) return "";
  return fmt::format(" Most page faults are in {} (an estimate, from time in the kernel).",
                     name_and_place(s, most->first));
}

// Seconds until the ranks of the host use all its memory, if they continue to grow; 0: never, or unknown.
double seconds_left(const Application& a, const std::vector<MemoryGrowth>& growth, std::size_t host, double room) {
  double used = 0, rate = 0;
  for (std::uint32_t rank = 0; rank < a.ranks; ++rank) {
    if (a.per_rank.host[rank] != host) continue;
    used += growth[rank].at_end;
    if (growth[rank].steady) rate += growth[rank].rate;
  }
  return rate > 0 && room > used ? (room - used) / rate : 0;
}

void leak(const Facts& facts, std::vector<Finding>& out) {
  const Application& a = facts.app;
  const std::vector<MemoryGrowth> growth = memory_growth(a);
  std::vector<std::uint32_t> growing;
  std::size_t most = 0;
  for (std::uint32_t rank = 0; rank < growth.size(); ++rank) {
    const MemoryGrowth& g = growth[rank];
    if (!g.steady || g.grown < kLeastGrowth || g.grown < kLeastPart * g.at_end) continue;
    growing.push_back(a.world_rank(rank));
    if (growing.size() == 1 || g.grown > growth[most].grown) most = rank;
  }
  if (growing.empty()) return;
  const MemoryGrowth& g = growth[most];
  const std::size_t host = a.per_rank.host[most];
  const double left = seconds_left(a, growth, host, memory_of_hosts(a.memory)[host]), part = g.grown / g.at_end;
  const bool is_short = a.wall_seconds < kLongRun;
  out.push_back(
      {"memory_growth",
       part > 0.5 && !is_short ? Severity::high : Severity::medium,
       part,
       fmt::format(
           "Memory of {} grows steadily{}: rank {} grew by {} to {} in the last {}, {} a second.{}{}{}",
           growing.size() == a.ranks ? "all ranks"
           : growing.size() == 1     ? fmt::format("rank {}", growing[0])
                                     : "ranks " + rank_ranges(growing, 4),
           growing.size() == a.ranks || growing.size() * 4 > a.ranks * 3 ? "" : ", memory of the others does not",
           a.world_rank(static_cast<std::uint32_t>(most)), human_bytes(g.grown), human_bytes(g.at_end),
           human_seconds(g.seconds), human_bytes(g.rate),
           is_short ? " In such a short run this may be the program's set-up." : "",
           !is_short && left > 0 && left < kForesight * g.seconds
               ? fmt::format(" At this rate {} is full in {}.", host_in_words(a, host), human_seconds(left))
               : "",
           page_faults_in_words(a.samples)),
       "If unintended, look for memory that is allocated in each step and never freed, or for lists that only grow.",
       {{"bytes", g.grown}, {"bytes_per_second", g.rate}, {"ranks", static_cast<double>(growing.size())}}});
}

void nearly_full(const Facts& facts, std::vector<Finding>& out) {
  const Application& a = facts.app;
  const std::vector<double> room = memory_of_hosts(a.memory);
  std::vector<double> used(room.size());
  std::vector<std::uint32_t> ranks(room.size());
  for (std::uint32_t rank = 0; rank < a.per_rank.peak_memory_bytes.size(); ++rank) {
    const std::uint32_t host = a.per_rank.host[rank];
    if (host >= used.size()) return;
    used[host] += static_cast<double>(a.per_rank.peak_memory_bytes[rank]);
    ++ranks[host];
  }
  std::size_t worst = room.size();
  for (std::size_t h = 0; h < room.size(); ++h) {
    if (room[h] <= 0 || used[h] < kNearlyFull * room[h]) continue;
    if (worst == room.size() || used[h] / room[h] > used[worst] / room[worst]) worst = h;
  }
  if (worst == room.size()) return;
  out.push_back(
      {"memory_nearly_full",
       Severity::high,
       std::min(1.0, used[worst] / room[worst]),
       fmt::format("{} on {} {} {} at {} peak{}, of {} available{}: beyond that, the kernel ends {}.",
                   ranks[worst] == 1 ? "The rank" : fmt::format("The {} ranks", ranks[worst]), host_in_words(a, worst),
                   ranks[worst] == 1 ? "needs" : "need", human_bytes(used[worst]), ranks[worst] == 1 ? "its" : "their",
                   ranks[worst] == 1 ? "" : "s", human_bytes(room[worst]),
                   a.memory.limit_bytes[worst] != 0 ? " (the limit of the job's control group)" : "",
                   ranks[worst] == 1 ? "it" : "one of them"),
       "Use more hosts, or fewer ranks on each with more threads.",
       {{"bytes", used[worst]}, {"room", room[worst]}}});
}

}  // namespace

void find_memory(const Facts& facts, std::vector<Finding>& out) {
  leak(facts, out);
  nearly_full(facts, out);
}

}  // namespace ardoise::reports
