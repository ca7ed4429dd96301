// A stream as C++ sees it; VMPI_Stream_* are thin covers of this class (stream_api.cpp). Joins the writing and the
// reading half, waits where a call may wait, ends what has ended. docs/internals/streams.md has the protocol.
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
  bool gives_way = true;  // false: in a model, where all ends run in this thread, and nobody else is waited for
};

// One thread at a time, except release() (any thread, lock-free, no MPI inside). Functions return VMPI codes.
class Stream {
 public:
  // Takes endpoints that have met (stream_handshake.hpp); `tag` is where this end receives, `seed` for random policies.
  // Throws std::bad_alloc.
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
  // Of close() and leave() with readers that take nothing; 0: without end.
  void set_patience(std::chrono::nanoseconds patience) { patience_ = patience; }
  // MPI_Finalize with the stream open: the same in steps that don't wait, so that several streams go on together, and
  // with a word to the peers that it was not closed. Blocks that the program still holds are its own. leave(): true
  // when all is done that can be, to be called again until then.
  void start_leaving();
  bool leave();

 private:
  // Makes everything go on that can.
  int progress(ReadAhead how_far);
  // Calls progress until ready() or an error, without spinning when nothing happens.
  template <typename Ready>
  int wait_until(Ready ready, ReadAhead how_far);
  // At the end: no reader has taken a block for too long.
  bool is_out_of_patience();
  // Once a second at most, when nothing happens: which peers have died?
  void look_for_dead_peers();
  // For calls of the writing half. A two-way stream reads ahead in them, so that two ends that write to each other
  // don't wait for each other as long as their pools have room.
  ReadAhead while_writing() const { return mode_.reads ? ReadAhead::everything : ReadAhead::nothing; }
  // For a program that lends and goes on with other work: has MPI sent anything? Whatever else it is asked, it looks at
  // all its connections, and gives the processor away where it is set to (Open MPI's mpi_yield_when_idle): among
  // threads that spin, each time is a time slice lost. So readers' ends are looked for once a second.
  int look_for_sent();
  int read_one(std::byte* memory, bool may_wait);
  // Tells one of the untold deaths: VMPI_ERR_PEER.
  int tell_death(int* universe_rank);
  // The code to return when nothing is there: an error that wasn't told yet, the end, or VMPI_EAGAIN.
  int nothing_there();

  Transport& transport_;
  std::vector<Endpoint> endpoints_;
  Mode mode_;
  std::size_t block_bytes_;
  bool gives_way_;
  StreamSender sender_;
  StreamReceiver receiver_;
  Backoff backoff_{std::chrono::milliseconds(16)};
  int failure_ = VMPI_SUCCESS;     // an MPI or protocol error: the stream is of no more use
  std::deque<int> untold_deaths_;  // universe ranks
  bool told_left_ = false;
  std::chrono::nanoseconds patience_{0};
  std::size_t left_to_take_ = 0;  // blocks
  std::chrono::steady_clock::time_point taken_last_{};
  std::chrono::steady_clock::time_point last_look_{};
};

}  // namespace ardoise::vmpi
