#include "knowledge_sources/plugins/samples/totals_by_rank.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace ardoise::knowledge_sources {

void TotalsByRank::add(std::uint32_t node, double value) {
  double& sum = at(in_node_, node);
  if (!(sum > 0)) touched_.push_back(node);
  sum += value;
}

void TotalsByRank::end_thread(const ContextTree& tree, std::uint32_t rank, std::uint32_t thread) {
  const auto& nodes = tree.nodes();
  for (const std::uint32_t touched : touched_) {
    const double value = std::exchange(in_node_[touched], 0.0);
    at(totals_, nodes[touched].function).self += value;
    if (tree.functions()[nodes[touched].function].kind != "code") continue;
    ++walks_;
    for (std::uint32_t node = touched; node != kNoNode; node = nodes[node].parent) {
      Totals& totals = at(totals_, nodes[node].function);
      if (std::exchange(totals.walk, walks_) == walks_) continue;
      totals.of_thread += value;
    }
  }
  touched_.clear();
  for (std::uint32_t function = 0; function < totals_.size(); ++function) {
    const double of_thread = std::exchange(totals_[function].of_thread, 0.0);
    totals_[function].total += of_thread;
    if (of_thread > 0 && tree.functions()[function].symbol.find(" [OpenMP region") != std::string::npos) {
      regions_.push_back({rank, thread, function, of_thread});
    }
  }
}

void TotalsByRank::end_rank(std::uint32_t rank) {
  for (std::uint32_t function = 0; function < totals_.size(); ++function) {
    if (totals_[function].self > 0 || totals_[function].total > 0)
      by_rank_[rank].push_back({function, totals_[function].self, totals_[function].total});
  }
  totals_.assign(totals_.size(), Totals{});
}

std::vector<std::uint32_t> TotalsByRank::most_uneven(const ContextTree& tree, std::size_t most) const {
  struct Spread {
    double sum = 0, greatest = 0;
  };
  std::vector<Spread> spreads(tree.functions().size());
  for (const auto& values : by_rank_) {
    for (const Value& value : values) {
      spreads[value.function].sum += value.total;
      spreads[value.function].greatest = std::max(spreads[value.function].greatest, value.total);
    }
  }
  const auto above_mean = [&](std::uint32_t f) {
    return spreads[f].greatest - spreads[f].sum / static_cast<double>(by_rank_.size());
  };
  std::vector<std::uint32_t> functions;
  for (std::uint32_t f = 0; f < spreads.size(); ++f) {
    const ContextTree::Function& function = tree.functions()[f];
    if (function.kind == "code" && !function.symbol.empty() && function.symbol[0] != '(' && above_mean(f) > 0)
      functions.push_back(f);
  }
  std::ranges::sort(functions, [&](std::uint32_t a, std::uint32_t b) {
    const double x = above_mean(a), y = above_mean(b);
    return x != y ? x > y : tree.functions()[a] < tree.functions()[b];
  });
  if (functions.size() > most) functions.resize(most);
  return functions;
}

void TotalsByRank::fill_regions(const std::vector<std::uint32_t>& place, reports::SampleProfile& model) const {
  std::map<std::uint32_t, std::size_t> rows;  // by function in the model
  for (const Region& region : regions_) rows.try_emplace(place[region.function]);
  for (auto& [function, row] : rows) {
    row = model.regions.functions.size();
    model.regions.functions.push_back(function);
  }
  const reports::SampledThreads& threads = model.threads;
  model.regions.total.assign(rows.size() * threads.rank.size(), 0.0);
  std::size_t thread = 0;  // both lists are by (rank, thread)
  for (const Region& region : regions_) {
    const std::pair wanted(region.rank, region.thread);
    while (thread < threads.rank.size() && std::pair(threads.rank[thread], threads.thread[thread]) < wanted) ++thread;
    if (thread == threads.rank.size()) return;
    model.regions.total[rows[place[region.function]] * threads.rank.size() + thread] = region.total;
  }
}

}  // namespace ardoise::knowledge_sources
