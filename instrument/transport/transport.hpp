// Where packs go: a stream to the analyzer (stream_transport.hpp), a file (capture_transport.hpp), or a test's vector.
// The Sender is the only user and calls from one thread at a time; an implementation that calls MPI relies on that.
#pragma once

#include <cstddef>

#include "instrument/buffer/bin_pool.hpp"

namespace ardoise::instrument {

class Transport {
 public:
  virtual ~Transport() = default;

  // Borrows the bin until reclaim() returns it. False: this transport has failed for good, and the bin is the caller's.
  [[nodiscard]] virtual bool send(Bin* bin, std::size_t bytes) = 0;
  // A bin that was sent and is free again, or nullptr: none is; with wait: none is in flight.
  [[nodiscard]] virtual Bin* reclaim(bool wait) = 0;
  // All that was sent arrives, then the other end sees the end. Bins in flight become reclaimable. False: the other end
  // did not take all of it.
  [[nodiscard]] virtual bool close() = 0;
};

}  // namespace ardoise::instrument
