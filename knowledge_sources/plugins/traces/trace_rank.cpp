#include "knowledge_sources/plugins/traces/trace_rank.hpp"

#include <algorithm>
#include <utility>

#include "knowledge_sources/interface/pack_time.hpp"

namespace ardoise::knowledge_sources {

using instrument::ClassLedger;
using instrument::MpiRecord;
using instrument::PackHeader;
using instrument::PosixRecord;
using instrument::Shape;

namespace {

constexpr std::uint64_t kNone = UINT64_MAX;
constexpr std::size_t kMostMarks = 64;

// Extensions go with their call, whatever their time.
bool begins_something(const MpiRecord& record) {
  return instrument::is_mark(record) || (record.shape() != Shape::kExtension && record.shape() != Shape::kCompletion);
}
std::uint64_t tick_of(const MpiRecord& record) {
  return begins_something(record) ? record.begin : 0;  // a mark's tick is in the same place
}
std::uint64_t tick_of(const PosixRecord& record) { return record.begin; }

std::uint64_t calls_in(std::span<const MpiRecord> records) {
  return static_cast<std::uint64_t>(std::ranges::count_if(records, begins_something));
}

// Number of the process's records that have arrived or will arrive.
std::uint64_t to_come(const ClassLedger& ledger) {
  return ledger.recorded - std::min(ledger.recorded, ledger.dropped + ledger.aggregated);
}

template <class Record>
std::uint64_t head_of(const std::deque<Record>& waiting) {
  return waiting.empty() ? kNone : tick_of(waiting.front().left.front());
}

}  // namespace

bool TraceRank::set_clock(const PackHeader& header) {
  if (header.origin_tick == 0) return false;
  if (state_.clock.ns_per_tick == 0)
    state_.clock = {header.origin_tick, ns_per_tick(header, nominal_ticks_per_second_)};
  return true;
}

void TraceRank::follow(const TraceTables& earlier) {
  for (const TraceTables::Rank& each : earlier.ranks) {
    if (each.rank != rank_ || !(each.clock.ns_per_tick > 0)) continue;
    state_.clock = each.clock;
    state_.follow_others();
    for (const TraceTables::RankText& text : earlier.rank_texts) {
      if (text.rank == rank_) state_.texts.begin_behind(text.number);
    }
    has_begun_ = true;
  }
  for (const TraceTables::Samples& each : earlier.samples) {
    if (each.rank == rank_) samples_of(each.thread).follow(each);
  }
  for (const TraceTables::Thread& each : earlier.threads) {
    if (each.rank != rank_ || each.thread >= kSamplesOfThread) continue;
    Thread& thread = thread_of(each.thread);
    thread.mpi.order.begin_with(each.next_mpi);
    thread.posix.order.begin_with(each.next_posix);
  }
}

void TraceRank::skip(const PackRing::Gone& gone) {
  mpi_received_ += gone.mpi;
  posix_received_ += gone.posix;
  samples_received_ += gone.samples;
  has_begun_ = true;
  state_.messages.stop();
  for (const auto& [of, order] : gone.next) {
    if (!selection_.has_thread(of.first)) continue;
    const auto go_on_with = [order = order](auto& in_order) { in_order.begin_with(std::max(in_order.next(), order)); };
    if (of.second == instrument::PackClass::kMpi) go_on_with(thread_of(of.first).mpi.order);
    if (of.second == instrument::PackClass::kPosix) go_on_with(thread_of(of.first).posix.order);
  }
}

TraceSamples& TraceRank::samples_of(std::uint32_t thread) {
  auto& samples = samples_[thread];
  if (!samples)
    samples = std::make_unique<TraceSamples>(part_, selection_, state_.clock, rank_, world_rank_, thread, losses_);
  return *samples;
}

TraceRank::Thread& TraceRank::thread_of(std::uint32_t number) {
  Thread& thread = threads_[number];
  if (!thread.location) {
    thread.location =
        std::make_unique<TraceLocation>(part_, selection_, state_, trace_location(world_rank_, number), losses_);
    thread.mpi.order.count_on(board_);
    thread.posix.order.count_on(board_);
  }
  return thread;
}

// Information about this stream in a pack of the other kind.
template <class Record>
void TraceRank::mark(Stream<Record>& stream, const ClassLedger& ledger, const PackHeader& header) {
  // If records are aggregated meanwhile, fewer will come than expected before.
  const std::uint64_t records = to_come(ledger);
  while (!stream.marks.empty() && stream.marks.back().records >= records) stream.marks.pop_back();
  const std::uint64_t held_back = header.other_open * PackHeader::kOpenTicks;
  stream.marks.push_back({records, header.last_tick - std::min(header.last_tick, held_back)});
  if (stream.marks.size() > kMostMarks) stream.marks.pop_front();
}

template <class Record>
void TraceRank::update_known_until(Stream<Record>& stream, std::uint64_t received) {
  for (; !stream.marks.empty() && stream.marks.front().records <= received; stream.marks.pop_front())
    stream.known_until = std::max(stream.known_until, stream.marks.front().tick);
}

template <class Record>
void TraceRank::enter(Stream<Record>& stream, std::uint64_t& received, Pack<Record> pack) {
  stream.known_until = std::max(stream.known_until, pack.last_tick);
  received += pack.counted;
  if (pack.after_gap) note_gap(pack.left.empty() ? pack.last_tick : tick_of(pack.left.front()));
  if (pack.left.empty()) return;
  waiting_ += pack.own.size();
  waiting_bytes_.add(pack.own.size() * sizeof(Record));
  stream.waiting.push_back(std::move(pack));
}

template <class Record>
void TraceRank::take(const Span<Record>& span, Stream<Record>& stream, std::uint64_t& received, Thread& thread) {
  const PackHeader& header = *span.header;
  const bool after_sums = (header.flags & instrument::kFolded) != 0;
  Pack<Record> pack{{}, span.records, header.last_tick, header.counted_records(), false, after_sums};
  const auto keep = [](Pack<Record>& kept) {
    kept.own.assign(kept.left.begin(), kept.left.end());
    kept.left = kept.own;
  };
  const auto enter_kept = [&](Pack<Record>& kept, bool after_gap) {
    kept.after_gap = after_gap;
    enter(stream, received, std::move(kept));
  };
  if (stream.order.take(header.order)) {
    enter(stream, received, std::move(pack));
    stream.order.deliver_ready(enter_kept);
  } else {
    keep(pack);
    stream.order.add(header.order, std::move(pack), span.records.size_bytes(), enter_kept);
  }
  merge(thread, false);
  // Waiting records must not hold the pack.
  for (Pack<Record>& each : stream.waiting) {
    if (!each.own.empty()) continue;
    keep(each);
    waiting_ += each.own.size();
    waiting_bytes_.add(each.own.size() * sizeof(Record));
  }
  if (waiting_ <= kMostWaiting) return;
  for (auto& [other_number, each] : threads_) {
    if (!may_be_on_the_way(each)) merge(each, true);
  }
}

// The process has sent packs that the thread waits for and that have not arrived here.
bool TraceRank::may_be_on_the_way(const Thread& thread) const {
  const bool has_definition = has_begun_ || process_;
  return !has_definition || !thread.mpi.marks.empty() || !thread.posix.marks.empty();
}

void TraceRank::give_up_missing() {
  for (auto& [number, thread] : threads_) {
    const auto give_up = [&](auto& stream, std::uint64_t& received) {
      stream.order.give_up_missing([&](auto& kept, bool after_gap) {
        kept.after_gap = after_gap;
        enter(stream, received, std::move(kept));
      });
    };
    give_up(thread.mpi, mpi_received_);
    give_up(thread.posix, posix_received_);
  }
  for (auto& [number, thread] : threads_) merge(thread, true);
}

void TraceRank::add(const PackHeader& header, const instrument::ProcessDefinition& process) {
  process_ = process;
  if (!set_clock(header)) return;
  for (auto& [number, thread] : threads_) merge(thread, false);
}

// False: the definition of the process has not arrived yet.
bool TraceRank::begin(bool without_definition) {
  if (has_begun_) return true;
  if (!process_ && !without_definition) return false;
  has_begun_ = true;
  if (process_ && process_->init_ticks != 0 && selection_.has_thread(0))
    thread_of(0).location->add_init(process_->begin_tick - process_->init_ticks, process_->begin_tick);
  return true;
}

void TraceRank::add(const MpiSpan& span) {
  if ((span.header->flags & instrument::kSeveralMpiThreads) != 0) {
    state_.several_threads = true;
    state_.messages.stop();
  }
  if (!set_clock(*span.header)) {
    losses_.untimed += calls_in(span.records);
    return;
  }
  if (!selection_.has_thread(span.header->thread)) {
    mpi_received_ += span.header->counted_records();
    return;
  }
  Thread& thread = thread_of(span.header->thread);
  mark(thread.posix, span.header->posix, *span.header);
  take(span, thread.mpi, mpi_received_, thread);
}

void TraceRank::add(const PosixSpan& span) {
  if (!set_clock(*span.header)) {
    losses_.untimed += span.records.size();
    return;
  }
  if (!selection_.has_thread(span.header->thread)) {
    posix_received_ += span.header->counted_records();
    return;
  }
  Thread& thread = thread_of(span.header->thread);
  mark(thread.mpi, span.header->mpi, *span.header);
  take(span, thread.posix, posix_received_, thread);
}

void TraceRank::add(const AggregateSpan& span) {
  std::uint64_t sums = 0;
  for (const auto& record : span.records) {
    const bool is_call =
        record.part == instrument::AggregatePart::kCall || record.part == instrument::AggregatePart::kPosix;
    if (!is_call) continue;
    const std::uint64_t single = std::min(record.calls, record.records);
    sums += single;
    losses_.counted += record.calls - single;
  }
  if (sums == 0 || !set_clock(*span.header)) {
    losses_.sums += sums;
    return;
  }
  losses_.sums += sums;
  add_gap({rank_, TraceTables::GapKind::kSums, state_.clock.at(span.header->first_tick),
           state_.clock.at(span.header->last_tick), sums});
}

void TraceRank::add(const SampleSpan& span) {
  const PackHeader& header = *span.header;
  if (header.thread >= kSamplesOfThread) return;
  samples_received_ += header.record_count;
  samples_sealed_ = std::max(samples_sealed_, to_come(header.samples));
  if (!selection_.has_thread(header.thread)) return;
  if (!set_clock(header)) {
    losses_.untimed_samples += header.record_count;
    return;
  }
  samples_of(header.thread).add(span);
  if (samples_received_ < samples_sealed_) return;
  for (const auto& [thread, samples] : samples_) samples->write_held();
}

void TraceRank::add(const ContextSpan& span) {
  if (span.header->thread < kSamplesOfThread) samples_of(span.header->thread).add(span);
}

// The first of several counts: a trace cannot express changing rates.
void TraceRank::add(const instrument::SamplingDefinition& sampling) {
  if (sampling.tick >= sampler_tick_) return;
  sampler_tick_ = sampling.tick;
  sampler_.hertz = sampling.hertz;
  sampler_.period = sampling.period;
}

void TraceRank::add(const instrument::DecodedCounters& counters) {
  sampler_.unit = counters.fixed.unit;
  sampler_.event = counters.event;
  sampler_.counters.assign(counters.names.begin(), counters.names.begin() + counters.fixed.counters);
}

void TraceRank::note_gap(std::uint64_t tick) {
  ++losses_.gaps;
  const std::uint64_t time = state_.clock.at(tick);
  add_gap({rank_, TraceTables::GapKind::kMissing, time, time, 0});
}

// Beyond the maximum number the last gap of its kind grows.
void TraceRank::add_gap(const TraceTables::Gap& gap) {
  const auto last = std::find_if(gaps_.rbegin(), gaps_.rend(), [&](const auto& each) { return each.kind == gap.kind; });
  if (last == gaps_.rend() || gaps_.size() < kMostGaps) {
    gaps_.push_back(gap);
    return;
  }
  last->begin = std::min(last->begin, gap.begin);
  last->end = std::max(last->end, gap.end);
  last->calls += gap.calls;
}

// Records that begin before the tick; those of MPI with their extensions.
void TraceRank::write_until(Thread& thread, Pack<MpiRecord>& pack, std::uint64_t tick) {
  if (pack.after_gap || pack.after_sums) state_.messages.stop();
  auto some = pack.left;
  if (tick != kNone) {
    const auto end = std::ranges::find_if(some, [tick](const MpiRecord& each) { return tick_of(each) > tick; });
    some = some.first(static_cast<std::size_t>(end - some.begin()));
  }
  TraceLocation& location = *thread.location;
  instrument::for_each_event(
      some, [&](const instrument::MpiEvent& event) { location.add(event); },
      [&](const instrument::CompletionRecord& record) { location.add(record); },
      [](const instrument::NeighbourExtension&) {},
      [&](const instrument::StartedExtension& record) { location.add(record); },
      [](const instrument::SampledExtension&) {},
      [&](const instrument::GroupExtension& record) { location.add(record); },
      [&](const instrument::MarkExtension& mark) { location.add(mark); },
      [&](const instrument::ArgumentsExtension& arguments) { location.add(arguments); },
      [&](const instrument::ContextExtension& context) { location.add(context); });
  pack.left = pack.left.subspan(some.size());
}

void TraceRank::write_until(Thread& thread, Pack<PosixRecord>& pack, std::uint64_t tick) {
  std::size_t count = 0;
  for (; count < pack.left.size() && tick_of(pack.left[count]) <= tick; ++count) thread.location->add(pack.left[count]);
  pack.left = pack.left.subspan(count);
}

// all: including records whose predecessors may be missing.
void TraceRank::merge(Thread& thread, bool all) {
  if (!begin(all)) return;
  auto& mpi = thread.mpi.waiting;
  auto& posix = thread.posix.waiting;
  update_known_until(thread.mpi, mpi_received_);
  update_known_until(thread.posix, posix_received_);
  const auto write_some = [&](auto& waiting, std::uint64_t tick) {
    auto& pack = waiting.front();
    const std::size_t before = pack.left.size();
    write_until(thread, pack, tick);
    const std::size_t written = before - pack.left.size();
    if (!pack.own.empty()) {
      waiting_ -= written;
      waiting_bytes_.remove(written * sizeof pack.left.front());
    }
    if (pack.left.empty()) waiting.pop_front();
    return written != 0;
  };
  for (;;) {
    const std::uint64_t next_mpi = head_of(mpi), next_posix = head_of(posix);
    if (next_mpi == kNone && next_posix == kNone) return;
    const bool is_mpi = next_mpi <= next_posix;
    const std::uint64_t until = is_mpi ? (!posix.empty() ? next_posix
                                          : all          ? kNone
                                                         : thread.posix.known_until)
                                       : (!mpi.empty() ? next_mpi
                                          : all        ? kNone
                                                       : thread.mpi.known_until);
    if (is_mpi ? !write_some(mpi, until) : !write_some(posix, until)) return;
  }
}

void TraceRank::end(TraceTables& tables) {
  if (state_.clock.ns_per_tick != 0) (void)begin(true);
  for (auto& [number, thread] : threads_) {
    // Records that still wait for a missing pack.
    const auto enter_all = [&](auto& stream, std::uint64_t& received) {
      bool is_first = true;
      stream.order.for_each_waiting([&](std::uint64_t, const auto& kept) {
        auto pack = kept;
        pack.left = pack.own;
        pack.after_gap = std::exchange(is_first, false);
        enter(stream, received, std::move(pack));
      });
    };
    enter_all(thread.mpi, mpi_received_);
    enter_all(thread.posix, posix_received_);
    merge(thread, true);
    TraceTables::Thread of_thread = thread.location->end();
    of_thread.rank = rank_;
    of_thread.thread = number;
    of_thread.next_mpi = thread.mpi.order.next();
    of_thread.next_posix = thread.posix.order.next();
    tables.threads.push_back(of_thread);
    for (const std::uint32_t context : thread.location->used_contexts())
      tables.stacks.push_back({rank_, number, context});
  }
  for (auto& [thread, samples] : samples_) samples->end(tables);
  sampler_.rank = rank_;
  if (!samples_.empty()) tables.samplers.push_back(sampler_);
  losses_.incomplete = state_.open_operations();
  tables.ranks.push_back({rank_, 0, state_.clock});
  tables.gaps.insert(tables.gaps.end(), gaps_.begin(), gaps_.end());
  tables.losses.add(losses_);
  state_.add_uses(rank_, tables);
}

}  // namespace ardoise::knowledge_sources
