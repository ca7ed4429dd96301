// Refuses first words that are neither a command nor a launcher nor a program, and words after help that are no
// command.
#pragma once

#include <string>

namespace ardoise::launcher {

// Throws UsageError for a word that is no option, no path and no program in PATH or the current directory. The error
// names the command that was probably meant, or all commands. mpi_launcher.hpp judges the other words.
void check_first_word(const std::string& word);

// Checks the word of `ardoise help COMMAND`. Throws UsageError for a word that is no command.
void check_command(const std::string& word);

}  // namespace ardoise::launcher
