// One process at the other end of a stream, as both halves of the stream see it.
#pragma once

#include <cstdint>

namespace ardoise::vmpi {

// Both ends exchange it in the hello message (handshake.hpp).
struct Endpoint {
  int rank = -1;             // in the universe
  int tag = 0;               // on which it receives
  std::int64_t process = 0;  // watch handle of process_identity.hpp, 0: cannot be watched from here
  bool has_closed = false;   // it sent its end, or died: it neither sends nor receives blocks any more
  bool sent_end = false;     // we have sent our end
  bool is_gone = false;      // its process has ended
  bool has_died = false;     // its process had ended at the last check too, without having sent its end
};

// Allowed directions at this end of a stream.
struct Mode {
  bool reads = false;
  bool writes = false;
};

}  // namespace ardoise::vmpi
