// The accounts of a program: for each rank the ledger of its packs, and calls, ticks and bytes of each function: the
// exact totals that the process keeps, and the sums of the events that arrived, for ranks whose totals did
// not. Level owns one; analyses read it through Resolver::sums() and ledger(). Memory: ranks x functions that they
// called.
//
// The functions of a rank are a short vector sorted by (record_class, function).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "blackboard/blackboard.hpp"
#include "instrument/format/pack_reader.hpp"
#include "knowledge_sources/analysis.hpp"
#include "knowledge_sources/byte_stream.hpp"
#include "knowledge_sources/rank_locks.hpp"
#include "knowledge_sources/resolver.hpp"

namespace ardoise::knowledge_sources {

class Accounts {
 public:
  explicit Accounts(const AnalysisContext& context);
  ~Accounts();

  void attach(LevelSources& sources);           // for events and totals
  void note(const instrument::PackView& pack);  // the ledger, for every pack that arrived; any thread

  // Nothing runs concurrently with these.
  [[nodiscard]] std::vector<std::byte> partial() const;
  void absorb(std::span<const std::byte> partial);  // throws BadPartial, and is unchanged then

  [[nodiscard]] const RankLedger& ledger(std::uint32_t rank) const { return ranks_[rank].ledger; }
  // For each function the totals, or the recorded sums where those hold more calls: then the totals are not final.
  [[nodiscard]] std::vector<FunctionSums> sums(std::uint32_t rank) const;

 private:
  struct RankAccount {
    RankLedger ledger;
    std::uint64_t totals_sequence = 0;  // + 1; 0: no totals yet
    std::vector<FunctionSums> totals;
    std::vector<FunctionSums> recorded;
  };
  class Scratch;

  void add_mpi(Scratch& scratch, const MpiSpan& span);
  void add_aggregates(const AggregateSpan& span);
  void add_posix(Scratch& scratch, const PosixSpan& span);
  void set_totals(const TotalsSpan& span);
  static void merge(RankAccount& into, RankAccount&& from);
  static std::vector<RankAccount> read(std::span<const std::byte> partial, std::size_t ranks);

  std::string level_;
  std::vector<RankAccount> ranks_;
  RankLocks locks_;
  std::vector<std::unique_ptr<Scratch>> scratch_;  // one for each worker
};

}  // namespace ardoise::knowledge_sources
