#include "knowledge_sources/plugins/waits/function_delays.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace ardoise::knowledge_sources {
namespace {

constexpr double kLeastCaller = 0.05;  // of the awaited rank's sampled time: callers with less are ignored
constexpr double kClearly = 1.1;       // excess of a caller's own time over its callees' before it is named
constexpr double kAsMuch = 0.98;       // … or it is their only caller

constexpr double kDeviations = 2.576;  // of the normal distribution: 99 %

}  // namespace

double half_width(double squares) { return kDeviations * std::sqrt(squares); }

bool may_be_chance(double ns, double squares) { return ns < 0.5 * half_width(squares); }

std::map<std::uint32_t, std::vector<FunctionDelay>> FunctionDelays::functions() {
  std::ranges::sort(samples_, {}, [](const Sample& each) { return std::tuple(each.rank, each.place, each.awaited); });
  std::map<std::uint32_t, Nodes> nodes;  // by awaited rank
  std::vector<PlaceNodes::Where> where;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const Sample& sample = samples_[i];
    if (i == 0 || sample.rank != samples_[i - 1].rank) where = places_.of_rank(sample.rank);
    const PlaceNodes::Where& at = where[sample.place < where.size() ? sample.place : 0];
    const bool is_own = sample.rank == sample.awaited;
    const double ns = is_own ? sample.ns : -sample.ns;
    OfNode& node = nodes[sample.awaited][at.node];
    node.sums.add({ns, is_own ? ns : 0, sample.squares});
    if (at.line != kNoLine) node.lines[at.line] += ns;
  }
  std::map<std::uint32_t, std::vector<FunctionDelay>> result;
  for (const auto& [awaited, of_rank] : nodes) result[awaited] = functions_of(of_rank);
  return result;
}

// Functions of the stack, innermost first, each once.
std::vector<std::uint32_t> FunctionDelays::path_of(std::uint32_t node) const {
  std::vector<std::uint32_t> path;
  for (; node != kNoNode; node = places_.tree().nodes()[node].parent) {
    const std::uint32_t function = places_.tree().nodes()[node].function;
    if (std::ranges::find(path, function) == path.end()) path.push_back(function);
  }
  return path;
}

std::vector<FunctionDelay> FunctionDelays::functions_of(const Nodes& nodes) const {
  std::map<std::uint32_t, Sums> with_callees;
  double own = 0;
  for (const auto& [node, of_node] : nodes) {
    own += of_node.sums.own;
    for (const std::uint32_t function : path_of(node)) with_callees[function].add(of_node.sums);
  }
  // The part of a function's time that is delay.
  const auto part = [&](std::uint32_t function) {
    const Sums& sums = with_callees[function];
    return sums.own > 0 ? sums.ns / sums.own : 0;
  };
  std::map<std::uint32_t, OfNode> by_function;
  for (const auto& [node, of_node] : nodes) {
    const auto path = path_of(node);
    std::uint32_t best = path.front();
    for (const std::uint32_t caller : path) {
      const Sums& sums = with_callees[caller];
      if (sums.own < kLeastCaller * own || may_be_chance(sums.ns, sums.squares)) continue;
      const bool outer = best != path.front() && part(caller) > kAsMuch * part(best);
      if (part(caller) > kClearly * part(best) || outer) best = caller;
    }
    OfNode& function = by_function[best];
    function.sums.add(of_node.sums);
    if (best != path.front()) continue;
    for (const auto& [line, ns] : of_node.lines) function.lines[line] += ns;
  }
  std::vector<FunctionDelay> result;
  for (const auto& [number, function] : by_function) {
    FunctionDelay delay = named(number);
    delay.ns = function.sums.ns;
    delay.squares = function.sums.squares;
    const auto line = std::ranges::max_element(function.lines, {}, [](const auto& each) { return each.second; });
    if (line != function.lines.end()) {
      delay.source_file = places_.tree().lines()[line->first].source_file;
      delay.line = places_.tree().lines()[line->first].line;
    }
    result.push_back(std::move(delay));
  }
  return result;
}

FunctionDelay FunctionDelays::named(std::uint32_t number) const {
  const ContextTree::Function& function = places_.tree().functions()[number];
  return {function.symbol, function.source_file, function.line, function.kind == "posix"};
}

}  // namespace ardoise::knowledge_sources
