// The collectives of one rank: packs come in any order and are put back into that of their thread, calls are counted by
// communicator, and go on to their meeting when the communicator is defined.
//
// A rank in which records became sums for want of memory can't be counted on from there on, nor can one of which a pack
// is missing: what follows in it is unresolved. Memory: what came too early (in_order.hpp), and calls of communicators
// whose definition has not come yet, at most kMostEarly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "knowledge_sources/byte_stream.hpp"
#include "knowledge_sources/in_order.hpp"
#include "knowledge_sources/waits/meetings.hpp"

namespace ardoise::knowledge_sources {

// One call, before its communicator is known. Times in ns on the program's time axis.
struct Collective {
  double begin, end;
  std::uint32_t comm, function, call_site;
  std::int32_t root;
};
// Those of one pack.
struct PackCollectives {
  std::vector<Collective> calls;
  bool folded = false;  // records before or among them are missing
};

// What a pack, a definition or another analyzer brings to the meetings.
struct Arrived {
  MeetingKey key;
  std::uint32_t function;
  Arrival arrival;
};

// Not thread safe.
class RankCalls {
 public:
  static constexpr std::size_t kMostEarly = 4096;

  explicit RankCalls(std::uint32_t rank) : rank_(rank) {}

  // Each appends to `out` what is known now.
  void add(std::uint32_t thread, std::uint64_t order, PackCollectives pack, std::vector<Arrived>& out);
  void define(std::uint32_t comm, const CommIdentity& identity, std::uint32_t own_rank, bool is_inter,
              std::vector<Arrived>& out);
  void set_clock_error(double ns) { clock_error_ = ns; }
  // What another analyzer has of the rank: no pack that is here, too.
  void merge(const RankCalls& other, std::vector<Arrived>& out);

  // Calls that have not met and will not, when nothing more comes.
  [[nodiscard]] UnresolvedCalls unresolved() const;

  void write(ByteWriter& out) const;
  void read(ByteReader& in);  // into a new one

 private:
  struct Comm {
    std::uint64_t count = 0;  // of collectives so far
    CommIdentity identity{};
    std::uint32_t own_rank = 0, thread = 0;
    bool defined = false, is_inter = false, several_threads = false;
  };
  struct Early {
    Collective call;
    std::uint64_t number;
  };
  void deliver(std::uint32_t thread, const PackCollectives& pack, bool after_gap, std::vector<Arrived>& out);
  void place(const Comm& comm, const Collective& call, std::uint64_t number, std::vector<Arrived>& out);
  void place_early(std::vector<Arrived>& out);

  std::uint32_t rank_;
  double clock_error_ = 0;  // ns
  bool folded_ = false;
  std::map<std::uint32_t, InOrder<PackCollectives>> threads_;
  std::map<std::uint32_t, Comm> comms_;
  std::vector<Early> early_;
  UnresolvedCalls unresolved_;
};

}  // namespace ardoise::knowledge_sources
