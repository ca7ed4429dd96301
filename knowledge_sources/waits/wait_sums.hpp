// What the waits of a program come to: by pattern and call site, by rank, and between ranks. Sums of whole nanoseconds,
// so that they do not depend on the order of addition. Memory: linear in ranks, call sites and pairs of ranks that
// waited for each other.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "knowledge_sources/byte_stream.hpp"
#include "knowledge_sources/resolver.hpp"
#include "knowledge_sources/waits/causes.hpp"
#include "knowledge_sources/waits/patterns.hpp"
#include "knowledge_sources/waits/shared_calls.hpp"
#include "knowledge_sources/waits/wait_sites.hpp"
#include "knowledge_sources/waits/waiting_over_time.hpp"
#include "reports/model.hpp"

namespace ardoise::knowledge_sources {

// Calls of collectives, or ends of messages, whose waits are not known, by the reason.
struct Unresolved {
  std::uint64_t folded = 0;       // memory was short and calls before them in their thread became sums
  std::uint64_t incomplete = 0;   // not all ranks of the communicator, or the other end, were seen
  std::uint64_t beyond_room = 0;  // more of them at a time than there was memory for
  std::uint64_t of_no_kind = 0;   // intercommunicators, several programs, several threads
  void add(const Unresolved& more);
};

// Not thread safe.
class WaitSums {
 public:
  explicit WaitSums(std::uint32_t ranks) : sites_(ranks), ranks_(ranks), over_time_(ranks), causes_(ranks) {}

  // Where calls that complete several operations are joined: send() takes the waits of those that are another
  // analyzer's, and says whether it has.
  void share_calls(std::function<bool(const Wait&)> send) { send_ = std::move(send); }
  // Takes each wait for one rank that has been counted.
  void tell_waits(std::function<void(const Wait&)> tell) { tell_ = std::move(tell); }
  // Takes each wait in a call between MPI_Init and MPI_Finalize as soon as its length is known.
  void tell_waiters(std::function<void(const Wait&)> tell) { tell_waiter_ = std::move(tell); }
  // Has one told now that is added later, when its pattern is known.
  void tell_early(Wait& wait) {
    tell_waiter(wait);
    wait.is_told = true;
  }
  void add(std::span<const Wait> waits);
  // One of a call with several operations that is joined here.
  void add_shared(const Wait& wait);
  // Of which the waits were added.
  void count_collective(std::uint64_t calls) { resolved_calls_ += calls; }
  void count_message() { ++messages_; }
  void add_calls(const Unresolved& more) { unresolved_calls_.add(more); }
  void add_ends(const Unresolved& more) { unresolved_ends_.add(more); }
  // Of messages, so many are unresolved for want of the other end, and none for another reason.
  [[nodiscard]] bool all_ends_known_but(std::uint64_t incomplete) const {
    const Unresolved& ends = unresolved_ends_;
    return ends.incomplete == incomplete && ends.folded == 0 && ends.beyond_room == 0 && ends.of_no_kind == 0;
  }
  void merge(const WaitSums& other);
  void write(ByteWriter& out) const;
  void read(ByteReader& in);  // into an empty one

  // places, contexts: as in Causes::contribute().
  void contribute(const Resolver& resolver, std::span<const std::vector<SampledPlace>> places,
                  const SampledRanks& contexts, reports::Waiting& model) const;

 private:
  struct OfRank {
    std::uint64_t waiting_ns = 0, caused_ns = 0;
  };
  static std::uint64_t edge(std::uint32_t waiter, std::uint32_t awaited) {
    return std::uint64_t{waiter} << 32 | awaited;
  }

  void add(const Wait& wait);
  void tell_waiter(const Wait& wait) const;

  std::function<bool(const Wait&)> send_ = [](const Wait&) { return false; };
  std::function<void(const Wait&)> tell_ = [](const Wait&) {}, tell_waiter_ = [](const Wait&) {};
  WaitSites sites_;
  std::vector<OfRank> ranks_;
  std::unordered_map<std::uint64_t, std::uint64_t> edges_;
  WaitingOverTime over_time_;
  Causes causes_;
  SharedCalls shared_;
  Unresolved unresolved_calls_, unresolved_ends_;
  std::uint64_t resolved_calls_ = 0, messages_ = 0, uncertain_ns_ = 0;
};

}  // namespace ardoise::knowledge_sources
