// Costly calls on the critical path: the facts that their rules share, and the rules. Each rule charges the seconds of
// a call to one cause.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "reports/losses/loss.hpp"
#include "reports/losses/run_view.hpp"

namespace ardoise::reports {

inline constexpr double kSmall = 8 * 1024;  // bytes: the least cost of a call outweighs that of its bytes
inline constexpr double kManyCalls = 200;   // of a rank

struct CostlyCalls {
  CostlyCalls(const RunView& of, std::vector<Loss>& losses);

  const RunView& view;
  const Application& app;
  std::vector<Loss>& out;
  std::map<std::string, std::string> categories;  // by function

  [[nodiscard]] std::string category(const PathCall& call) const;
  [[nodiscard]] bool is_message(const PathCall& call) const;
  // The path is in calls of this site for longer than a rank: ranks take turns.
  [[nodiscard]] bool in_turn(const PathCall& call) const;
  // "300 calls of a rank to MPI_Bcast, called from f (x.c:1), 8 B each"
  [[nodiscard]] std::string calls_in_words(const PathCall& call) const;
  void add(const char* code, const PathCall& call, std::string text, std::vector<std::uint32_t> ranks = {},
           bool is_usual = false) const;
};

// Tests for messages, again and again: poll.busy, or the late rank that they are for.
void name_polling(const CostlyCalls& calls);
// Calls that only use the process's own memory, as samples tell them: ovh.calls.
void name_local_calls(const CostlyCalls& calls);
// ovh.collective, ovh.alltoall, ovh.element, ovh.fuse, ovh.toobig, io.rank0
void name_collective(const CostlyCalls& calls, const PathCall& call);
// Data that MPI copies piece by piece, in `user`: ovh.types, ovh.create.
void name_pieces(const CostlyCalls& calls, const PathCall& call, const CallSite& user);

// Messages, and waits for them: ovh.tiny, ovh.volume, ovh.hand, hub.root, late.comm, chain.ring, chain.grain, prog.*,
// place.ranks.
class CostlyMessages {
 public:
  explicit CostlyMessages(const CostlyCalls& calls);
  void name(const PathCall& call);
  // If all transfers of a ring run at the same time, those of one rank remain.
  void keep_own_transfers();

 private:
  [[nodiscard]] bool take_turns() const;
  [[nodiscard]] double mean_of_others(std::uint32_t rank) const;
  [[nodiscard]] bool has_more(std::uint32_t rank) const;
  [[nodiscard]] bool of_one_rank(const PathCall& call) const;
  [[nodiscard]] bool is_star(std::uint32_t rank, std::size_t partners) const;
  void ring(const PathCall& call);

  const CostlyCalls& c_;
  std::vector<double> bytes_;  // sent or received, whichever is more, by rank
  double own_transfers_ = 0;   // s: the longest of a rank at the places of a ring
  bool large_ones_take_turns_ = false;
};

inline constexpr const char* kAwaitTarget = "Operations on windows wait until their target, which works, enters MPI";
// An operation on the window of another rank that mostly takes long, and at least hardly any time: that rank works, and
// does not enter MPI.
[[nodiscard]] bool awaits_target(const CallSite& site);
// ", of 2.02 ms each, at least 60.0 ns"
[[nodiscard]] std::string durations(const CallSite& site);
// The calls of a place are many, or dear.
void name_calls(const CostlyCalls& calls, const PathCall& call);
// "MPI_Irecv in exchange (halo.c:7)"
[[nodiscard]] std::string in_place(const CallSite& site);
[[nodiscard]] bool starts_with_any(const std::string& name, std::initializer_list<const char*> begins);

}  // namespace ardoise::reports
