// The text of docs/reference/losses.md, which the build puts into the command.
#pragma once

#include <string_view>

namespace ardoise::launcher {

[[nodiscard]] std::string_view loss_pages();

}  // namespace ardoise::launcher
