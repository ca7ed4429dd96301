// A stream; the VMPI_Stream_* functions (stream_api.cpp) wrap this class. It joins the sending and the receiving half,
// blocks in blocking calls, and ends the stream. docs/internals/streams.md describes the protocol.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "vmpi/streams/backoff.hpp"
#include "vmpi/streams/stream_receiver.hpp"
#include "vmpi/streams/stream_sender.hpp"

namespace ardoise::vmpi {

struct StreamOptions {
  std::size_t block_bytes = 0;
  Balance balance = Balance::none;
  int writer_buffers = 3;
  std::size_t reader_limit_bytes = 0;  // 0: 64 blocks
  bool gives_way = true;               // false: in a model where one thread runs all ends, so that waiting is useless
};

// One thread at a time, except release() (any thread, lock-free, no MPI call). Functions return VMPI codes.
class Stream {
 public:
  // Takes connected endpoints (run_handshake.hpp); `tag` is the tag on which this end receives, `seed` seeds random
  // policies. Throws std::bad_alloc.
  Stream(Transport& transport, std::vector<Endpoint> endpoints, Mode mode, int tag, const StreamOptions& options,
         std::uint64_t seed);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // See vmpi.h for all of these.
  int write(const void* buffer, int blocks);
  int read(void* buffer, int blocks, bool may_wait);
  int lend(void* block, std::size_t bytes);
  int reclaim(void** block, bool may_wait);
  int take(void** block, std::size_t* bytes, int* universe_rank, bool may_wait);
  int release(void* block) noexcept;
  int taken_blocks() const { return receiver_.taken_blocks(); }
  bool is_receiving() const { return receiver_.is_receiving(); }
  // See open_streams.hpp.
  std::vector<int> gone_peers() const;
  int close();
  // How long close() and leave() wait for readers that take no block; 0: without limit.
  void set_patience(std::chrono::nanoseconds patience) { patience_ = patience; }
  // MPI_Finalize with the stream open: close() in non-blocking steps, so that several streams advance together, with a
  // message to the peers that the stream was not closed. Blocks that the program holds stay valid. leave() is called
  // until it returns true.
  void start_leaving();
  bool leave();

 private:
  // Advances sends and receives.
  int progress(ReadAhead how_far);
  // Calls progress until ready() or an error, with backoff.
  template <typename Ready>
  int wait_until(Ready ready, ReadAhead how_far);
  // At the end: no reader has taken a block for too long.
  bool is_out_of_patience();
  // Checks at most once a second, while idle, which peers have died.
  void look_for_dead_peers();
  // For calls of the sending half. A two-way stream reads ahead in them, so that two ends that write to each other do
  // not block while their pools have room.
  ReadAhead while_writing() const { return mode_.reads ? ReadAhead::everything : ReadAhead::nothing; }
  // Tests sends for a program that lends blocks and does other work. Each MPI call makes the library poll all
  // connections and, with mpi_yield_when_idle (Open MPI), yield the processor: among spinning threads that costs a time
  // slice each time. So ends of readers are checked once a second.
  int poll_sent();
  int read_one(std::byte* memory, bool may_wait);
  // Reports one unreported death: VMPI_ERR_PEER.
  int report_death(int* universe_rank);
  // The code to return when no block is available: an unreported error, the end, or VMPI_EAGAIN.
  int nothing_there();

  Transport& transport_;
  std::vector<Endpoint> endpoints_;
  Mode mode_;
  std::size_t block_bytes_;
  bool gives_way_;
  StreamSender sender_;
  StreamReceiver receiver_;
  Backoff backoff_{std::chrono::milliseconds(16)};
  int failure_ = VMPI_SUCCESS;         // an MPI or protocol error: the stream is unusable
  std::deque<int> unreported_deaths_;  // universe ranks
  bool sent_left_ = false;
  std::chrono::nanoseconds patience_{0};
  std::size_t left_to_take_ = 0;  // blocks
  std::chrono::steady_clock::time_point taken_last_{};
  std::chrono::steady_clock::time_point last_look_{};
};

}  // namespace ardoise::vmpi
