// Why ranks wait in collectives: how long, for whom, in which pattern. Reads the mpi_events and definitions of its
// level; contributes Application::waiting.
//
//   pack ──▶ its collectives ──▶ in the order of the thread ──▶ n-th on its communicator ──▶ meets the others' n-th
//            (collectives_of)    (in_order.hpp)                 (rank_calls.hpp)             (meetings.hpp)
//
// Ranks of one communicator may be with several analyzers: what has not met is kept, and meets when their partial
// results do.
#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "instrument/format/definition_reader.hpp"
#include "instrument/format/event_reader.hpp"
#include "knowledge_sources/pack_time.hpp"
#include "knowledge_sources/plugin.hpp"
#include "knowledge_sources/rank_locks.hpp"
#include "knowledge_sources/waits/rank_calls.hpp"
#include "knowledge_sources/worker_slots.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::uint32_t kVersion = 1;

std::vector<RankCalls> calls_of(std::uint32_t ranks) {
  std::vector<RankCalls> result;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) result.emplace_back(rank);
  return result;
}

class Waits final : public Analysis {
 public:
  explicit Waits(const AnalysisContext& context)
      : level_(context.level),
        ticks_per_second_(context.ticks_per_second),
        ranks_(calls_of(context.ranks)),
        sums_(context.ranks) {}

  void attach(LevelSources& sources) override {
    slots_.create(sources, [] { return std::make_unique<std::vector<Arrived>>(); });
    subscribe<MpiSpan>(sources, "waits", level_, kMpiEvents, slots_,
                       [this](auto& arrived, const MpiSpan& span) { add(arrived, span); });
    subscribe<DefinitionSpan>(sources, "waits", level_, kDefinitions, slots_,
                              [this](auto& arrived, const DefinitionSpan& span) { define(arrived, span); });
  }

  std::vector<std::byte> partial() const override {
    ByteWriter out;
    out.put(kVersion);
    sums_.write(out);
    meetings_.write(out);
    out.put_count(ranks_.size());
    for (const RankCalls& rank : ranks_) rank.write(out);
    return out.take();
  }

  void absorb(std::span<const std::byte> partial) override {
    ByteReader in(partial, "waits");
    in.expect_version(kVersion);
    const auto count = static_cast<std::uint32_t>(ranks_.size());
    WaitSums sums(count);
    Meetings meetings;
    std::vector<RankCalls> ranks = calls_of(count);
    sums.read(in);
    meetings.read(in, count);
    in.check(in.get_count(8) == count, "is of a program with another number of ranks");
    for (RankCalls& rank : ranks) rank.read(in);
    in.expect_end();

    sums_.merge(sums);
    meetings_.merge(meetings, sums_);
    std::vector<Arrived> arrived;
    for (std::uint32_t rank = 0; rank < count; ++rank) ranks_[rank].merge(ranks[rank], arrived);
    meet(arrived);
  }

  void contribute(const Resolver& resolver, reports::Application& application) const override {
    WaitSums sums = sums_;
    for (const RankCalls& rank : ranks_) sums.add(rank.unresolved());
    sums.add(UnresolvedCalls{.incomplete = meetings_.calls()});
    sums.contribute(resolver, application.waiting);
  }

 private:
  void add(std::vector<Arrived>& arrived, const MpiSpan& span);
  void define(std::vector<Arrived>& arrived, const DefinitionSpan& span);
  void meet(std::vector<Arrived>& arrived);

  std::string level_;
  double ticks_per_second_;
  WorkerSlots<std::vector<Arrived>> slots_;
  RankLocks locks_;
  std::vector<RankCalls> ranks_;
  std::mutex mutex_;  // of the two below
  Meetings meetings_;
  WaitSums sums_;
};

PackCollectives collectives_of(const MpiSpan& span, double ns_per_tick) {
  using instrument::Shape;
  const auto& header = *span.header;
  PackCollectives result;
  result.folded = (header.flags & instrument::kFolded) != 0 || header.origin_tick == 0;
  const auto ns = [&](std::uint64_t tick) {
    return static_cast<double>(static_cast<std::int64_t>(tick - header.origin_tick)) * ns_per_tick;
  };
  for (std::size_t i = 0; i < span.records.size(); ++i) {
    const instrument::MpiRecord& record = span.records[i];
    const Shape shape = record.shape();
    if (shape != Shape::kCollective && shape != Shape::kRooted && shape != Shape::kNeighbour) continue;
    if (collective_kind(record.function()) == CollectiveKind::kNone) continue;
    std::uint64_t duration = record.duration;
    if (i + 1 < span.records.size() && span.records[i + 1].shape() == Shape::kExtension &&
        instrument::extension_kind(span.records[i + 1]) == instrument::ExtensionKind::kWideValues)
      duration = instrument::as<instrument::WideExtension>(span.records[i + 1]).duration;
    result.calls.push_back({ns(record.begin), ns(record.begin + duration), record.comm(), record.function(),
                            record.call_site, shape == Shape::kRooted ? record.peer : -1});
  }
  return result;
}

void Waits::add(std::vector<Arrived>& arrived, const MpiSpan& span) {
  const auto& header = *span.header;
  arrived.clear();
  PackCollectives pack = collectives_of(span, ns_per_tick(header, ticks_per_second_));
  {
    const auto guard = locks_.lock(header.rank);
    ranks_[header.rank].add(header.thread, header.order, std::move(pack), arrived);
  }
  meet(arrived);
}

void Waits::define(std::vector<Arrived>& arrived, const DefinitionSpan& span) {
  arrived.clear();
  {
    const auto guard = locks_.lock(span.header->rank);
    RankCalls& rank = ranks_[span.header->rank];
    instrument::DefinitionReader reader(span.records);
    while (const auto definition = reader.next()) {
      if (const auto* const clock = std::get_if<instrument::DecodedClock>(&*definition)) {
        rank.set_clock_error(std::max(0.0, clock->fixed.offset_error_seconds) * 1e9);
      } else if (const auto* const comm = std::get_if<instrument::DecodedCommunicator>(&*definition)) {
        rank.define(comm->fixed.comm, {comm->fixed.group_hash, comm->fixed.instance, comm->fixed.size},
                    comm->fixed.rank, comm->fixed.kind != instrument::CommunicatorKind::kIntra, arrived);
      }
    }
  }
  meet(arrived);
}

void Waits::meet(std::vector<Arrived>& arrived) {
  if (arrived.empty()) return;
  const std::lock_guard guard(mutex_);
  for (const Arrived& each : arrived) meetings_.add(each.key, each.function, each.arrival, sums_);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

ARDOISE_ANALYSIS(waits, "1.0", ardoise::knowledge_sources::Waits)
