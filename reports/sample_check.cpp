// The rules of the sampled profile; see check.hpp.
#include <algorithm>
#include <cstddef>

#include "reports/check.hpp"

namespace ardoise::reports {

namespace {

template <class T>
void check_length(Check& check, const std::string& place, const std::vector<T>& list, std::size_t wanted) {
  check.require(list.size() == wanted, "{} has {} elements, not {}", place, list.size(), wanted);
  if constexpr (std::is_floating_point_v<T>) check_each(check, place, list);
}

void check_indices(Check& check, const std::string& place, const std::vector<std::uint32_t>& list, std::size_t below) {
  const auto bad = std::find_if(list.begin(), list.end(), [&](std::uint32_t i) { return i >= below; });
  check.require(bad == list.end(), "{}[{}] is not below {}", place, bad - list.begin(), below);
}

// A struct of lists that all have `wanted` elements.
template <class T>
void check_columns(Check& check, const std::string& at, const T& columns, std::size_t wanted) {
  for (const Field& field : kFields<T>) {
    const void* const list = reinterpret_cast<const std::byte*>(&columns) + field.offset;
    const std::size_t size = field.type->size(list);
    const std::string place = fmt::format("{}.{}", at, field.key);
    check.require(size == wanted, "{} has {} elements, not {}", place, size, wanted);
    check_list(check, place, *field.type, list);
  }
}

void check_tree(Check& check, const std::string& at, const CallTree& tree, std::size_t functions) {
  const std::size_t nodes = tree.parent.size();
  check_columns(check, at, tree, nodes);
  check_indices(check, at + ".function", tree.function, functions);
  for (std::size_t i = 0; i < nodes; ++i) {
    if (tree.parent[i] == kNoParent || tree.parent[i] < i) continue;
    check.require(false, "{}.parent[{}] is not an earlier node", at, i);
    return;
  }
}

// A matrix of rows x columns numbers; the product may overflow in a bad file.
void check_matrix(Check& check, const std::string& place, const std::vector<double>& cells, std::size_t rows,
                  std::size_t columns) {
  const auto wanted = static_cast<unsigned __int128>(rows) * columns;
  check.require(wanted == cells.size(), "{} has {} cells, not {} x {}", place, cells.size(), rows, columns);
  check_each(check, place, cells);
}

void check_ranks(Check& check, const std::string& at, const SampleProfile& s, std::uint32_t ranks) {
  const std::size_t known = s.per_rank.all.empty() && s.per_rank.functions.empty() ? 0 : ranks;
  check_indices(check, at + ".per_rank.functions", s.per_rank.functions, s.functions.size());
  check_matrix(check, at + ".per_rank.self", s.per_rank.self, s.per_rank.functions.size(), known);
  check_length(check, at + ".per_rank.all", s.per_rank.all, known);
  check_indices(check, at + ".per_rank.uneven", s.per_rank.uneven, s.functions.size());
  check_matrix(check, at + ".per_rank.total", s.per_rank.total, s.per_rank.uneven.size(), known);
  check_cells(check, at + ".cluster_of_rank", s.cluster_of_rank, ranks);
  check_indices(check, at + ".cluster_of_rank", s.cluster_of_rank, s.clusters.size());
  for (std::size_t i = 0; i < s.clusters.size(); ++i) {
    const std::string place = fmt::format("{}.clusters[{}]", at, i);
    check.require(s.clusters[i].leader < ranks, "{}.leader is not below {}", place, ranks);
    check_length(check, place + ".mean_share", s.clusters[i].mean_share, s.per_rank.functions.size());
  }
}

}  // namespace

void check_samples(Check& check, const std::string& at, const SampleProfile& s, std::uint32_t ranks) {
  check.require(numbers_are_sane(s.self) && numbers_are_sane(s.kernel) && numbers_are_sane(s.at_shared_ticks) &&
                    numbers_are_sane(s.confidence) && numbers_are_sane(s.cluster_distance),
                "{} has a negative or infinite number", at);
  check_each(check, at + ".functions", s.functions);
  check_each(check, at + ".lines", s.lines);
  check_each(check, at + ".rate_changes", s.rate_changes);
  for (std::size_t i = 0; i < s.functions.size(); ++i) {
    const SampledFunction& f = s.functions[i];
    const std::string place = fmt::format("{}.functions[{}]", at, i);
    check_length(check, place + ".counters", f.counters, s.counters.size());
    check.require(f.max_rank < ranks, "{}.max_rank is not below {}", place, ranks);
    if (!check.error.empty()) return;
  }
  const auto line = std::find_if(s.lines.begin(), s.lines.end(),
                                 [&](const SampledLine& l) { return l.function >= s.functions.size(); });
  check.require(line == s.lines.end(), "{}.lines[{}].function is not below the number of functions", at,
                line - s.lines.begin());
  check_tree(check, at + ".tree", s.tree, s.functions.size());
  check_ranks(check, at, s, ranks);
  check.require(numbers_are_sane(s.timeline.bin_seconds), "{}.timeline.bin_seconds is negative", at);
  check.require(s.timeline.rank_step >= 1, "{}.timeline.rank_step must be at least 1", at);
  check_indices(check, at + ".timeline.functions", s.timeline.functions, s.functions.size());
  check_matrix(check, at + ".timeline.self", s.timeline.self, s.timeline.functions.size(), s.timeline.bins);
  check_length(check, at + ".timeline.all", s.timeline.all, s.timeline.bins);
  const auto change =
      std::find_if(s.rate_changes.begin(), s.rate_changes.end(), [&](const RateChange& c) { return c.rank >= ranks; });
  check.require(change == s.rate_changes.end(), "{}.rate_changes[{}] names a rank that is not below {}", at,
                change - s.rate_changes.begin(), ranks);
  check_indices(check, at + ".threads.rank", s.threads.rank, ranks);
  check_columns(check, at + ".threads", s.threads, s.threads.rank.size());
  check_indices(check, at + ".regions.functions", s.regions.functions, s.functions.size());
  check_matrix(check, at + ".regions.total", s.regions.total, s.regions.functions.size(), s.threads.rank.size());
}

}  // namespace ardoise::reports
