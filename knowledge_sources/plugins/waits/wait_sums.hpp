// Sums of the waits in one world: for each of its programs by pattern and call site, by rank, and between ranks. Sums
// of whole nanoseconds, which do not depend on the order of addition. Memory: linear in ranks, call sites and pairs of
// ranks that waited for each other.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/interface/resolver.hpp"
#include "knowledge_sources/matching/patterns.hpp"
#include "knowledge_sources/plugins/waits/causes.hpp"
#include "knowledge_sources/plugins/waits/shared_calls.hpp"
#include "knowledge_sources/plugins/waits/wait_sites.hpp"
#include "knowledge_sources/plugins/waits/waiting_over_time.hpp"
#include "reports/model.hpp"

namespace ardoise::knowledge_sources {

// Calls of collectives, or ends of messages, whose waits are unknown, by reason.
struct Unresolved {
  std::uint64_t folded = 0;       // records were aggregated for lack of memory before them in their thread
  std::uint64_t incomplete = 0;   // some ranks of the communicator, or the other end, are missing
  std::uint64_t beyond_room = 0;  // more at a time than there was memory for
  std::uint64_t of_no_kind = 0;   // intercommunicators, several threads
  void add(const Unresolved& more);
};

// Not thread safe.
class WaitSums {
 public:
  // programs: borrowed.
  explicit WaitSums(const WorldPrograms& programs)
      : programs_(&programs), sites_(programs), ranks_(programs.ranks()), causes_(programs.ranks()) {
    add_programs();
  }
  // Programs added since. Before the first wait.
  void add_programs() {
    while (of_programs_.size() < programs_->size()) of_programs_.emplace_back((*programs_)[of_programs_.size()].ranks);
  }

  // Joins calls that complete several operations: send() takes the waits of calls that belong to another analyzer, and
  // returns whether it did.
  void share_calls(std::function<bool(const Wait&)> send) { send_ = std::move(send); }
  // Receives each counted wait for one rank.
  void on_wait(std::function<void(const Wait&)> action) { on_wait_ = std::move(action); }
  // Receives each wait in a call between MPI_Init and MPI_Finalize as soon as its length is known.
  void on_waiter(std::function<void(const Wait&)> action) { on_waiter_ = std::move(action); }
  // Receives moments at which a rank would have gone on that only asked for a message: `awaited` sent it then.
  void on_answer(std::function<void(std::uint32_t waiter, std::uint32_t awaited, double ns)> action) {
    on_answer_ = std::move(action);
  }
  void add_answer(std::uint32_t waiter, std::uint32_t awaited, double ns) { on_answer_(waiter, awaited, ns); }
  // Reports a wait now that is added later, when its pattern is known.
  void report_early(Wait& wait) {
    report_to_waiter(wait);
    wait.is_reported = true;
  }
  void add(std::span<const Wait> waits);
  // A wait of a call with several operations that is joined here.
  void add_shared(const Wait& wait);
  // A collective call of the rank, whose waits have been added.
  void count_call(std::uint32_t rank) { ++counts_of(rank).resolved_calls; }
  // A message; the rank: of its receiver.
  void count_message(std::uint32_t rank) { ++counts_of(rank).messages; }
  void add_calls(std::uint32_t rank, const Unresolved& more) { counts_of(rank).calls.add(more); }
  void add_ends(std::uint32_t rank, const Unresolved& more) { counts_of(rank).ends.add(more); }
  // True: this many ends of messages are unresolved because the other end is missing, and none for another reason.
  [[nodiscard]] bool all_ends_known_but(std::uint64_t incomplete) const;
  void merge(const WaitSums& other);
  void write(ByteWriter& out) const;
  void read(ByteReader& in);  // into an empty one

  // Waits of the program's ranks, and waits of others for them. places, contexts: as in Causes::contribute().
  void contribute(std::size_t program, const Resolver& resolver, std::span<const std::vector<SampledPlace>> places,
                  const SampledRanks& contexts, reports::Waiting& model) const;
  // By rank of the world: waiting of others for it.
  [[nodiscard]] std::vector<double> caused_seconds() const;
  // Causes of the waiting for ranks of the program.
  [[nodiscard]] std::vector<reports::WaitCause> causes(std::size_t program, const Resolver& resolver,
                                                       std::span<const std::vector<SampledPlace>> places,
                                                       const SampledRanks& contexts) const;

 private:
  struct OfRank {
    std::uint64_t waiting_ns = 0, caused_ns = 0;
  };
  struct Counts {
    Unresolved calls, ends;
    std::uint64_t resolved_calls = 0, messages = 0, uncertain_ns = 0;
  };
  struct OfProgram {
    explicit OfProgram(std::uint32_t ranks) : over_time(ranks) {}
    void add(const OfProgram& more);
    WaitingOverTime over_time;
    Counts counts;
  };
  // In ranks of the world, by waiter and awaited rank.
  [[nodiscard]] std::vector<reports::WaitEdge> edges() const;
  static std::uint64_t edge(std::uint32_t waiter, std::uint32_t awaited) {
    return std::uint64_t{waiter} << 32 | awaited;
  }

  void add(const Wait& wait);
  void report_to_waiter(const Wait& wait) const;
  [[nodiscard]] Counts& counts_of(std::uint32_t rank) { return of_programs_[programs_->program_of(rank)].counts; }

  std::function<bool(const Wait&)> send_ = [](const Wait&) { return false; };
  std::function<void(const Wait&)> on_wait_ = [](const Wait&) {}, on_waiter_ = [](const Wait&) {};
  std::function<void(std::uint32_t, std::uint32_t, double)> on_answer_ = [](std::uint32_t, std::uint32_t, double) {};
  const WorldPrograms* programs_;
  WaitSites sites_;
  std::vector<OfRank> ranks_;
  std::unordered_map<std::uint64_t, std::uint64_t> edges_;
  std::vector<OfProgram> of_programs_;
  Causes causes_;
  SharedCalls shared_;
};

}  // namespace ardoise::knowledge_sources
