// The sending half of a stream: blocks in flight, the buffers of VMPI_Stream_write, memory lent by the program. Owned
// by Stream, one thread at a time. Never blocks: Stream::wait_until does.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "vmpi/streams/balance.hpp"
#include "vmpi/streams/endpoint.hpp"
#include "vmpi/streams/transfers.hpp"

namespace ardoise::vmpi {

enum class EndTo { all, open_peers, closed_peers };

class StreamSender {
 public:
  StreamSender(Transport& transport, std::vector<Endpoint>& endpoints, std::size_t block_bytes, int buffers,
               Balance balance, std::uint64_t seed);

  // One of the stream's own buffers, nullptr when all are in flight. Allocates at first use (std::bad_alloc).
  void* free_buffer();
  // Sends a buffer from free_buffer, or lent memory, to an endpoint that the policy picks. VMPI_ERR_PEER: all have
  // closed; the memory stays with the caller.
  int start(void* block, std::size_t bytes, bool is_lent);

  // Collects completed sends.
  int poll();

  bool idle() const { return in_flight_.empty(); }
  std::size_t blocks_in_flight() const { return in_flight_.size(); }
  // Lent memory whose send has completed, in the order of completion; nullptr: none.
  void* reclaim();
  bool has_lent() const { return lent_in_flight_ > 0 || !reclaimable_.empty(); }
  bool can_reclaim() const { return !reclaimable_.empty(); }
  bool has_free_buffer() const { return !free_.empty() || owned_.size() < static_cast<std::size_t>(buffers_); }

  // Sends the end to endpoints that have not got it. closed_peers: only where nothing is in flight to them.
  int send_ends(EndTo whom);
  // Drops the blocks in flight to a dead process. Their requests are never used again.
  void forget(std::size_t endpoint);

 private:
  struct Block {
    void* memory;
    std::size_t endpoint;
    bool is_lent;
  };
  void retire(const Block& block);

  Transport& transport_;
  std::vector<Endpoint>& endpoints_;
  std::size_t block_bytes_;
  int buffers_;
  EndpointPicker picker_;
  std::vector<WriterLoad> loads_;  // by endpoint
  Transfers<Block> in_flight_;
  struct Free {
    void operator()(void* memory) const;
  };
  std::vector<std::unique_ptr<void, Free>> owned_;
  std::vector<void*> free_;
  std::deque<void*> reclaimable_;
  std::size_t lent_in_flight_ = 0;
};

}  // namespace ardoise::vmpi
