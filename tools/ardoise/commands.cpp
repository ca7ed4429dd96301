#include "tools/ardoise/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

#include "reports/text/joined.hpp"
#include "tools/ardoise/common/command_line.hpp"
#include "tools/ardoise/common/similar_name.hpp"
#include "tools/ardoise/common/usage_error.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

bool is_executable_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

bool is_some_program(const std::string& word) {
  if (word.find('/') != std::string::npos || is_executable_file(word)) return true;
  const char* const variable = std::getenv("PATH");
  std::istringstream folders(variable == nullptr ? "" : variable);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.empty() && is_executable_file(fs::path(folder) / word)) return true;
  }
  return false;
}

std::vector<std::string_view> names_of_commands() {
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) names.push_back(command.name);
  names.emplace_back("help");
  return names;
}

// The most similar command or launcher; "": none is similar.
std::string_view probably_meant(const std::string& word) {
  std::vector<std::string_view> known = names_of_commands();
  known.insert(known.end(), {"mpirun", "mpiexec"});
  return similar_name(word, known);
}

}  // namespace

void check_command(const std::string& word) {
  if (command_named(word) == nullptr)
    throw UsageError(fmt::format("there is no command '{}': the commands are {}.", word,
                                 reports::joined(names_of_commands(), ", ")));
}

void check_first_word(const std::string& word) {
  if (word.starts_with('-') || is_some_program(word)) return;
  const std::string_view meant = probably_meant(word);
  if (meant == "mpirun" || meant == "mpiexec") {
    throw UsageError(fmt::format("there is no launcher '{}'; did you mean {}?", word, meant));
  }
  if (!meant.empty()) throw UsageError(fmt::format("there is no command '{}'; did you mean {}?", word, meant));
  throw UsageError(fmt::format(
      "there is no command and no program '{}': the commands are {}, and a launch begins with its launcher, "
      "ardoise mpirun -n 4 ./program.",
      word, reports::joined(names_of_commands(), ", ")));
}

}  // namespace ardoise::launcher
