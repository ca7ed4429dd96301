#include "reports/figures/graph_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "reports/text/utf8.hpp"

namespace ardoise::reports {

Graph graph_of(const Application& app, std::uint32_t most_nodes, std::uint32_t blocks) {
  Graph graph;
  graph.ranks_per_node = app.ranks <= most_nodes ? 1 : (app.ranks + blocks - 1) / blocks;
  const std::uint32_t per = graph.ranks_per_node;
  graph.nodes = (app.ranks + per - 1) / per;
  for (std::uint32_t n = 0; n < graph.nodes; ++n) {
    const std::uint32_t first = app.world_rank(n * per), last = app.world_rank(std::min(app.ranks, (n + 1) * per) - 1);
    graph.labels.push_back(first == last ? std::to_string(first) : fmt::format("{}–{}", first, last));
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, Edge> sums;
  for (const Edge& e : app.edges) {
    const std::uint32_t source = e.source / per, target = e.target / per;
    if (source == target) continue;
    Edge& sum = sums[{source, target}];
    sum.source = source;
    sum.target = target;
    sum.messages += e.messages;
    sum.bytes += e.bytes;
    sum.seconds += e.seconds;
  }
  for (const auto& [key, edge] : sums) graph.edges.push_back(edge);
  return graph;
}

std::string to_dot(const Graph& graph, const std::string& title) {
  std::string name;
  for (const char c : printable(title)) name += c == '"' || c == '\\' ? '_' : c;
  std::string dot = fmt::format("digraph \"{}\" {{\n  node [shape=circle, fixedsize=true, width=0.4];\n", name);
  for (std::uint32_t n = 0; n < graph.nodes; ++n) dot += fmt::format("  {} [label=\"{}\"];\n", n, graph.labels[n]);
  for (const Edge& e : graph.edges) {
    dot += fmt::format("  {} -> {} [messages={}, bytes={}, seconds={:.6g}];\n", e.source, e.target, e.messages, e.bytes,
                       e.seconds);
  }
  return dot + "}\n";
}

std::vector<Position> read_plain_layout(const std::string& text, std::uint32_t nodes) {
  std::istringstream lines(text);
  std::vector<Position> places(nodes);
  std::vector<bool> seen(nodes, false);
  double width = 0, height = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "graph") {
      double scale = 0;
      words >> scale >> width >> height;
    } else if (kind == "node") {
      std::uint32_t id = 0;
      Position p;
      if (!(words >> id >> p.x >> p.y) || id >= nodes || !std::isfinite(p.x) || !std::isfinite(p.y)) return {};
      places[id] = p;
      seen[id] = true;
    }
  }
  if (std::find(seen.begin(), seen.end(), false) != seen.end()) return {};
  const auto [left, right] =
      std::minmax_element(places.begin(), places.end(), [](auto& a, auto& b) { return a.x < b.x; });
  const auto [low, high] =
      std::minmax_element(places.begin(), places.end(), [](auto& a, auto& b) { return a.y < b.y; });
  // One factor for both axes preserves angles.
  const double x0 = left->x, y0 = low->y, span = std::max({right->x - x0, high->y - y0, 1e-9});
  const double pad_x = (1 - (right->x - x0) / span) / 2, pad_y = (1 - (high->y - y0) / span) / 2;
  for (Position& p : places) p = {pad_x + (p.x - x0) / span, 1 - pad_y - (p.y - y0) / span};
  return places;
}

std::vector<Position> circle_layout(std::uint32_t nodes) {
  std::vector<Position> places;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    const double angle = 2 * M_PI * n / std::max(1U, nodes);
    places.push_back({0.5 + 0.5 * std::sin(angle), 0.5 - 0.5 * std::cos(angle)});
  }
  return places;
}

}  // namespace ardoise::reports
