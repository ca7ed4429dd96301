// Sums of records that do not fit into memory: by (function, communicator, peer, call site, size class), exact in
// calls, time and bytes. ThreadRecorder uses them for a bin that it cannot hand on, so the program does not wait and
// loses only the times of single calls.
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

// One table, in memory that it is given. Not thread safe.
class AggregateTable {
 public:
  AggregateTable() = default;
  // Starts empty. `payload` is aligned to 8.
  explicit AggregateTable(std::span<std::byte> payload);

  // False: the table is full and has no entry with the key of `record` (whose calls is not 0).
  [[nodiscard]] bool add(const AggregateRecord& record);

  [[nodiscard]] std::span<const AggregateRecord> records() const { return {records_, count_}; }

 private:
  AggregateRecord* records_ = nullptr;
  std::uint16_t* index_ = nullptr;  // place + 1 in records_, 0: free; open addressing
  std::uint32_t slots_ = 0;         // a power of two
  std::uint32_t count_ = 0, capacity_ = 0;
};

// The tables of a process. Thread safe: a thread takes an unused table, and waits for one for at most a second.
class Aggregates {
 public:
  // Takes one bin at once, so that folding can begin when none is left.
  explicit Aggregates(BinPool& pool);

  // Adds the records and returns how many: fewer if no bin is left for another table. Tables that become full go to
  // `full`, ready to be sent. Record: MpiRecord or PosixRecord.
  template <class Record>
  [[nodiscard]] std::size_t fold(std::span<const Record> records, std::uint64_t first_tick, std::uint64_t last_tick,
                                 BinList& full);

  // Adds one record. False: no bin is left for another table.
  [[nodiscard]] bool add(const AggregateRecord& record, std::uint64_t first_tick, std::uint64_t last_tick,
                         BinList& full);

  // Appends non-empty tables to `full`. Unless `all`, only those that a new bin can replace at once.
  void flush(bool all, BinList& full);

  // For use when all threads have died, maybe inside this class.
  void force_unlock() {
    for (Slot& slot : slots_) release(slot);
  }

 private:
  static constexpr std::size_t kTables = 4;
  struct Slot {
    std::atomic_flag used = ATOMIC_FLAG_INIT;
    Bin* bin = nullptr;  // this and the members below belong to the thread that set `used`
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
