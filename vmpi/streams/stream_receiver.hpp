// The receiving half of a stream.
//
//   envelope arrives ──probe──▶ ArrivalQueue ──policy, when a block is free──▶ being received ──in order──▶ program
//
// Messages are matched by a probe from any source and received into a shared pool when a block is free, instead of
// receives posted ahead for each writer (N_A buffers times the writers). So memory is bounded whatever the number of
// writers; the source is known before data moves, which keeps blocks of a writer in order even when MPI completes them
// out of order; and the policy decides which writer is served when blocks are short. A block in flight costs the reader
// only an envelope, because senders use synchronous mode and MPI's rendezvous protocol. Owned by Stream, one thread at
// a time, never blocks.
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

// A block taken by the program.
struct Delivery {
  void* block = nullptr;
  std::size_t bytes = 0;
  int universe_rank = -1;
};

// How much to receive into the pool before the program asks for it.
enum class ReadAhead {
  nothing,
  // Until one block is complete. If MPI copies inside the call (shared memory), the block is returned while it is in
  // the cache. If transfers are asynchronous (network), receives are started until MPI is busy or the pool is
  // exhausted.
  one_block,
  everything  // while there are free blocks
};

class StreamReceiver {
 public:
  StreamReceiver(Transport& transport, std::vector<Endpoint>& endpoints, int tag, std::size_t block_bytes,
                 std::size_t pool_blocks, Balance balance, std::uint64_t seed);

  // Matches arrived messages and notes ends of streams.
  int match();
  // Collects completed blocks and starts to receive matched messages.
  int fill(ReadAhead how_far);
  // The next complete block; false: none.
  bool deliver(Delivery& delivery);
  // Receives the next matched message straight into the program's memory, block_bytes long. Requires that no block is
  // in the pool (!has_blocks()) and a message is matched; complete when direct_done() after fill().
  int start_direct(void* memory, Delivery& delivery);
  bool direct_done() const { return direct_.empty(); }
  // True once after the direct receive was abandoned because its writer died.
  bool take_direct_lost() { return std::exchange(direct_lost_, false); }
  // Complete blocks are discarded from now on.
  void discard_all() { discards_ = true; }

  bool has_matched() const { return !matched_.empty(); }
  bool has_blocks() const { return !receiving_.empty(); }
  // MPI has begun to receive a block that is incomplete.
  bool is_receiving() const { return !transfers_.empty() || !direct_.empty(); }
  // Nothing is pending and nothing will come.
  bool at_end() const { return open_endpoints_ == 0 && matched_.empty() && receiving_.empty() && direct_.empty(); }
  // Moves to `ranks` the peers that ended without closing and whose last block is delivered, each once.
  void take_left(std::deque<int>& ranks);
  // True: a message, completion or end since the last call.
  bool take_activity() { return std::exchange(activity_, false); }
  // The endpoint has ended, with or without a message.
  void mark_closed(std::size_t endpoint);
  // Abandons blocks that are being received from an endpoint. Only long after its process died: MPI completes what it
  // can of the rest, and must not write to the blocks afterwards.
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
  std::size_t complete_ = 0;      // complete elements of receiving_
  Transfers<Receive*> transfers_;
  Transfers<std::size_t> direct_;  // index of the endpoint; at most one
  bool direct_lost_ = false;
  std::vector<unsigned> passed_over_;  // by endpoint: number of the last deliver() that met an incomplete block of it
  unsigned delivery_number_ = 0;
  std::size_t open_endpoints_;
  std::vector<std::size_t> left_;  // endpoints for take_left()
  bool discards_ = false;
  bool activity_ = false;
};

}  // namespace ardoise::vmpi
