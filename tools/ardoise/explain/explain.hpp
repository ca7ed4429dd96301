// `ardoise explain`: prints the sections of docs/reference/losses.md on losses, for a terminal of 80 columns.
#pragma once

#include <string>
#include <string_view>

#include "tools/ardoise/common/command_line.hpp"

namespace ardoise::launcher {

// All codes with their names.
[[nodiscard]] std::string listed_losses();
// The section on a code. Throws UsageError, with the code that was probably meant, if there is no such code.
[[nodiscard]] std::string explained_loss(std::string_view code);

// Markdown without its marks: paragraphs and lists of numbers are wrapped, code is indented below the name of its
// language.
[[nodiscard]] std::string terminal_text(std::string_view markdown);

// Returns the exit status.
[[nodiscard]] int explain(const CommandLine& line);

}  // namespace ardoise::launcher
