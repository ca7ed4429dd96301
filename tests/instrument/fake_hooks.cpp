// The parts of instrument/hooks to which instrument/process refers, for test programs without hooks.
#include <csignal>

#include "instrument/machine/vfork_child.hpp"
#include "instrument/process/ending/fatal_signals.hpp"

namespace ardoise::instrument {

bool is_vfork_child() noexcept { return false; }

int set_kernel_action(int number, const struct sigaction* action, struct sigaction* before) noexcept {
  return ::sigaction(number, action, before);
}

}  // namespace ardoise::instrument
