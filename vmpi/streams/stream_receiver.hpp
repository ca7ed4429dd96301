// The reading half of a stream.
//
//   envelope arrives ──probe──▶ ArrivalQueue ──policy, when a block is free──▶ being received ──in order──▶ program
//
// Instead of receives posted ahead for each writer (N_A buffers times the writers), messages are matched by a probe
// from any source and received into a shared pool when a block is free. So memory has one bound whatever the number of
// writers; the source, and with it the order of its blocks, is known before data moves, so that blocks that MPI
// completes out of order are handed out in order; and the reader's policy really decides which writer is served when
// blocks are short. A block on the way costs the reader an envelope, because senders use synchronous mode and MPI's
// rendezvous. Owned by Stream, one thread at a time, never waits.
#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vmpi/streams/balance.hpp"
#include "vmpi/streams/block_pool.hpp"
#include "vmpi/streams/endpoint.hpp"
#include "vmpi/streams/transfers.hpp"

namespace ardoise::vmpi {

// A block in the hands of the program.
struct Delivery {
  void* block = nullptr;
  std::size_t bytes = 0;
  int universe_rank = -1;
};

// What to receive into the pool before the program asks for it.
enum class ReadAhead {
  nothing,
  // Until a block is complete. Where MPI copies inside the call (shared memory) that is one block, handed out while it
  // is still in the cache; where it works by itself (network) it gets receives until it is busy or the pool is used up.
  one_block,
  everything  // as long as there are free blocks
};

class StreamReceiver {
 public:
  StreamReceiver(Transport& transport, std::vector<Endpoint>& endpoints, int tag, std::size_t block_bytes,
                 std::size_t pool_blocks, Balance balance, std::uint64_t seed);

  // Matches what has arrived and notes ends of streams.
  int match();
  // Looks for completed blocks and starts to receive matched messages.
  int fill(ReadAhead how_far);
  // The next complete block. false: none at present.
  bool deliver(Delivery& delivery);
  // Receives the next matched message straight into memory of the program, block_bytes long. Only when nothing is in
  // the pool (!has_blocks()) and something is matched; complete when direct_done() after fill().
  int start_direct(void* memory, Delivery& delivery);
  bool direct_done() const { return direct_.empty(); }
  // It was given up: its writer died. Asked once.
  bool take_direct_lost() { return std::exchange(direct_lost_, false); }
  // Complete blocks are thrown away from now on.
  void discard_all() { discards_ = true; }

  bool has_matched() const { return !matched_.empty(); }
  bool has_blocks() const { return !receiving_.empty(); }
  // MPI has begun to receive something that is not complete.
  bool is_receiving() const { return !transfers_.empty() || !direct_.empty(); }
  // Nothing is there and nothing will come.
  bool at_end() const { return open_endpoints_ == 0 && matched_.empty() && receiving_.empty() && direct_.empty(); }
  // Moves to `ranks` the peers that ended without closing and whose last block is delivered; each once.
  void take_left(std::deque<int>& ranks);
  // Something changed since the last call: a message, a completion, an end.
  bool take_activity() { return std::exchange(activity_, false); }
  // The endpoint ends, with or without a word.
  void mark_closed(std::size_t endpoint);
  // Gives up blocks that were being received from an endpoint. Only long after its process died: MPI still makes what
  // can be made of what is left of it, and must not write to the blocks any more.
  void abandon(std::size_t endpoint);

  bool release(void* block) noexcept { return pool_.release(block); }
  int taken_blocks() const { return pool_.taken_blocks(); }

 private:
  struct Receive {
    std::size_t endpoint;
    void* block;
    std::size_t bytes;
    bool is_complete;
  };
  int find_completed();
  bool has_blocks_of(std::size_t endpoint) const;
  void discard_completed();

  Transport& transport_;
  std::vector<Endpoint>& endpoints_;
  std::unordered_map<int, std::size_t> endpoint_of_rank_;
  int tag_;
  std::size_t block_bytes_;
  BlockPool pool_;
  ArrivalQueue<Incoming> matched_;
  std::list<Receive> receiving_;  // in the order of matching; a list, because transfers_ points into it
  std::size_t complete_ = 0;      // of receiving_
  Transfers<Receive*> transfers_;
  Transfers<std::size_t> direct_;  // of which endpoint; one at most
  bool direct_lost_ = false;
  std::vector<unsigned> passed_over_;  // by endpoint: number of the last deliver() that met an incomplete block of it
  unsigned delivery_number_ = 0;
  std::size_t open_endpoints_;
  std::vector<std::size_t> left_;  // endpoints for take_left()
  bool discards_ = false;
  bool activity_ = false;
};

}  // namespace ardoise::vmpi
