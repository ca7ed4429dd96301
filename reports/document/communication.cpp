// Messages between ranks: matrix, graph, heaviest connections, communicators. See sections.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "reports/document/sections.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kEdges = 15, kEdgesOfFew = 6, kCommunicators = 15, kSummaryEdges = 3;
constexpr std::uint32_t kLeastRanks = 4;  // with fewer, the table of connections is enough
constexpr std::uint32_t kFewRanks = 16;   // up to this number, small figures of bytes are enough

std::vector<const Edge*> heaviest(const Application& a, std::size_t most) {
  std::vector<const Edge*> list;
  for (const Edge& e : a.edges) list.push_back(&e);
  const std::size_t shown = std::min(list.size(), most);
  std::partial_sort(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(shown), list.end(),
                    [](const Edge* x, const Edge* y) {
                      return x->bytes != y->bytes ? x->bytes > y->bytes
                                                  : std::pair(x->source, x->target) < std::pair(y->source, y->target);
                    });
  list.resize(shown);
  return list;
}

Cell factor(double value) { return Text(fmt::format("{:.2f}", value)); }

std::vector<std::uint32_t> members_of(const Application& a, const Communicator& c, std::uint32_t group) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < c.group_of_rank.size(); ++rank) {
    if (c.group_of_rank[rank] == group) ranks.push_back(a.world_rank(rank));
  }
  return ranks;
}

bool is_predefined(const Communicator& c) { return c.name == "MPI_COMM_WORLD" || c.name == "MPI_COMM_SELF"; }

// Adds the large figure, then the two small ones side by side.
void add_three(std::vector<Block>& to, Figure large, Figure left, Figure right, const char* caption) {
  add_figure(to, std::move(large));
  left.caption = caption;
  to.push_back(Figures{std::move(left), std::move(right)});
}

}  // namespace

Section communication(const Application& a) {
  Section section{.title = "Communication", .together = 8};
  if (a.edges.empty()) {
    section.left_out.push_back("communication (no messages between ranks)");
    return section;
  }
  if (a.ranks < kLeastRanks) {
    section.left_out.push_back(fmt::format("communication matrix and graph ({})", counted(a.ranks, "rank")));
    return section;
  }
  section.blocks.push_back(Paragraph{
      fmt::format("Point-to-point, one-sided and neighbourhood messages on {}, each counted once, at the sender.",
                  counted(a.edges.size(), "connection"))});
  if (a.ranks <= kFewRanks) {
    Figure matrix = matrix_figure(a, Weight::bytes, true);
    std::vector<Figure> graphs = graph_figures(a, true);
    if (graphs.empty()) return section;
    matrix.caption = "Bytes between ranks, as a matrix (white: none) and as a graph.";
    section.blocks.push_back(Figures{std::move(matrix), std::move(graphs[0])});
    return section;
  }
  add_three(section.blocks, matrix_figure(a, Weight::bytes, false), matrix_figure(a, Weight::calls, true),
            matrix_figure(a, Weight::seconds, true), "The same matrix by messages and by time in the sending calls.");
  if (std::vector<Figure> graphs = graph_figures(a, false); graphs.size() == 3) {
    add_three(section.blocks, std::move(graphs[0]), std::move(graphs[1]), std::move(graphs[2]),
              "The same graph by messages and by time in the sending calls.");
  }
  return section;
}

Section heaviest_connections(const Application& a) {
  Section section{.title = "Heaviest connections"};
  if (a.edges.empty()) return section;
  const std::size_t most = a.ranks <= kFewRanks ? kEdgesOfFew : kEdges;
  std::string text = fmt::format("Heaviest of {}:", counted(a.edges.size(), "connection"));
  Table table{"", {"From rank", "To rank", "Messages", "Bytes", "per message", "Time"}, {}};
  for (const Edge* e : heaviest(a, most)) {
    if (table.rows.size() < kSummaryEdges) {
      text += fmt::format("{} rank {} → {}: {} in {}", table.rows.empty() ? "" : " ·", a.world_rank(e->source),
                          a.world_rank(e->target), shown(bytes(e->bytes)), counted(e->messages, "message"));
    }
    const double per_message = e->messages == 0 ? 0 : static_cast<double>(e->bytes) / static_cast<double>(e->messages);
    table.rows.push_back({exact(a.world_rank(e->source)), exact(a.world_rank(e->target)), count(e->messages),
                          bytes(e->bytes), bytes(per_message), seconds(e->seconds)});
  }
  section.summary.push_back(Paragraph{text});
  section.blocks.push_back(std::move(table));
  add_rest(section.blocks, a.edges.size(), most, "connections", "edges");
  return section;
}

Section communicators(const Application& a) {
  Section section{.title = "Communicators", .together = 7};
  if (a.communicators.empty()) return section;
  if (std::all_of(a.communicators.begin(), a.communicators.end(), is_predefined)) {
    section.left_out.push_back("communicators (the program creates none)");
    return section;
  }
  Table table{"", {left("Name", 60), "Ranks", "Number"}, {}};
  Table efficiencies{
      "The least efficient communicator of each name",
      {left("Name", 22), left("Ranks", 20), "Load balance", "Serialisation", "Transfer", "Parallel", "Between"},
      {}};
  for (std::size_t i = 0; i < std::min(kCommunicators, a.communicators.size()); ++i) {
    const Communicator& c = a.communicators[i];
    const auto name = [&](std::size_t most) { return c.name.empty() ? Text("unnamed") : code(c.name, most); };
    table.rows.push_back({name(100), exact(c.size), exact(c.count)});
    if (c.least_efficient == 0) continue;
    const ParallelEfficiency& e = c.efficiency;
    efficiencies.rows.push_back({name(22), Text(rank_ranges(members_of(a, c, c.least_efficient), 3)),
                                 factor(e.load_balance), factor(e.serialisation), factor(e.transfer),
                                 factor(e.parallel), c.count > 1 ? factor(c.balance_between) : Cell("")});
  }
  section.blocks.push_back(std::move(table));
  add_rest(section.blocks, a.communicators.size(), kCommunicators, "communicators");
  if (efficiencies.rows.empty()) return section;
  section.blocks.push_back(std::move(efficiencies));
  section.blocks.push_back(remark(
      "Efficiencies are defined as in the section on waiting, here for the ranks of the communicator. Between is the "
      "load balance between the communicators of that name: mean ÷ maximum of their mean useful times. If it is low "
      "and load balance is high, move work from one communicator to another."));
  return section;
}

}  // namespace ardoise::reports
