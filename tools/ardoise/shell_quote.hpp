// Words as one line that a shell would split into the same words again.
#pragma once

#include <string>
#include <vector>

namespace ardoise::launcher {

[[nodiscard]] std::string shell_quote(const std::vector<std::string>& words);

}  // namespace ardoise::launcher
