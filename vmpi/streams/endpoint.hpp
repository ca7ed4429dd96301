// One process at the other side of a stream, as both halves of the stream see it.
#pragma once

#include <cstdint>

namespace ardoise::vmpi {

// The two ends know of each other by the hello message (meeting.hpp).
struct Endpoint {
  int rank = -1;             // in the universe
  int tag = 0;               // on which it receives
  std::int64_t process = 0;  // what process_identity.hpp watches it by, 0: can't be watched from here
  bool has_closed = false;   // it said its end, or died: it neither sends nor takes blocks any more
  bool told_end = false;     // we said ours
  bool is_gone = false;      // its process is not there any more
  bool has_died = false;     // and was not a look before, and has not said its end
};

// What this end of a stream may do.
struct Mode {
  bool reads = false;
  bool writes = false;
};

}  // namespace ardoise::vmpi
