// The losses of a program, for tests.
#pragma once

#include <map>
#include <string>

#include "reports/losses/losses.hpp"

namespace ardoise::reports::testing {

[[nodiscard]] inline std::map<std::string, Loss> losses_by_code(const Application& application) {
  std::map<std::string, Loss> found;
  for (const Loss& loss : losses_of(RunView(application))) found[loss.code] = loss;
  return found;
}

}  // namespace ardoise::reports::testing
