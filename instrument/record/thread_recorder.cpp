#include "instrument/record/thread_recorder.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <type_traits>
#include <utility>

#include "instrument/format/event_reader.hpp"

namespace ardoise::instrument {
namespace {

template <class Record>
constexpr PackClass class_of() {
  return std::is_same_v<Record, MpiRecord> ? PackClass::kMpi : PackClass::kPosix;
}

template <class Record>
Record* records_of(Bin* bin) {
  return reinterpret_cast<Record*>(bin->payload());
}

// Merges `more` into `sum`: one of the two places stays, each with a probability by its weight.
void join(SampledExtension& sum, const SampledExtension& more) {
  const std::uint64_t weight = sum.weight + more.weight;
  const std::uint64_t lot = (more.tick * 0x9E3779B97F4A7C15u >> 20) % weight;
  if (lot < more.weight) sum = more;
  sum.tick = more.tick;
  sum.weight = weight;
}

}  // namespace

ThreadRecorder::ThreadRecorder(BinPool& pool, Sender& sender, Ledger& ledger, EventReduction& reduction,
                               std::uint32_t number)
    : samples(pool, ledger, sender.stream_full()),
      sender_(sender),
      ledger_(ledger),
      reduction_(reduction),
      number_(number) {
  mpi_.scratch = reinterpret_cast<Bin*>(scratch_[0].bytes.data());
  posix_.scratch = reinterpret_cast<Bin*>(scratch_[1].bytes.data());
}

void ThreadRecorder::restart(std::uint32_t number) {
  number_ = number;
  may_send = false;
  next_flush.store(0, std::memory_order_relaxed);
  mpi_.closed = posix_.closed = 0;
  mpi_.folded = posix_.folded = mpi_.counted = false;
  noted_ = {};
  recent_mpi_.clear();
  recent_posix_.clear();
}

bool ThreadRecorder::is_scratch(const Bin* bin) const { return bin == mpi_.scratch || bin == posix_.scratch; }

template <class Record>
void ThreadRecorder::note_recent(const Lane<Record>& lane) {
  const std::span<const Record> records(records_of<Record>(lane.bin), lane.cursor);
  if constexpr (std::is_same_v<Record, MpiRecord>) {
    recent_mpi_.add(records);
  } else {
    recent_posix_.add(records);
  }
}

void ThreadRecorder::recent(RecentCalls& mpi, RecentCalls& posix) const {
  mpi = recent_mpi_;
  posix = recent_posix_;
  if (mpi_.bin != nullptr) mpi.add(std::span<const MpiRecord>(records_of<MpiRecord>(mpi_.bin), mpi_.cursor));
  if (posix_.bin != nullptr)
    posix.add(std::span<const PosixRecord>(records_of<PosixRecord>(posix_.bin), posix_.cursor));
}

// PackHeader::other_open. Records in the scratch memory become sums.
template <class Record>
std::uint32_t ThreadRecorder::open_before(const Lane<Record>& lane, std::uint64_t tick) const {
  const bool is_open = lane.bin != nullptr && !is_scratch(lane.bin) && lane.cursor != records_of<Record>(lane.bin);
  if (!is_open || lane.first_begin > tick) return 0;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>((tick - lane.first_begin) / PackHeader::kOpenTicks + 1, UINT32_MAX));
}

// The lane's bin leaves the lane: to the Sender, or from the scratch memory into the aggregates.
template <class Record>
void ThreadRecorder::close_bin(Lane<Record>& lane) {
  if (lane.bin == nullptr) return;
  if (is_scratch(lane.bin)) {
    reduce(lane);
  } else if (reduction_.folds_some_at_once()) {
    reduce_chosen(lane);
  } else {
    note_recent(lane);
  }
  const auto records = static_cast<std::uint32_t>(lane.cursor - records_of<Record>(lane.bin));
  Bin* const bin = std::exchange(lane.bin, nullptr);
  lane.cursor = lane.limit = lane.whole = nullptr;
  if (is_scratch(bin)) return;
  const std::uint32_t sampled = std::exchange(lane.sampled, 0u);
  if (records == 0) return sender_.give_back(bin);
  ledger_.count_recorded(class_of<Record>(), records - sampled);
  PackHeader& header = bin->header;
  header.sampled_count = sampled;
  header.pack_class = static_cast<std::uint16_t>(class_of<Record>());
  header.record_count = records;
  header.payload_bytes = static_cast<std::uint32_t>(records * sizeof(Record));
  header.thread = number_;
  header.order = lane.closed++;
  if (std::exchange(lane.folded, false)) header.flags |= kFolded;
  header.first_tick = lane.first_begin;
  header.last_tick = lane.last_end;
  if constexpr (std::is_same_v<Record, MpiRecord>) {
    header.other_open = open_before(posix_, lane.last_end);
  } else {
    header.other_open = open_before(mpi_, lane.last_end);
  }
  sender_.submit(bin);
}

// fold(records, full) returns how many records of the lane's bin scope.
template <class Record, class Fold>
void ThreadRecorder::fold(Lane<Record>& lane, Fold&& fold) {
  Record* const begin = records_of<Record>(lane.bin);
  BinList full;
  lane.is_reduced = true;
  Record* const end = begin + fold(std::span<Record>(begin, lane.cursor), full);
  lane.folded = lane.folded || end != lane.cursor;
  lane.cursor = lane.whole = end;
  lane.is_reduced = false;
  sender_.submit_all(full);
}

template <class Record>
void ThreadRecorder::remove_sampled(Lane<Record>& lane) {
  if constexpr (std::is_same_v<Record, MpiRecord>)
    lane.cursor = std::remove_if(records_of<Record>(lane.bin), lane.cursor, is_sampled);
  lane.sampled = 0;
}

// Makes room in the lane's own bin; marks scope.
template <class Record>
void ThreadRecorder::reduce(Lane<Record>& lane) {
  note_recent(lane);
  remove_sampled(lane);
  fold(lane, [&](std::span<Record> records, BinList& full) {
    return reduction_.reduce(records, lane.first_begin, lane.last_end, is_scratch(lane.bin), full);
  });
}

// Folds the records of functions that become sums at once.
template <class Record>
void ThreadRecorder::reduce_chosen(Lane<Record>& lane) {
  note_recent(lane);
  if (reduction_.folded_at_once() == FunctionSet::all()) remove_sampled(lane);
  fold(lane, [&](std::span<Record> records, BinList& full) {
    return reduction_.reduce_chosen(records, lane.first_begin, lane.last_end, full);
  });
}

// Folds all, for a bin that contains only marks.
template <class Record>
void ThreadRecorder::reduce_all(Lane<Record>& lane) {
  fold(lane, [&](std::span<Record> records, BinList& full) {
    return reduction_.reduce(records, lane.first_begin, lane.last_end, true, full);
  });
}

template <class Record>
void ThreadRecorder::begin_bin(Lane<Record>& lane, Bin* bin, std::uint64_t begin) {
  lane.bin = bin;
  lane.first_begin = begin;
  lane.cursor = lane.whole = records_of<Record>(bin);
  lane.limit = end_of_bin(lane);
}

template <class Record>
Record* ThreadRecorder::end_of_bin(const Lane<Record>& lane) const {
  return records_of<Record>(lane.bin) +
         (is_scratch(lane.bin) ? kScratchRecords : sender_.payload_bytes() / sizeof(Record));
}

// Called at the first MPI call of a thread. True: the thread made marks before, and the bin has room after them.
bool ThreadRecorder::counts_now(Lane<MpiRecord>& lane) {
  if (std::exchange(lane.counted, true)) return false;
  ledger_.count_mpi_thread();
  if (lane.bin == nullptr) return false;
  lane.limit = end_of_bin(lane);
  return static_cast<std::size_t>(lane.limit - lane.cursor) >= kMaxGroup;
}

// Adds a record that is no MPI call. The thread need not make any MPI call.
void ThreadRecorder::add_beside(const MpiRecord& record, std::uint64_t begin, std::uint64_t end) {
  if (!mpi_.counted && mpi_.bin != nullptr) mpi_.limit = end_of_bin(mpi_);
  if (mpi_.cursor == mpi_.limit) [[unlikely]] {
    const std::uint64_t started = now();
    find_bin(mpi_, begin);
    count_sending(started);
  }
  mpi_.last_end = end;
  *mpi_.cursor = record;
  // The process may die here inside a hook; this lane must then be whole.
  std::atomic_signal_fence(std::memory_order_release);
  ++mpi_.cursor;
  // Makes the first MPI call go through next_bin().
  if (!mpi_.counted) mpi_.limit = mpi_.cursor;
}

void ThreadRecorder::add_mark(const MarkExtension& mark) {
  begin_call();
  add_beside(std::bit_cast<MpiRecord>(mark), mark.tick, mark.tick);
}

void ThreadRecorder::add_context(const ContextExtension& context, std::uint64_t end) noexcept {
  const auto record = std::bit_cast<MpiRecord>(context);
  if (context.record_class == static_cast<std::uint16_t>(PackClass::kPosix)) {
    add_beside(record, context.begin, end);
  } else {
    *mpi_room(1, context.begin, end) = record;
  }
}

void ThreadRecorder::drop_context() noexcept {
  if (mpi_.bin == nullptr || mpi_.cursor == records_of<MpiRecord>(mpi_.bin) || !is_context(mpi_.cursor[-1])) return;
  --mpi_.cursor;
  if (!mpi_.counted) mpi_.limit = mpi_.cursor;
}

template <class Record>
void ThreadRecorder::next_bin(Lane<Record>& lane, std::uint64_t begin) {
  if constexpr (std::is_same_v<Record, MpiRecord>) {
    if (counts_now(lane)) return;
  }
  const std::uint64_t started = now();
  find_bin(lane, begin);
  if (std::is_same_v<Record, MpiRecord> && noted_.weight != 0) place_noted();
  count_sending(started);
}

template <class Record>
void ThreadRecorder::find_bin(Lane<Record>& lane, std::uint64_t begin) {
  if (sender_.waits()) {
    // The wait may be for the current bin.
    close_bin(lane);
    if (may_send) sender_.pump();
    Bin* const bin = sender_.take(class_of<Record>(), may_send);
    return begin_bin(lane, bin != nullptr ? bin : lane.scratch, begin);
  }
  const auto is_full = [&] {
    return static_cast<std::size_t>(end_of_bin(lane) - lane.cursor) <
           static_cast<std::size_t>(end_of_bin(lane) - records_of<Record>(lane.bin)) / 2;
  };
  // If calls become sums at once, the current bin is reused until other records fill half of it.
  bool serves_on = false;
  if (reduction_.folds_some_at_once() && lane.bin != nullptr && !is_scratch(lane.bin)) {
    reduce_chosen(lane);
    serves_on = !is_full();
  }
  Bin* const bin = serves_on ? nullptr : sender_.take(class_of<Record>(), may_send);
  if (bin == nullptr && lane.bin != nullptr) {
    // The current bin is reused.
    if (!serves_on) reduce(lane);
    if (static_cast<std::size_t>(end_of_bin(lane) - lane.cursor) < kMaxGroup) reduce_all(lane);
    if (lane.cursor == records_of<Record>(lane.bin)) lane.first_begin = begin;
    if (may_send) sender_.pump();
    return;
  }
  close_bin(lane);
  begin_bin(lane, bin != nullptr ? bin : lane.scratch, begin);
  if (may_send) sender_.pump();
}

void ThreadRecorder::note_sample(const SampleRecord& sample, std::uint64_t weight) noexcept {
  if (weight == 0) return;
  const SampledExtension more{sample.tick,
                              weight,
                              sample.context,
                              sample.pc_offset,
                              sample.function,
                              sample.flags,
                              0,
                              make_word(static_cast<std::uint32_t>(ExtensionKind::kSampled), 0, Shape::kExtension)};
  if (mpi_.bin != nullptr && mpi_.cursor != records_of<MpiRecord>(mpi_.bin) && is_sampled(mpi_.cursor[-1])) {
    auto sum = as<SampledExtension>(mpi_.cursor[-1]);
    join(sum, more);
    mpi_.cursor[-1] = std::bit_cast<MpiRecord>(sum);
  } else if (noted_.weight != 0) {
    join(noted_, more);
  } else if (mpi_.cursor != mpi_.limit && !is_scratch(mpi_.bin)) {
    *mpi_.cursor++ = std::bit_cast<MpiRecord>(more);
    ++mpi_.sampled;
  } else {
    noted_ = more;
  }
}

void ThreadRecorder::place_noted() noexcept {
  if (is_scratch(mpi_.bin) || static_cast<std::size_t>(mpi_.limit - mpi_.cursor) <= kMaxGroup) return;
  *mpi_.cursor++ = std::bit_cast<MpiRecord>(std::exchange(noted_, {}));
  ++mpi_.sampled;
}

template <class Record>
void ThreadRecorder::cut_torn(Lane<Record>& lane, bool is_torn) {
  if (lane.bin == nullptr) return;
  if (std::exchange(lane.is_reduced, false)) {
    // Some of its records are in sums already; which ones is unknown.
    const auto records = static_cast<std::uint64_t>(lane.cursor - records_of<Record>(lane.bin));
    ledger_.count_recorded(class_of<Record>(), records);
    ledger_.count_dropped(class_of<Record>(), records);
    lane.cursor = records_of<Record>(lane.bin);
  } else if (is_torn && lane.whole != nullptr && lane.whole <= lane.cursor) {
    if constexpr (std::is_same_v<Record, MpiRecord>) {
      lane.sampled -= static_cast<std::uint32_t>(std::count_if(lane.whole, lane.cursor, is_sampled));
    }
    lane.cursor = lane.whole;
  }
  // Its times may be those of the discarded call.
  if (lane.cursor == records_of<Record>(lane.bin)) lane.bin = nullptr;
}

void ThreadRecorder::end_left_call() {
  const Activity inside = activity.exchange(Activity::kProgram, std::memory_order_acq_rel);
  // For a nested activity, the interrupted one is unknown.
  cut_torn(mpi_, inside != Activity::kProgram && inside != Activity::kHook);
  cut_torn(posix_, inside != Activity::kProgram && inside != Activity::kRecording);
  may_send = false;
}

void ThreadRecorder::force_unlock() {
  end_left_call();
  samples.force_unlock();
}

void ThreadRecorder::flush() {
  close_bin(mpi_);
  close_bin(posix_);
}

template void ThreadRecorder::next_bin(Lane<MpiRecord>&, std::uint64_t);
template void ThreadRecorder::next_bin(Lane<PosixRecord>&, std::uint64_t);

}  // namespace ardoise::instrument
