// The destination of packs: a stream to the analyzer (stream_transport.hpp), a file (capture_transport.hpp), or a
// test's vector. The Sender is the only user and calls from one thread at a time; implementations that call MPI rely on
// that.
#pragma once

#include <cstddef>

#include "instrument/buffer/bin_pool.hpp"

namespace ardoise::instrument {

class Transport {
 public:
  virtual ~Transport() = default;

  // Borrows the bin until reclaim() returns it. False: this transport failed for good, and the caller keeps the bin.
  [[nodiscard]] virtual bool send(Bin* bin, std::size_t bytes) = 0;
  // A bin that was sent and is free again. nullptr: none; with wait: none is in flight.
  [[nodiscard]] virtual Bin* reclaim(bool wait) = 0;
  // Delivers all that was sent, then the end of the stream. Bins in flight become reclaimable. False: the other end did
  // not accept all of it.
  [[nodiscard]] virtual bool close() = 0;
};

}  // namespace ardoise::instrument
