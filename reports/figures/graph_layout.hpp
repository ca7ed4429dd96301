// The communication graph, small enough to be read, and where Graphviz puts its nodes. Used by graph_figure.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports {

// Nodes are ranks, or blocks of `ranks_per_node` consecutive ranks; edges are sums, without edges inside a node.
struct Graph {
  std::uint32_t nodes = 0, ranks_per_node = 1;
  std::vector<Edge> edges;          // sorted by (source, target); ranks are node numbers
  std::vector<std::string> labels;  // "17", "0–31"
};

// One node a rank up to `most_nodes` ranks, else at most `blocks` nodes.
[[nodiscard]] Graph graph_of(const Application& app, std::uint32_t most_nodes, std::uint32_t blocks);

// In Graphviz's language: for layout, and for a user who wants to draw it differently.
[[nodiscard]] std::string to_dot(const Graph& graph, const std::string& title);

struct Position {
  double x = 0, y = 0;  // 0 … 1
};

// Reads `plain` output of Graphviz; empty unless every node has a place.
[[nodiscard]] std::vector<Position> read_plain_layout(const std::string& text_untrusted, std::uint32_t nodes);

// Evenly on a circle, the first on top: for few nodes and when Graphviz is not there.
[[nodiscard]] std::vector<Position> circle_layout(std::uint32_t nodes);

}  // namespace ardoise::reports
