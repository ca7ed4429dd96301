// Exception of all commands for a user's mistake.
#pragma once

#include <stdexcept>

namespace ardoise::launcher {

// One sentence for the user: the mistake, and the remedy.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ardoise::launcher
