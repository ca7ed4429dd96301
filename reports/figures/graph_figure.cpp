// The communication graph as a figure; see figures.hpp. Graphviz only computes the positions of nodes. Drawing here
// gives all three weights the same layout, and edges a legend.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

#include "reports/child_process.hpp"
#include "reports/figures/canvas.hpp"
#include "reports/figures/figures.hpp"
#include "reports/figures/graph_layout.hpp"
#include "reports/private_folder.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

// Graphviz' layout; also writes its input, the .dot file.
std::vector<Position> layout(const Graph& graph, const std::string& title, FigureFolder& folder) {
  const std::string dot_file = folder.file("graph.dot"), plain = folder.file("graph.plain");
  if (std::ofstream file(dot_file, std::ios::binary); !(file << to_dot(graph, title) << std::flush)) {
    if (folder.error.empty()) folder.error = cannot_make(dot_file, std::strerror(errno));
    return circle_layout(graph.nodes);
  }
  if (graph.nodes <= 4) return circle_layout(graph.nodes);
  const ChildResult result = run_child(
      {folder.graphviz, "-Goverlap=prism", "-Tplain", "-o", folder.name("graph.plain"), folder.name("graph.dot")},
      {folder.path, folder.graph_timeout_seconds, {}});
  std::vector<Position> places;
  if (result.ok()) {
    std::ifstream in(plain);
    std::ostringstream text;
    text << in.rdbuf();
    places = read_plain_layout(text.str(), graph.nodes);
  }
  std::remove(plain.c_str());
  if (!places.empty()) return places;
  const char* why = result.end == ChildResult::End::not_found
                        ? "Graphviz is not installed (sudo apt-get install graphviz)"
                    : result.end == ChildResult::End::timed_out ? "Graphviz took too long"
                                                                : "Graphviz failed";
  folder.notices.push_back(fmt::format("{}: the communication graph is drawn on a circle.", why));
  return circle_layout(graph.nodes);
}

// Shared by the three figures. Graphviz runs when the first of them is drawn.
struct Picture {
  Graph graph;
  std::vector<Position> places;
};

double size_of(bool large) { return large ? 330 : 205; }

void draw(Canvas& canvas, const Graph& graph, const std::vector<Position>& places, Weight weight, bool large) {
  const double size = size_of(large), margin = large ? 22 : 15;
  std::vector<double> weights;
  for (const Edge& e : graph.edges) weights.push_back(style_of(weight).of(e));
  const Scale scale = Scale::over(weights, true);
  double nearest = size;
  const auto x = [&](const Position& p) { return margin + p.x * (size - 2 * margin); };
  const auto y = [&](const Position& p) { return margin + p.y * (size - 2 * margin); };
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      nearest = std::min(nearest, std::hypot(x(places[i]) - x(places[j]), y(places[i]) - y(places[j])));
  }
  const double radius = std::clamp(nearest * 0.34, 2.5, graph.ranks_per_node > 1 ? 17.0 : 11.0);
  std::vector<std::size_t> order(graph.edges.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weights[a] < weights[b]; });
  if (order.size() > kMaxGraphEdges) order.erase(order.begin(), order.end() - kMaxGraphEdges);
  const double crowd = std::clamp(120.0 / static_cast<double>(order.size() + 1), 0.35, 1.0);
  for (const std::size_t i : order) {  // the heaviest last, on top
    const Edge& e = graph.edges[i];
    const double t = scale.at(weights[i]);
    const Position &a = places[e.source], &b = places[e.target];
    canvas.arrow(x(a), y(a), x(b), y(b), radius + 0.8, (0.4 + 1.8 * t) * (0.4 + 0.6 * crowd), scale_colour(t));
  }
  for (std::uint32_t n = 0; n < graph.nodes; ++n) {
    canvas.circle(x(places[n]), y(places[n]), radius, {0.95, 0.96, 0.97});
    const double fit = 1.75 * radius / std::max(1.0, canvas.text_width(graph.labels[n], 1));
    const double font = std::min({fit, radius * 1.05, 8.5});
    canvas.text(x(places[n]), y(places[n]) + font * 0.36, graph.labels[n], Align::centre, font);
  }
  const WeightStyle& style = style_of(weight);
  if (large) {
    canvas.legend(size + 8, 60, 150, scale, style.title, style.format);
  } else {
    canvas.text(margin, size + 6, style.title, Align::left, 7.5, true);
    canvas.flat_legend(margin + 45, size + 1, size - 2 * margin - 50, scale, style.format);
  }
}

}  // namespace

std::vector<Figure> graph_figures(const Application& app, bool small) {
  const auto picture = std::make_shared<Picture>(Picture{graph_of(app, kMaxGraphNodes, kGraphBlocks), {}});
  const Graph& graph = picture->graph;
  if (graph.edges.empty()) return {};
  const std::string nodes =
      graph.ranks_per_node == 1
          ? "Nodes are ranks"
          : fmt::format("Nodes are blocks of {} ranks; messages inside a block are omitted", graph.ranks_per_node);
  const std::string drawn = graph.edges.size() <= kMaxGraphEdges
                                ? ""
                                : fmt::format(" Only the heaviest {} of {} connections are drawn.", kMaxGraphEdges,
                                              with_separators(graph.edges.size()));
  std::vector<Figure> figures;
  for (const Weight weight : {Weight::bytes, Weight::calls, Weight::seconds}) {
    const bool large = !small && weight == Weight::bytes;
    const WeightStyle& style = style_of(weight);
    const double size = size_of(large);
    figures.push_back({std::string("graph_") + style.file_name,
                       fmt::format("Communication graph by {}. {}; wide and dark arrows stand for large values.{}",
                                   style.what, nodes, drawn),
                       large   ? 0.82
                       : small ? 0.34
                               : 0.48,
                       size + (large ? 75 : 0), size + (large ? 0 : 24),
                       [picture, weight, large, &app](Canvas& canvas, FigureFolder& folder) {
                         if (picture->places.empty()) picture->places = layout(picture->graph, app.name, folder);
                         draw(canvas, picture->graph, picture->places, weight, large);
                       }});
  }
  return figures;
}

}  // namespace ardoise::reports
