// Time that ranks and threads spent in functions, exclusive and inclusive: sums for each rank over the relevant
// functions, and for each thread over OpenMP regions. Filled thread by thread while the tree of all ranks grows.
#pragma once

#include <cstdint>
#include <vector>

#include "knowledge_sources/contexts/context_tree.hpp"
#include "reports/model.hpp"

namespace ardoise::knowledge_sources {

class TotalsByRank {
 public:
  struct Value {
    std::uint32_t function;  // of the tree
    double self, total;      // total: without MPI and I/O calls; recursion counts once
  };
  struct Region {
    std::uint32_t rank, thread, function;
    double total;
  };

  explicit TotalsByRank(std::uint32_t ranks) : by_rank_(ranks) {}

  // Adds `value` of the node itself, for the thread that ends with the next end_thread().
  void add(std::uint32_t node, double value);
  // Sums up the thread. O(its nodes x their depth).
  void end_thread(const ContextTree& tree, std::uint32_t rank, std::uint32_t thread);
  void end_rank(std::uint32_t rank);

  [[nodiscard]] const std::vector<Value>& of(std::uint32_t rank) const { return by_rank_[rank]; }
  // The functions of the program whose totals differ most between ranks, at most `most`.
  [[nodiscard]] std::vector<std::uint32_t> most_uneven(const ContextTree& tree, std::size_t most) const;
  // The rows of the model's threads must exist. `place`: maps functions of the tree to the model.
  void fill_regions(const std::vector<std::uint32_t>& place, reports::SampleProfile& model) const;

 private:
  template <class T>
  static T& at(std::vector<T>& list, std::size_t index) {
    if (index >= list.size()) list.resize(index + 1);
    return list[index];
  }

  std::vector<std::vector<Value>> by_rank_;
  std::vector<Region> regions_;
  // Sums of the current thread.
  std::vector<double> in_node_;
  std::vector<std::uint32_t> touched_;
  // Sums of the current rank, by function.
  struct Totals {
    double self = 0, total = 0, of_thread = 0;
    std::uint64_t walk = 0;  // the last walk that visited it
  };
  std::vector<Totals> totals_;
  std::uint64_t walks_ = 0;
};

}  // namespace ardoise::knowledge_sources
