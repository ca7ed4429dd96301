// Records become sums when memory has no room for them: by (function, communicator, peer, call site, size class), exact
// in calls, time and bytes. Used by ThreadRecorder for a bin that it can't hand on, so the program neither waits nor
// loses anything but the single times.
//
//   a full bin of MpiRecord or PosixRecord ──fold()──▶ table in a bin = payload of a kAggregates pack ──▶ Sender
//
// A table is a bin: AggregateRecords from the front, a hash index of their places at the end.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "instrument/buffer/bin_pool.hpp"
#include "instrument/format/event_format.hpp"

namespace ardoise::instrument {

// One table, in memory that is given to it. Not thread safe.
class AggregateTable {
 public:
  AggregateTable() = default;
  // Empty, over `payload`, aligned to 8.
  explicit AggregateTable(std::span<std::byte> payload);

  // False: the table is full and `record`, which is to be added (calls is not 0), has found no equal.
  [[nodiscard]] bool add(const AggregateRecord& record);

  [[nodiscard]] std::span<const AggregateRecord> records() const { return {records_, count_}; }

 private:
  AggregateRecord* records_ = nullptr;
  std::uint16_t* index_ = nullptr;  // place + 1 in records_, 0: free; open addressing
  std::uint32_t slots_ = 0;         // a power of two
  std::uint32_t count_ = 0, capacity_ = 0;
};

// The tables of a process. Thread safe: a thread takes a table that nobody uses, and waits for one for a
// second at most.
class Aggregates {
 public:
  // Takes one bin at once, so that folding can begin when there is none left.
  explicit Aggregates(BinPool& pool);

  // Adds the records and returns how many: fewer when no bin is left for another table. Tables that this fills go to
  // `full`, ready to be sent. Record: MpiRecord or PosixRecord.
  template <class Record>
  [[nodiscard]] std::size_t fold(std::span<const Record> records, std::uint64_t first_tick, std::uint64_t last_tick,
                                 BinList& full);

  // Adds one. False: no bin is left for another table.
  [[nodiscard]] bool add(const AggregateRecord& record, std::uint64_t first_tick, std::uint64_t last_tick,
                         BinList& full);

  // Appends tables that hold something to `full`. Unless `all`, only such that a new bin replaces at once.
  void flush(bool all, BinList& full);

  // All threads have died, maybe in here.
  void force_unlock() {
    for (Slot& slot : slots_) release(slot);
  }

 private:
  static constexpr std::size_t kTables = 4;
  struct Slot {
    std::atomic_flag used = ATOMIC_FLAG_INIT;
    Bin* bin = nullptr;  // all below: whoever has set `used`
    AggregateTable table;
    std::uint64_t first_tick = 0, last_tick = 0;
  };
  [[nodiscard]] Slot* take_slot(BinList& full);
  [[nodiscard]] bool add_to(Slot& slot, const AggregateRecord& record, std::uint64_t first_tick,
                            std::uint64_t last_tick, BinList& full);
  [[nodiscard]] bool renew(Slot& slot, BinList& full);
  void close(Slot& slot, BinList& full);
  static void release(Slot& slot) { slot.used.clear(std::memory_order_release); }

  BinPool& pool_;
  std::array<Slot, kTables> slots_{};
};

}  // namespace ardoise::instrument
