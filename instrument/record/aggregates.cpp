#include "instrument/record/aggregates.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

#include "instrument/format/event_reader.hpp"

namespace ardoise::instrument {
namespace {

bool is_equal_key(const AggregateRecord& a, const AggregateRecord& b) {
  return a.word == b.word && a.call_site == b.call_site && a.peer == b.peer && a.function == b.function &&
         a.part == b.part && a.size_bits == b.size_bits;
}

std::uint32_t hash_of(const AggregateRecord& record) {
  // The key is the first 16 bytes.
  std::array<std::uint64_t, 2> key;
  std::memcpy(key.data(), &record, sizeof(key));
  const std::uint64_t mixed = (key[0] ^ std::rotl(key[1], 29)) * 0x9E3779B97F4A7C15u;
  return static_cast<std::uint32_t>((mixed ^ key[1] * 0xC2B2AE3D27D4EB4Fu) >> 32);
}

void accumulate(AggregateRecord& sum, const AggregateRecord& more) {
  sum.calls += more.calls;
  sum.records += more.records;
  sum.ticks += more.ticks;
  sum.bytes += more.bytes;
  sum.received += more.received;
  sum.size += more.size;
  sum.min_ticks = std::min(sum.min_ticks, more.min_ticks);
  sum.max_ticks = std::max(sum.max_ticks, more.max_ticks);
}

AggregateRecord one(std::uint32_t word, std::uint32_t call_site, std::int32_t peer, std::uint32_t function,
                    AggregatePart part, std::uint64_t ticks, std::uint64_t bytes, std::uint64_t received) {
  const std::uint64_t size = bytes != 0 ? bytes : received;
  return {word,     call_site,
          peer,     static_cast<std::uint16_t>(function),
          part,     static_cast<std::uint8_t>(std::bit_width(size)),
          1,        1,
          ticks,    bytes,
          received, size,
          ticks,    ticks};
}

// The record at the front of `records` with its extensions (their number is `records` of the result), as an aggregate
// of one.
AggregateRecord next_of(std::span<const PosixRecord> records) {
  const PosixRecord& record = records[0];
  return one(record.flags, record.call_site, static_cast<std::int32_t>(record.file), record.function,
             AggregatePart::kPosix, record.duration, record.bytes, 0);
}

AggregateRecord next_of(std::span<const MpiRecord> records) {
  const MpiRecord& first = records[0];
  if (first.shape() == Shape::kCompletion) {
    const auto done = as<CompletionRecord>(first);
    return one(done.word, done.call_site, done.peer, first.function(), AggregatePart::kCompletion, 0,
               completion_bytes(done), 0);
  }
  if (first.shape() == Shape::kExtension && extension_kind(first) == ExtensionKind::kStarted) {
    const auto started = as<StartedExtension>(first);
    return one(started.operation, 0, started.peer, first.function(), AggregatePart::kStarted, 0, started.bytes, 0);
  }
  if (first.shape() == Shape::kExtension && extension_kind(first) == ExtensionKind::kNeighbourPart) {
    const auto part = as<NeighbourExtension>(first);
    return one(make_word(part.comm, first.function(), Shape::kNeighbour), 0, part.destination, first.function(),
               AggregatePart::kNeighbour, 0, part.bytes, 0);
  }
  if (first.shape() == Shape::kExtension && extension_kind(first) == ExtensionKind::kGroup)
    return one(first.word, 0, kNoPeer, first.function(), AggregatePart::kGroup, 0, 0, 0);
  if (is_arguments(first)) return one(first.word, 0, kNoPeer, first.function(), AggregatePart::kArguments, 0, 0, 0);
  if (is_context(first)) return one(first.word, 0, kNoPeer, 0, AggregatePart::kContext, 0, 0, 0);
  if (is_mark(first)) return one(first.word, 0, kNoPeer, 0, AggregatePart::kMark, 0, 0, 0);
  // A call, with the extensions that are always in the pack of their record.
  AggregateRecord sum{};
  std::size_t used = 1;
  const auto is = [&](ExtensionKind kind) {
    return used < records.size() && records[used].shape() == Shape::kExtension && extension_kind(records[used]) == kind;
  };
  used += is(ExtensionKind::kWideValues) ? 1 : 0;
  used += is(ExtensionKind::kReceiveHalf) ? 1 : 0;
  for_each_event(
      records.first(used),
      [&](const MpiEvent& event) {
        const std::uint64_t half =
            event.receive_half != nullptr ? as<ReceiveHalfExtension>(*event.receive_half).bytes : 0;
        sum = one(event.record.word, event.record.call_site, event.record.peer, event.record.function(),
                  AggregatePart::kCall, event.duration, event.bytes, event.received + half);
      },
      [](const CompletionRecord&) {}, [](const NeighbourExtension&) {}, [](const StartedExtension&) {});
  sum.records = used;
  return sum;
}

}  // namespace

AggregateTable::AggregateTable(std::span<std::byte> payload) {
  // Twice as many slots as records keep probing short; rounding the slots up may cost some records.
  capacity_ = static_cast<std::uint32_t>(
      std::min<std::size_t>(payload.size() / (sizeof(AggregateRecord) + 2 * sizeof(std::uint16_t)), 0xFFFF));
  slots_ = std::bit_ceil(2 * capacity_);
  const std::size_t index_bytes = slots_ * sizeof(std::uint16_t);
  capacity_ = std::min(capacity_, static_cast<std::uint32_t>((payload.size() - index_bytes) / sizeof(AggregateRecord)));
  records_ = reinterpret_cast<AggregateRecord*>(payload.data());
  index_ = reinterpret_cast<std::uint16_t*>(payload.data() + payload.size() / 8 * 8 - index_bytes);
  std::fill_n(index_, slots_, std::uint16_t{0});
}

bool AggregateTable::add(const AggregateRecord& record) {
  for (std::uint32_t slot = hash_of(record);; ++slot) {
    std::uint16_t& entry = index_[slot & (slots_ - 1)];
    if (entry == 0) {
      if (count_ == capacity_) return false;
      records_[count_] = record;
      entry = static_cast<std::uint16_t>(++count_);
      return true;
    }
    AggregateRecord& known = records_[entry - 1];
    if (is_equal_key(known, record)) {
      accumulate(known, record);
      return true;
    }
  }
}

Aggregates::Aggregates(BinPool& pool) : pool_(pool) {
  BinList none;
  (void)renew(slots_[0], none);
}

// Acquire and release as in any lock. The first slot is preferred: fewer tables have fewer records of one key. If all
// tables are in use and no bin is left for another one, their holders finish within a tenth of a millisecond, unless
// they lost their processor. On a crowded machine that may be many time slices, and waiting saves the records of a bin.
// The wait has a limit, since siglongjmp may have left a holder.
Aggregates::Slot* Aggregates::take_slot(BinList& full) {
  constexpr auto kPatience = std::chrono::seconds(1);
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    bool in_use = false;
    for (Slot& slot : slots_) {
      if (slot.used.test_and_set(std::memory_order_acquire)) {
        in_use = true;
        continue;
      }
      if (slot.bin != nullptr || renew(slot, full)) return &slot;
      release(slot);
    }
    if (!in_use || std::chrono::steady_clock::now() - begin > kPatience) return nullptr;
    ::sched_yield();
  }
}

// Puts a new table into the slot; a non-empty old one goes to `full`. False: no bin, nothing changed.
bool Aggregates::renew(Slot& slot, BinList& full) {
  Bin* const bin = pool_.take(PackClass::kAggregates);
  if (bin == nullptr) return false;
  if (slot.bin != nullptr) close(slot, full);
  slot.bin = bin;
  slot.table = AggregateTable({bin->payload(), pool_.payload_bytes()});
  slot.first_tick = slot.last_tick = 0;
  return true;
}

void Aggregates::close(Slot& slot, BinList& full) {
  PackHeader& header = slot.bin->header;
  header.pack_class = static_cast<std::uint16_t>(PackClass::kAggregates);
  header.record_count = static_cast<std::uint32_t>(slot.table.records().size());
  header.payload_bytes = static_cast<std::uint32_t>(slot.table.records().size_bytes());
  header.first_tick = slot.first_tick;
  header.last_tick = slot.last_tick;
  full.append(pool_, slot.bin);
  slot.bin = nullptr;
}

bool Aggregates::add_to(Slot& slot, const AggregateRecord& record, std::uint64_t first_tick, std::uint64_t last_tick,
                        BinList& full) {
  if (!slot.table.add(record) && (!renew(slot, full) || !slot.table.add(record))) return false;
  if (slot.first_tick == 0 || first_tick < slot.first_tick) slot.first_tick = first_tick;
  slot.last_tick = std::max(slot.last_tick, last_tick);
  return true;
}

template <class Record>
std::size_t Aggregates::fold(std::span<const Record> records, std::uint64_t first_tick, std::uint64_t last_tick,
                             BinList& full) {
  Slot* const slot = take_slot(full);
  if (slot == nullptr) return 0;
  std::size_t done = 0;
  while (done < records.size()) {
    const AggregateRecord next = next_of(records.subspan(done));
    if (!add_to(*slot, next, first_tick, last_tick, full)) break;
    done += next.records;
  }
  release(*slot);
  return done;
}

bool Aggregates::add(const AggregateRecord& record, std::uint64_t first_tick, std::uint64_t last_tick, BinList& full) {
  Slot* const slot = take_slot(full);
  if (slot == nullptr) return false;
  const bool added = add_to(*slot, record, first_tick, last_tick, full);
  release(*slot);
  return added;
}

void Aggregates::flush(bool all, BinList& full) {
  for (Slot& slot : slots_) {
    if (slot.used.test_and_set(std::memory_order_acquire)) continue;
    const bool holds = slot.bin != nullptr && !slot.table.records().empty();
    if (holds && !renew(slot, full) && all) close(slot, full);
    release(slot);
  }
}

template std::size_t Aggregates::fold(std::span<const MpiRecord>, std::uint64_t, std::uint64_t, BinList&);
template std::size_t Aggregates::fold(std::span<const PosixRecord>, std::uint64_t, std::uint64_t, BinList&);

}  // namespace ardoise::instrument
