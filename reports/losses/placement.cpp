#include "reports/losses/placement.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace ardoise::reports {
namespace {

// Groups of ranks that stay together.
class Groups {
 public:
  explicit Groups(std::size_t ranks) : parent_(ranks), size_(ranks, 1) {
    std::iota(parent_.begin(), parent_.end(), 0u);
  }
  std::uint32_t of(std::uint32_t rank) {
    while (parent_[rank] != rank) rank = parent_[rank] = parent_[parent_[rank]];
    return rank;
  }
  [[nodiscard]] std::uint32_t size(std::uint32_t group) const { return size_[group]; }
  void join(std::uint32_t a, std::uint32_t b) {
    parent_[b] = a;
    size_[a] += size_[b];
  }

 private:
  std::vector<std::uint32_t> parent_, size_;
};

}  // namespace

double bytes_saved_by_placement(const Application& a) {
  const auto& host = a.per_rank.host;
  if (host.size() != a.ranks || a.hosts.size() < 2) return 0;
  std::vector<std::uint32_t> room(a.hosts.size());
  for (const std::uint32_t each : host) {
    if (each < room.size()) ++room[each];
  }
  const std::uint32_t most_room = *std::ranges::max_element(room);
  std::vector<const Edge*> edges;
  double crossing = 0;
  for (const Edge& edge : a.edges) {
    if (edge.source == edge.target) continue;
    edges.push_back(&edge);
    if (host[edge.source] != host[edge.target]) crossing += static_cast<double>(edge.bytes);
  }
  if (!(crossing > 0)) return 0;
  std::ranges::stable_sort(edges, std::ranges::greater{}, &Edge::bytes);
  Groups groups(a.ranks);
  double still_crossing = 0;
  for (const Edge* edge : edges) {
    const std::uint32_t x = groups.of(edge->source), y = groups.of(edge->target);
    if (x != y && groups.size(x) + groups.size(y) <= most_room) groups.join(x, y);
  }
  // Groups fill the hosts, large ones first; a group that does not fit is split.
  std::vector<std::vector<std::uint32_t>> members(a.ranks);
  for (std::uint32_t rank = 0; rank < a.ranks; ++rank) members[groups.of(rank)].push_back(rank);
  std::ranges::stable_sort(members, std::ranges::greater{}, &std::vector<std::uint32_t>::size);
  std::vector<std::uint32_t> placed(a.ranks);
  for (const auto& group : members) {
    for (const std::uint32_t rank : group) {
      auto fits = std::ranges::find_if(room, [&](std::uint32_t free) { return free >= group.size(); });
      const bool together = rank != group.front() && room[placed[group.front()]] > 0;
      if (fits == room.end() || together)
        fits = together ? room.begin() + placed[group.front()] : std::ranges::max_element(room);
      placed[rank] = static_cast<std::uint32_t>(fits - room.begin());
      --*fits;
    }
  }
  for (const Edge* edge : edges) {
    if (placed[edge->source] != placed[edge->target]) still_crossing += static_cast<double>(edge->bytes);
  }
  return std::max(0.0, 1 - still_crossing / crossing);
}

}  // namespace ardoise::reports
