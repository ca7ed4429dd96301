// See edges.hpp.
#include "knowledge_sources/topology/edges.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace ardoise::knowledge_sources {

void Edges::add(std::uint32_t rank, std::uint64_t weight, EdgeScratch& scratch) {
  std::array<Edge, EdgeScratch::kLimit> sorted;
  std::size_t count = 0;
  scratch.for_each([&](std::uint64_t key, const EdgeSums& sums) {
    sorted[count++] = {key, {sums.messages * weight, sums.bytes * weight, sums.ticks * weight}};
  });
  scratch.clear();
  std::ranges::sort(std::span(sorted).first(count), {}, &Edge::key);
  const auto guard = locks_.lock(rank);
  add_sorted(ranks_[rank], std::span(sorted).first(count));
}

void Edges::add_sorted(std::vector<Edge>& into, std::span<const Edge> more) {
  std::vector<Edge> added;
  auto from = into.begin();
  for (const Edge& edge : more) {
    from = std::ranges::lower_bound(from, into.end(), edge.key, {}, &Edge::key);
    if (from == into.end() || from->key != edge.key) {
      added.push_back(edge);
      continue;
    }
    from->sums.messages += edge.sums.messages;
    from->sums.bytes += edge.sums.bytes;
    from->sums.ticks += edge.sums.ticks;
  }
  if (added.empty()) return;

  // New neighbours come in the first packs only. Exactly sized while small, so that a hundred thousand ranks with few
  // neighbours each waste nothing; a rank that sends to everybody grows by half.
  const std::size_t wanted = into.size() + added.size();
  if (wanted > into.capacity()) into.reserve(wanted < 64 ? wanted : wanted + wanted / 2);
  const auto middle = into.insert(into.end(), added.begin(), added.end());
  std::ranges::inplace_merge(into, middle, {}, &Edge::key);
}

void Edges::merge(const Edges& other) {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) add_sorted(ranks_[rank], other.ranks_[rank]);
}

void Edges::write(ByteWriter& out) const {
  out.put_count(ranks_.size());
  for (const auto& edges : ranks_) out.put_array(std::span<const Edge>(edges));
}

void Edges::read(ByteReader& in) {
  in.check(in.get_count(sizeof(std::uint64_t)) == ranks_.size(), "is of a program with another number of ranks");
  for (auto& edges : ranks_) {
    edges = in.get_array<Edge>();
    const auto in_order = [](const Edge& a, const Edge& b) { return a.key < b.key; };
    in.check(std::ranges::adjacent_find(edges, std::not_fn(in_order)) == edges.end(), "lists edges out of order");
  }
}

}  // namespace ardoise::knowledge_sources
