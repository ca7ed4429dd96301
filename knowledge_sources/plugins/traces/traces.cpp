// Writes an OTF2 trace of the programs while they run (--trace, docs/guide/traces.md): each analyzer writes the events
// of its ranks. Contributes nothing to the model; trace_archive.hpp combines the parts to an archive.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "instrument/format/definition_reader.hpp"
#include "instrument/format/event_reader.hpp"
#include "knowledge_sources/containers/rank_locks.hpp"
#include "knowledge_sources/interface/pack_time.hpp"
#include "knowledge_sources/interface/plugin.hpp"
#include "knowledge_sources/interface/worker_slots.hpp"
#include "knowledge_sources/matching/patterns.hpp"
#include "knowledge_sources/matching/wait_spans.hpp"
#include "knowledge_sources/otf2/writer/call_notes.hpp"
#include "knowledge_sources/otf2/writer/trace_sink.hpp"
#include "knowledge_sources/plugins/traces/pack_ring.hpp"
#include "knowledge_sources/plugins/traces/trace_rank.hpp"

namespace ardoise::knowledge_sources {
namespace {

struct Nothing {};  // data of a worker

class Traces final : public Analysis {
 public:
  explicit Traces(const AnalysisContext& context) : context_(context), ranks_(context.ranks) {}

  void attach(LevelSources& sources) override {
    const TraceSettings& settings = context_.traces;
    if (settings.selection.empty() || settings.sink == nullptr) return;
    selection_ = std::make_unique<TraceSelection>(settings.selection);
    const auto complain = [sink = settings.sink](const std::string& sentence) { sink->complain(sentence); };
    part_ = std::make_unique<TracePart>(settings.folder, context_.partition, complain);
    const auto fail = [this](const std::string& reason) { part_->fail(reason); };
    settings.sink->add_part([this] { close(); });
    earlier_ = settings.sink->earlier_parts(context_.partition);
    if (selection_->is_ring() && part_->is_open())
      ring_ = std::make_unique<PackRing>(
          part_->folder(), PackRing::Limits{selection_->last(), selection_->most_bytes()}, complain, fail);
    slots_.create(sources, [] { return std::make_unique<Nothing>(); });
    take<MpiSpan>(sources, kMpiEvents);
    take<PosixSpan>(sources, kPosixEvents);
    take<AggregateSpan>(sources, kAggregates);
    if (selection_->has_samples()) take<SampleSpan>(sources, kSamples);
    if (selection_->has_samples() || selection_->attributes().has(AttributeClass::kStacks))
      take<ContextSpan>(sources, kContexts);
    subscribe<DefinitionSpan>(sources, "traces", context_.level, kDefinitions, slots_,
                              [this](Nothing&, const DefinitionSpan& span) { add_definitions(span); });
    const bool has_waits = selection_->attributes().has(AttributeClass::kWaiting);
    if (part_->is_good() && (has_waits || settings.wants_values)) {
      notes_ = std::make_unique<CallNotes>(part_->folder(), fail);
      const auto take_notes = [&](blackboard::EntryType type, void (Traces::*use)(const blackboard::EntryRef&)) {
        sources.add({"traces@" + context_.level, {type}, [this, use](const auto&, const auto& entries) {
                       if (part_->is_of_this_process()) (this->*use)(entries[0]);
                     }});
      };
      if (has_waits) take_notes(WaitSpans::type(context_.level), &Traces::add_waits);
      if (settings.wants_values) take_notes(EventValues::type(context_.level), &Traces::add_values);
    }
    board_ = &sources.board();
    sources.at_no_room([this] { give_up_missing(); });
    sources.at_quiet([this] { close(); });
  }
  // Empty, because notes still arrive after close(), as long as entries move between analyzers.
  std::vector<std::byte> partial() const override {
    flush_notes();
    return {};
  }
  void contribute(const Resolver& resolver, reports::Application&) const override {
    flush_notes();
    if (context_.traces.sink != nullptr) context_.traces.sink->take(context_.partition, resolver);
  }

 private:
  template <class SpanOfRecords>
  void take(LevelSources& sources, std::string_view entry) {
    subscribe<SpanOfRecords>(sources, "traces", context_.level, entry, slots_,
                             [this](Nothing&, const SpanOfRecords& span) { add(span); });
  }
  template <class SpanOfRecords>
  void add(const SpanOfRecords& span) {
    // Contexts are needed for any remaining samples and calls.
    if constexpr (!std::is_same_v<SpanOfRecords, ContextSpan>) {
      if (ring_) return keep(span);
    }
    with_rank(*span.header, [&](TraceRank& rank) { rank.add(span); });
  }
  // Until it is known which packs remain.
  template <class SpanOfRecords>
  void keep(const SpanOfRecords& span) {
    const instrument::PackHeader& header = *span.header;
    if (!part_->is_open() || !selection_->has_rank(context_.first_rank + header.rank)) return;
    const TraceClock clock{header.origin_tick, ns_per_tick(header, context_.ticks_per_second)};
    // Packs without a time belong to the ones that arrived with them.
    const bool is_timed = header.origin_tick != 0 && header.first_tick != 0;
    ring_->add(header, is_timed ? clock.since_init(header.first_tick) : INT64_MAX,
               is_timed ? clock.since_init(header.last_tick) : INT64_MIN);
    if constexpr (std::is_same_v<SpanOfRecords, MpiSpan>) {
      if (selection_->kept_names().empty()) return;
      for (const instrument::MpiRecord& record : span.records) {
        if (!instrument::is_mark(record)) continue;
        const auto mark = instrument::as<instrument::MarkExtension>(record);
        if (mark.kind == instrument::MarkKind::kSnapshot &&
            std::ranges::find(selection_->kept_names(), mark.name) != selection_->kept_names().end())
          ring_->keep_around(clock.since_init(mark.tick));
      }
    }
  }
  void add_kept(TraceRank& rank, const instrument::PackView& pack) {
    const instrument::PackHeader* const header = &pack.header();
    switch (pack.pack_class()) {
      case instrument::PackClass::kMpi:
        return rank.add(MpiSpan{{}, header, pack.records<instrument::MpiRecord>()});
      case instrument::PackClass::kPosix:
        return rank.add(PosixSpan{{}, header, pack.records<instrument::PosixRecord>()});
      case instrument::PackClass::kAggregates:
        return rank.add(AggregateSpan{{}, header, pack.records<instrument::AggregateRecord>()});
      case instrument::PackClass::kSamples:
        return rank.add(SampleSpan{{}, header, pack.payload()});
      default:
        return;
    }
  }
  // The remaining packs become events.
  void write_kept(TraceTables& tables) {
    selection_->restrict_to(ring_->windows());
    ring_->for_each(
        [&](std::uint32_t number, const PackRing::Gone& gone) {
          instrument::PackHeader header{};
          header.rank = number;
          with_rank(header, [&](TraceRank& rank) { rank.skip(gone); });
        },
        [&](const instrument::PackView& pack) {
          with_rank(pack.header(), [&](TraceRank& rank) { add_kept(rank, pack); });
          if (board_->over_limit()) give_up_missing();
        });
    tables.losses.limited = ring_->records_beyond_limit();
    ring_.reset();
  }
  // Nothing runs on the board.
  void give_up_missing() {
    for (auto& rank : ranks_) {
      if (!part_->is_good()) rank.reset();
      if (rank) rank->give_up_missing();
    }
  }
  template <class Use>
  void with_rank(const instrument::PackHeader& header, Use use) {
    const std::uint32_t rank = header.rank;
    if (!part_->is_open() || !selection_->has_rank(context_.first_rank + rank)) return;
    const auto guard = locks_.lock(rank);
    auto& of_rank = ranks_[rank];
    if (!of_rank) {
      of_rank = std::make_unique<TraceRank>(*part_, *selection_, rank, context_.first_rank + rank,
                                            context_.ticks_per_second, *board_);
      for (const TraceTables* const earlier : earlier_) of_rank->follow(*earlier);
    }
    use(*of_rank);
  }
  void add_definitions(const DefinitionSpan& span) {
    const bool has_arguments = selection_->attributes().has(AttributeClass::kArguments);
    for (instrument::DefinitionReader reader(span.records); const auto definition = reader.next();) {
      if (const auto* const name = std::get_if<instrument::DecodedMarkName>(&*definition)) {
        part_->define_mark_name(name->fixed.name, name->name);
      } else if (const auto* const datatype = std::get_if<instrument::DecodedDatatype>(&*definition)) {
        if (has_arguments && selection_->has_rank(context_.first_rank + span.header->rank))
          part_->define_datatype(span.header->rank, datatype->fixed.datatype, datatype->text);
      } else if (const auto* const process = std::get_if<instrument::DecodedProcess>(&*definition)) {
        with_rank(*span.header, [&](TraceRank& rank) { rank.add(*span.header, process->fixed); });
      } else if (const auto* const sampling = std::get_if<instrument::DecodedSampling>(&*definition)) {
        with_rank(*span.header, [&](TraceRank& rank) { rank.add(sampling->fixed); });
      } else if (const auto* const counters = std::get_if<instrument::DecodedCounters>(&*definition)) {
        with_rank(*span.header, [&](TraceRank& rank) { rank.add(*counters); });
      }
    }
  }
  void add_waits(const blackboard::EntryRef& entry) {
    const std::vector<RankWait> waits = waits_by_rank(entry);
    if (!waits.empty() && (waits.back().rank >= ranks_.size() || std::ranges::any_of(waits, [](const RankWait& wait) {
                             return wait.pattern >= kWaitPatterns;
                           })))
      throw BadPartial("Waits of another analyzer refer to a rank or a pattern that does not exist.");
    for (auto first = waits.begin(); first != waits.end();) {
      const auto last =
          std::find_if(first, waits.end(), [&](const RankWait& each) { return each.rank != first->rank; });
      if (selection_->has_rank(context_.first_rank + first->rank)) notes_->add({first, last});
      first = last;
    }
  }
  void add_values(const blackboard::EntryRef& entry) {
    notes_->add_values(entry.payload(), [this](std::uint32_t rank) {
      if (rank >= ranks_.size()) throw BadPartial("A value for the trace refers to a rank that does not exist.");
      return selection_->has_rank(context_.first_rank + rank);
    });
  }
  void flush_notes() const {
    if (notes_ && part_->is_of_this_process()) notes_->flush();
  }
  // Nothing runs on the board.
  void close() {
    if (!part_->is_of_this_process() || std::exchange(is_closed_, true)) return;
    flush_notes();
    TraceTables tables;
    tables.selection = context_.traces.selection;
    if (ring_ && part_->is_open()) write_kept(tables);
    for (const auto& rank : ranks_) {
      if (rank) rank->end(tables);
    }
    part_->close(std::move(tables));
  }

  const AnalysisContext context_;
  blackboard::Blackboard* board_ = nullptr;
  std::unique_ptr<TraceSelection> selection_;
  std::unique_ptr<TracePart> part_;
  std::unique_ptr<PackRing> ring_;    // nullptr: all packs are written as they arrive
  std::unique_ptr<CallNotes> notes_;  // nullptr: not selected
  std::vector<const TraceTables*> earlier_;
  std::vector<std::unique_ptr<TraceRank>> ranks_;  // nullptr: no packs of the rank arrived here
  RankLocks locks_;
  WorkerSlots<Nothing> slots_;
  bool is_closed_ = false;
};

}  // namespace
}  // namespace ardoise::knowledge_sources

ARDOISE_ANALYSIS(traces, "1.0", ardoise::knowledge_sources::Traces)
