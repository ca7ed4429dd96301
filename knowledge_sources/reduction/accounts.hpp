// The accounts of a program: for each rank the ledger of its packs, and calls, ticks and bytes of each function: the
// exact totals of the process, and the sums of the received events, for ranks without received totals. Level owns one;
// analyses read it through Resolver::sums() and ledger(). Memory: ranks x functions that they called.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "instrument/format/pack_reader.hpp"
#include "knowledge_sources/containers/rank_locks.hpp"
#include "knowledge_sources/interface/analysis.hpp"
#include "knowledge_sources/interface/rank_sums.hpp"
#include "knowledge_sources/interface/resolver.hpp"
#include "knowledge_sources/interface/worker_slots.hpp"

namespace ardoise::knowledge_sources {

class Accounts {
 public:
  explicit Accounts(const AnalysisContext& context);

  void attach(LevelSources& sources);           // for events and totals
  void note(const instrument::PackView& pack);  // the ledger, for every received pack; any thread

  // Nothing runs concurrently with these.
  [[nodiscard]] std::vector<std::byte> partial() const;
  void absorb(std::span<const std::byte> partial);  // throws BadPartial, and is unchanged then

  [[nodiscard]] const RankLedger& ledger(std::uint32_t rank) const { return ranks_[rank].ledger; }
  // The totals of each function, or the recorded sums if they have more calls: then the totals are not final.
  [[nodiscard]] std::vector<FunctionSums> sums(std::uint32_t rank) const;

 private:
  struct Sums {
    std::uint64_t calls = 0, ticks = 0, bytes_sent = 0, bytes_received = 0, bytes = 0;
    void add(const Sums& more, std::uint64_t times = 1) {
      calls += more.calls * times;
      ticks += more.ticks * times;
      bytes_sent += more.bytes_sent * times;
      bytes_received += more.bytes_received * times;
      bytes += more.bytes * times;
    }
  };
  using Recorded = RankSums<Sums, 9>;  // by key()
  struct Told {
    RankLedger ledger;
    std::uint64_t totals_sequence = 0;    // + 1; 0: no totals yet
    std::vector<Recorded::Entry> totals;  // sorted by key
  };

  // Key of a function: its class and its number.
  static std::uint64_t key(std::uint64_t record_class, std::uint16_t function) { return record_class << 16 | function; }
  static Sums posix_sums(std::uint16_t function, std::uint64_t calls, std::uint64_t ticks, std::uint64_t bytes);
  static FunctionSums function_sums(const Recorded::Entry& entry);
  void add(Recorded::Scratch& scratch, const MpiSpan& span);
  void add(Recorded::Scratch& scratch, const PosixSpan& span);
  void add(Recorded::Scratch& scratch, const AggregateSpan& span);
  // A pack's ticks in calls.
  void add_ticks(const instrument::PackHeader& header, std::uint64_t mpi, std::uint64_t posix);
  void set_totals(const TotalsSpan& span);

  std::string level_;
  std::vector<Told> ranks_;
  RankLocks locks_;  // of ranks_
  Recorded recorded_;
  WorkerSlots<Recorded::Scratch> slots_;
};

}  // namespace ardoise::knowledge_sources
