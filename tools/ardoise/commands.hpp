// What is said of a first word that is no command, no launcher and no program.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ardoise::launcher {

// Throws UsageError for a word that is no option, no path and no program in PATH or here: it names the command that was
// probably meant, or all of them. mpi_launcher.hpp judges the other words.
void check_first_word(const std::string& word);

// How many letters differ, are missing, are too many or are swapped with their neighbour.
[[nodiscard]] std::size_t typing_errors(std::string_view typed, std::string_view meant);

}  // namespace ardoise::launcher
