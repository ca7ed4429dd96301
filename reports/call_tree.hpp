// Recursion in call trees, for sums by function. Header only: the knowledge source and the reports use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ardoise::reports {

// For each node whether no node above it has the same function: a function's total time is the sum over these nodes.
// Parents precede children; a root's parent is no index. O(nodes + functions) for any depth.
[[nodiscard]] inline std::vector<bool> outermost_nodes(const std::vector<std::uint32_t>& parent,
                                                       const std::vector<std::uint32_t>& function,
                                                       std::size_t functions) {
  const std::size_t nodes = parent.size();
  std::vector<std::uint32_t> next(nodes), first(nodes + 1, static_cast<std::uint32_t>(nodes));  // lists of children
  for (std::size_t i = nodes; i-- != 0;) {
    auto& list = first[parent[i] < nodes ? parent[i] : nodes];
    next[i] = list;
    list = static_cast<std::uint32_t>(i);
  }
  std::vector<bool> result(nodes);
  std::vector<std::uint32_t> on_path(functions), path;
  for (std::uint32_t node = first[nodes]; node < nodes || !path.empty();) {
    if (node < nodes) {  // down
      result[node] = on_path[function[node]]++ == 0;
      path.push_back(node);
      node = first[node];
    } else {  // up, then to the next sibling
      --on_path[function[path.back()]];
      node = next[path.back()];
      path.pop_back();
    }
  }
  return result;
}

}  // namespace ardoise::reports
