// Shows where the program spends its own time: samples of call stacks, summed by calling context, and the exact sums of
// the MPI and POSIX calls below each context; by function, line, rank and thread, and over time. Reads samples,
// contexts, context_totals and definitions of its level; contributes Application::samples.
//
// While packs arrive, all data keeps the threads' own numbers (thread_samples.hpp): contexts and modules may arrive
// after the samples that use them, or on another analyzer. It is merged and symbolised only at the end, on the root
// analyzer (sample_model.hpp).
//
// Memory: linear in ranks and their contexts, not in time. The view over time follows at most kFollowed ranks.
#include <algorithm>
#include <memory>
#include <utility>

#include "instrument/format/pack_reader.hpp"
#include "knowledge_sources/containers/rank_locks.hpp"
#include "knowledge_sources/interface/pack_time.hpp"
#include "knowledge_sources/interface/plugin.hpp"
#include "knowledge_sources/interface/worker_slots.hpp"
#include "knowledge_sources/plugins/samples/sample_model.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kFollowed = 16;
// The ranks that are followed over time, each with its bins; and samples at unknown times.
struct Timelines {
  explicit Timelines(std::size_t count) : bins(count) {}
  std::vector<SampleBins> bins;
  std::uint64_t unplaced = 0;

  void merge(const Timelines& other) {
    for (std::size_t i = 0; i < bins.size(); ++i) bins[i].merge(other.bins[i]);
    unplaced += other.unplaced;
  }
  void write(ByteWriter& out) const {
    out.put_count(bins.size());
    for (const SampleBins& each : bins) each.write(out);
    out.put(unplaced);
  }
  void read(ByteReader& in) {
    in.check(in.get_count(1) == bins.size(), "belongs to a program with another number of ranks");
    for (SampleBins& each : bins) each.read(in);
    unplaced = in.get<std::uint64_t>();
  }
};

class Samples final : public Analysis {
 public:
  explicit Samples(const AnalysisContext& context)
      : level_(context.level),
        ticks_per_second_(context.ticks_per_second),
        ranks_(std::max(context.ranks, 1u)),
        step_((ranks_ + kFollowed - 1) / kFollowed),
        sampled_(ranks_),
        facts_(ranks_, step_),
        timelines_((ranks_ + step_ - 1) / step_) {}

  void attach(LevelSources& sources) override {
    slots_.create(sources, [] { return std::make_unique<Slot>(); });
    subscribe<SampleSpan>(sources, "samples", level_, kSamples, slots_,
                          [this](Slot& slot, const SampleSpan& span) { add_samples(slot, span); });
    subscribe<ContextSpan>(sources, "samples", level_, kContexts, slots_,
                           [this](Slot&, const ContextSpan& span) { add_contexts(span); });
    subscribe<ContextTotalsSpan>(sources, "samples", level_, kContextTotals, slots_,
                                 [this](Slot&, const ContextTotalsSpan& span) { add_calls(span); });
    subscribe<DefinitionSpan>(sources, "samples", level_, kDefinitions, slots_,
                              [this](Slot&, const DefinitionSpan& span) { add_definitions(span); });
  }

  std::vector<std::byte> partial() const override { return write_partial(kVersion, sampled_, facts_, timelines_); }

  void absorb(std::span<const std::byte> partial) override {
    SampledRanks sampled(ranks_);
    SamplingFacts facts(ranks_, step_);
    Timelines timelines(timelines_.bins.size());
    read_partial(partial, "samples", kVersion, sampled, facts, timelines);
    sampled_.merge(sampled);
    facts_.merge(facts);
    timelines_.merge(timelines);
  }

  void contribute(const Resolver& resolver, reports::Application& application) const override {
    auto bins = timelines_.bins;
    unsigned shift = 0;
    for (const SampleBins& each : bins) shift = std::max(shift, each.shift());
    for (SampleBins& each : bins) each.widen_to(shift);
    contribute_samples({sampled_, facts_, bins, step_, timelines_.unplaced}, resolver, application);
  }

 private:
  // One pack's sums.
  struct Slot {
    std::vector<SampleSums> samples;
    std::vector<CounterSums> counters;
    std::vector<std::uint64_t> times;
    std::vector<SampleBins::Entry> entries;
  };

  void add_samples(Slot& slot, const SampleSpan& span);
  void add_bins(Slot& slot, const instrument::PackHeader& header, SampleBins& bins);
  void add_contexts(const ContextSpan& span);
  void add_calls(const ContextTotalsSpan& span);
  void add_definitions(const DefinitionSpan& span);

  std::string level_;
  double ticks_per_second_;
  std::uint32_t ranks_, step_;
  WorkerSlots<Slot> slots_;
  RankLocks locks_;  // by rank, for everything below; `unplaced` by that of rank 0
  SampledRanks sampled_;
  SamplingFacts facts_;
  Timelines timelines_;
};

void Samples::add_samples(Slot& slot, const SampleSpan& span) {
  const auto& header = *span.header;
  const instrument::PackView pack(&header);
  const double ns = ns_per_tick(header, ticks_per_second_);
  const bool follow = header.rank % step_ == 0, placed = header.origin_tick != 0;
  slot.samples.clear();
  slot.counters.clear();
  slot.times.clear();
  for (std::size_t i = 0; i < header.record_count; ++i) {
    const instrument::SampleView sample = pack.sample(i);
    const auto& record = sample.record;
    const SampleKey key = key_of(record);
    // A sample without weight only reports time in the kernel.
    if (record.weight != 0) slot.samples.push_back(SampleSums::one(key, std::uint64_t{record.weight} * header.weight));
    if (record.weight != 0 && !sample.counters.empty()) {
      CounterSums& counters = slot.counters.emplace_back(CounterSums{key, {}});
      for (std::size_t c = 0; c < sample.counters.size(); ++c) counters.values[c] = sample.counters[c] * header.weight;
    }
    if (record.kernel != 0) {
      SampleKey kernel{0, 0, 0, kKernelPart};
      if ((record.flags & instrument::kKernelOfCalls) == 0) {
        kernel = key;
        kernel.flags |= kKernelPart;
      }
      slot.samples.push_back(SampleSums::one(kernel, std::uint64_t{record.kernel} * header.weight));
    }
    if (follow && placed) {
      const std::uint64_t time =
          record.tick > header.origin_tick ? scale_ticks(record.tick - header.origin_tick, ns) : 0;
      slot.times.resize(slot.samples.size(), time);
    }
  }
  if (follow && !placed) {
    const auto guard = locks_.lock(0);
    for (const SampleSums& each : slot.samples) timelines_.unplaced += each.samples;
  }
  const auto guard = locks_.lock(header.rank);
  if (follow && placed) add_bins(slot, header, timelines_.bins[header.rank / step_]);
  sum_up(slot.samples);
  sum_up(slot.counters);
  ThreadSamples& thread = sampled_.of(header.rank, header.thread);
  add_sums(thread.samples, slot.samples);
  add_sums(thread.counters, slot.counters);
}

// Before the pack's samples are summed up: slot.times matches them one by one.
void Samples::add_bins(Slot& slot, const instrument::PackHeader& header, SampleBins& bins) {
  if (slot.times.empty()) return;
  bins.reach(*std::ranges::max_element(slot.times));
  slot.entries.clear();
  for (std::size_t i = 0; i < slot.times.size(); ++i) {
    slot.entries.push_back(
        {{header.thread, static_cast<std::uint32_t>(slot.times[i] >> bins.shift()), slot.samples[i].key},
         slot.samples[i].weight});
  }
  bins.add(slot.entries);
}

void Samples::add_contexts(const ContextSpan& span) {
  const auto entries = entries_of(span.records);
  const auto guard = locks_.lock(span.header->rank);
  add_sums(sampled_.of(span.header->rank, span.header->thread).contexts, entries);
}

void Samples::add_calls(const ContextTotalsSpan& span) {
  std::vector<ContextCallSums> entries;
  entries.reserve(span.records.size());
  for (const auto& record : span.records) {
    const auto record_class = static_cast<instrument::PackClass>(record.record_class);
    if (record_class != instrument::PackClass::kMpi && record_class != instrument::PackClass::kPosix) continue;
    entries.push_back({{record.context, record.record_class, record.function},
                       record.calls,
                       record.ticks,
                       record.bytes_sent,
                       record.bytes_received});
  }
  sum_up(entries);
  const auto guard = locks_.lock(span.header->rank);
  add_sums(sampled_.of(span.header->rank, span.header->thread).calls, entries);
}

void Samples::add_definitions(const DefinitionSpan& span) {
  const auto guard = locks_.lock(span.header->rank);
  instrument::DefinitionReader reader(span.records);
  while (const auto definition = reader.next()) facts_.add(span.header->rank, *definition);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

ARDOISE_ANALYSIS(samples, "1.0", ardoise::knowledge_sources::Samples)
