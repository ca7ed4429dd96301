// The communication matrix: edges weighted by messages, bytes and time, from point-to-point and one-sided calls and
// from the parts of neighbourhood collectives. Each message counts once, at the sender; data of a Get flows from its
// target to its origin and counts at the origin. Reads the mpi_events of its level; contributes Application::edges, and
// edges_between if programs share a world.
//
// Time is that of the sending call. A neighbourhood collective's time is divided evenly among its parts in the same
// pack.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "instrument/format/event_reader.hpp"
#include "knowledge_sources/calls/aggregate_bytes.hpp"
#include "knowledge_sources/containers/counted.hpp"
#include "knowledge_sources/interface/plugin.hpp"
#include "knowledge_sources/interface/worker_slots.hpp"
#include "knowledge_sources/plugins/topology/edges.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::Shape;

constexpr std::uint32_t kVersion = 1;

class Topology final : public Analysis {
 public:
  explicit Topology(const AnalysisContext& context)
      : level_(context.level), ranks_(context.ranks), edges_(context.ranks) {}

  void attach(LevelSources& sources) override {
    slots_.create(sources, [] { return std::make_unique<EdgeScratch>(); });
    subscribe<MpiSpan>(sources, "topology", level_, kMpiEvents, slots_,
                       [this](EdgeScratch& scratch, const MpiSpan& span) { add(scratch, span); });
    subscribe<AggregateSpan>(sources, "topology", level_, kAggregates, slots_,
                             [this](EdgeScratch& scratch, const AggregateSpan& span) { add(scratch, span); });
  }

  std::vector<std::byte> partial() const override { return write_partial(kVersion, edges_); }

  void absorb(std::span<const std::byte> partial) override {
    Edges other(ranks_);
    read_partial(partial, "topology", kVersion, other);
    edges_.merge(other);
  }

  void contribute(const Resolver& resolver, reports::Application& application) const override;

 private:
  void add(EdgeScratch& scratch, const MpiSpan& span);
  void add(EdgeScratch& scratch, const AggregateSpan& span);

  std::string level_;
  std::uint32_t ranks_;
  WorkerSlots<EdgeScratch> slots_;
  Edges edges_;
};

void Topology::add(EdgeScratch& scratch, const MpiSpan& span) {
  const auto& header = *span.header;
  const auto edge = [&](Direction direction, std::uint32_t comm, std::int32_t peer) -> EdgeSums& {
    return edges_.at(scratch, header, edge_key(direction, comm, peer));
  };
  std::vector<instrument::NeighbourExtension> parts;
  std::uint64_t neighbour_ticks = 0;  // of the collective of these parts
  const auto close_neighbours = [&] {
    for (std::uint64_t i = 0; i < parts.size(); ++i) {
      edge(Direction::kToPeer, parts[i].comm, parts[i].destination)
          .add({1, parts[i].bytes, neighbour_ticks / parts.size() + (i < neighbour_ticks % parts.size() ? 1 : 0)});
    }
    parts.clear();
    neighbour_ticks = 0;
  };

  instrument::for_each_event(
      span.records,
      [&](const instrument::MpiEvent& event) {
        if (!parts.empty()) [[unlikely]]
          close_neighbours();
        const Shape shape = event.record.shape();
        if (shape == Shape::kNeighbour) [[unlikely]]
          neighbour_ticks = event.duration;
        if (shape != Shape::kSend && shape != Shape::kPut && shape != Shape::kGet) return;
        if (event.record.peer < 0) return;  // MPI_PROC_NULL
        edge(shape == Shape::kGet ? Direction::kFromPeer : Direction::kToPeer, event.record.comm(), event.record.peer)
            .add({1, event.bytes, event.duration});
      },
      [](const instrument::CompletionRecord&) {},
      [&](const instrument::NeighbourExtension& part) {
        if (part.destination >= 0) parts.push_back(part);
      },
      [&](const instrument::StartedExtension& started) {
        const instrument::MpiRecord operation = record_of(started.operation);
        if (operation.shape() != Shape::kSend || started.peer < 0) return;
        edge(Direction::kToPeer, operation.comm(), started.peer).add({1, started.bytes, 0});
      });
  close_neighbours();
  edges_.add(header, scratch);
}

// The time of neighbourhood collectives is divided among all their parts in the pack, in proportion to their number.
void Topology::add(EdgeScratch& scratch, const AggregateSpan& span) {
  using instrument::AggregatePart;
  const auto& header = *span.header;
  std::uint64_t neighbour_ticks = 0;
  double neighbour_parts = 0;
  for (const auto& record : span.records) {
    if (record.part == AggregatePart::kCall && record_of(record.word).shape() == Shape::kNeighbour) {
      neighbour_ticks += record.ticks;
    }
    if (record.part == AggregatePart::kNeighbour && record.peer >= 0)
      neighbour_parts += static_cast<double>(record.calls);
  }
  for (const auto& record : span.records) {
    const instrument::MpiRecord operation = record_of(record.word);
    const Shape shape = operation.shape();
    if (!is_known(record) || record.peer < 0) continue;
    Direction direction = Direction::kToPeer;
    std::uint64_t ticks = 0;
    if (record.part == AggregatePart::kCall) {
      if (shape != Shape::kSend && shape != Shape::kPut && shape != Shape::kGet) continue;
      if (shape == Shape::kGet) direction = Direction::kFromPeer;
      ticks = record.ticks;
    } else if (record.part == AggregatePart::kNeighbour) {
      if (neighbour_parts > 0) {
        const double part = static_cast<double>(record.calls) / neighbour_parts;
        ticks = static_cast<std::uint64_t>(std::min(static_cast<double>(neighbour_ticks) * part, 9e18));
      }
    } else if (record.part != AggregatePart::kStarted || shape != Shape::kSend) {
      continue;
    }
    edges_.at(scratch, header, edge_key(direction, operation.comm(), record.peer))
        .add({record.calls, record.bytes, ticks});
  }
  edges_.add(header, scratch);
}

// A pair may have communicated over several communicators. Stable: floating point sums keep their order.
void sum_up_pairs(std::vector<reports::Edge>& edges) {
  std::ranges::stable_sort(edges, [](const auto& a, const auto& b) {
    return a.source != b.source ? a.source < b.source : a.target < b.target;
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (kept != 0 && edges[kept - 1].source == edges[i].source && edges[kept - 1].target == edges[i].target) {
      edges[kept - 1].messages += edges[i].messages;
      edges[kept - 1].bytes += edges[i].bytes;
      edges[kept - 1].seconds += edges[i].seconds;
    } else {
      edges[kept++] = edges[i];
    }
  }
  edges.resize(kept);
}

void Topology::contribute(const Resolver& resolver, reports::Application& application) const {
  std::uint64_t unknown = 0, outside = 0;
  const std::uint32_t first = resolver.place().first_rank;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    for (const auto& edge : edges_.of(rank)) {
      const std::int64_t peer = resolver.world_rank(rank, comm_of(edge.key), peer_of(edge.key));
      if (peer < 0) {
        (peer == kOutsideWorld ? outside : unknown) += edge.sums.messages;
        continue;
      }
      const bool is_own = peer >= first && peer < std::int64_t{first} + ranks_;
      std::uint32_t source = is_own ? rank : first + rank;
      auto target = static_cast<std::uint32_t>(is_own ? peer - first : peer);
      if (direction_of(edge.key) == Direction::kFromPeer) std::swap(source, target);
      auto& edges = is_own ? application.edges : application.edges_between;
      edges.push_back({source, target, edge.sums.messages, edge.sums.bytes,
                       static_cast<double>(edge.sums.ticks) * resolver.seconds_per_tick(rank)});
    }
  }
  sum_up_pairs(application.edges);
  sum_up_pairs(application.edges_between);

  auto& notices = application.quality.notices;
  if (unknown != 0) {
    notices.push_back(counted(unknown, "message", "is", "are") +
                      " not in the communication matrix: the definition of the communicator did not arrive.");
  }
  if (outside != 0) {
    notices.push_back(counted(outside, "message") +
                      " to processes outside the program's MPI_COMM_WORLD (spawned or connected): not in the "
                      "communication matrix.");
  }
}

}  // namespace
}  // namespace ardoise::knowledge_sources

ARDOISE_ANALYSIS(topology, "1.0", ardoise::knowledge_sources::Topology)
