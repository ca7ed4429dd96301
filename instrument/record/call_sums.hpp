// Sums over calls of one function, which are added to the totals of the function and of its calling context.
#pragma once

#include <cstdint>

namespace ardoise::instrument {

struct CallSums {
  std::uint64_t calls = 0, ticks = 0, bytes_sent = 0, bytes_received = 0;
};

}  // namespace ardoise::instrument
