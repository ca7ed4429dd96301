// The programs of one MPI_COMM_WORLD: their ranks in it, and the messages between them. See sections.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/document/sections.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kPairs = 12, kSummaryPairs = 4;

struct Traffic {
  std::size_t from = 0, to = 0;  // indices of programs; to == programs: unknown
  std::uint64_t messages = 0, bytes = 0;
  double seconds = 0;
  Edge heaviest;
};

std::size_t owner_of(const Run& run, std::uint32_t partition, std::uint32_t world_rank) {
  const auto found = std::find_if(run.applications.begin(), run.applications.end(), [&](const Application& a) {
    return a.partition == partition && world_rank >= a.first_rank && world_rank - a.first_rank < a.ranks;
  });
  return static_cast<std::size_t>(found - run.applications.begin());
}

// Sorted by bytes, descending.
std::vector<Traffic> traffic_of(const Run& run) {
  std::map<std::pair<std::size_t, std::size_t>, Traffic> sums;
  for (std::size_t from = 0; from < run.applications.size(); ++from) {
    const Application& a = run.applications[from];
    for (const Edge& e : a.edges_between) {
      const std::size_t to = owner_of(run, a.partition, e.target);
      const auto [place, first] = sums.try_emplace({from, to}, Traffic{from, to, 0, 0, 0, e});
      Traffic& sum = place->second;
      sum.messages += e.messages;
      sum.bytes += e.bytes;
      sum.seconds += e.seconds;
      if (e.bytes > sum.heaviest.bytes) sum.heaviest = e;
    }
  }
  std::vector<Traffic> list;
  for (const auto& [programs, sum] : sums) list.push_back(sum);
  std::stable_sort(list.begin(), list.end(), [](const auto& x, const auto& y) { return x.bytes > y.bytes; });
  return list;
}

}  // namespace

std::string place_in_world(const Run& run, const Application& a) {
  if (a.world_ranks <= a.ranks || a.ranks == 0) return {};
  const std::uint32_t last = a.world_rank(a.ranks - 1);
  std::string text =
      a.ranks == 1 ? fmt::format("rank {}", a.first_rank) : fmt::format("ranks {} to {}", a.first_rank, last);
  text += fmt::format(" of the {} in an MPI_COMM_WORLD", a.world_ranks);
  std::vector<std::string> others;
  for (const Application& other : run.applications) {
    if (&other != &a && other.partition == a.partition) others.push_back(code(other.name, 40).text);
  }
  for (std::size_t i = 0; i < others.size(); ++i)
    text += (i == 0 ? " shared with " : i + 1 == others.size() ? " and " : ", ") + others[i];
  return text;
}

Section between_programs(const Run& run) {
  const std::vector<Traffic> list = traffic_of(run);
  Section section{.title = "Between programs", .together = 6};
  if (list.empty()) return section;
  Table table{"Messages between programs (ranks of the shared MPI_COMM_WORLD)",
              {left("From program", 22), left("to program", 22), "Messages", "Bytes", "Time",
               left("heaviest pair of ranks", 30)},
              {}};
  const auto name = [&](std::size_t program) {
    return program < run.applications.size() ? Cell{code(run.applications[program].name, 40)} : Cell{"(not measured)"};
  };
  for (const Traffic& t : list) {
    if (table.rows.size() == kPairs) break;
    table.rows.push_back(
        {name(t.from), name(t.to), count(t.messages), bytes(t.bytes), seconds(t.seconds),
         fmt::format("{} → {}: {}", t.heaviest.source, t.heaviest.target, shown(bytes(t.heaviest.bytes)))});
  }
  Table brief = table;
  brief.rows.resize(std::min(kSummaryPairs, brief.rows.size()));
  section.summary.push_back(std::move(brief));
  section.blocks.push_back(std::move(table));
  add_rest(section.blocks, list.size(), kPairs, "pairs of programs");
  return section;
}

}  // namespace ardoise::reports
