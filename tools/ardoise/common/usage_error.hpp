// All commands throw this for a mistake of the user's.
#pragma once

#include <stdexcept>

namespace ardoise::launcher {

// One sentence for the user: what is wrong with what they typed, and what to do.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ardoise::launcher
