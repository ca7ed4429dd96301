// The communication graph, reduced to a readable size, and the layout of its nodes. Used by graph_figure.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports {

// Nodes are ranks, or blocks of `ranks_per_node` consecutive ranks. Edges are sums, without edges inside a node.
struct Graph {
  std::uint32_t nodes = 0, ranks_per_node = 1;
  std::vector<Edge> edges;          // sorted by (source, target); ranks are node numbers
  std::vector<std::string> labels;  // "17", "0–31"
};

// One node for each rank up to `most_nodes` ranks, else at most `blocks` nodes.
[[nodiscard]] Graph graph_of(const Application& app, std::uint32_t most_nodes, std::uint32_t blocks);

// Graphviz input: for the layout, and for users who draw the graph themselves.
[[nodiscard]] std::string to_dot(const Graph& graph, const std::string& title);

struct Position {
  double x = 0, y = 0;  // 0 … 1
};

// Reads Graphviz's `plain` output; empty unless every node has a position.
[[nodiscard]] std::vector<Position> read_plain_layout(const std::string& text_untrusted, std::uint32_t nodes);

// Nodes evenly on a circle, the first on top: for few nodes, and without Graphviz.
[[nodiscard]] std::vector<Position> circle_layout(std::uint32_t nodes);

}  // namespace ardoise::reports
