// Parses the user's launch line into launcher, options, and one app context for each program between two ":". All words
// are kept in their order, so to_words() gives the same line again. launch_plan.hpp adds the measurement; this file
// knows nothing about it.
//
// Options are those of Open MPI's mpirun (4.1, `mpirun --help all`, and those added in version 5) or of Hydra, the
// mpirun of MPICH. To find where an app context's program begins, the parser must know how many words each option
// takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/ardoise/common/usage_error.hpp"

namespace ardoise::launcher {

enum class LauncherKind { kOpenMpi, kHydra };

struct LauncherOption {
  std::string name;                 // as written, "-np" or "--np"; in Hydra also "-n=4"
  std::vector<std::string> values;  // its arguments

  // Name without dashes and without "=4".
  [[nodiscard]] std::string_view bare_name() const;
  // Its last argument.
  [[nodiscard]] std::string value() const;
  // The value for an environment variable, if this is the option `bare` (-x, -env or -genv) for this variable:
  // NAME=VALUE, or in Hydra NAME VALUE.
  [[nodiscard]] std::optional<std::string> value_for(std::string_view bare, std::string_view variable) const;
};

struct AppContext {
  std::vector<LauncherOption> options;
  std::string program;                 // as written
  std::vector<std::string> arguments;  // of the program

  // The last option with one of these names (without leading dashes), or nullptr.
  [[nodiscard]] const LauncherOption* find(std::initializer_list<std::string_view> names) const;
  // Number of processes from -n and its synonyms. Throws UsageError if it is not a number.
  [[nodiscard]] std::optional<unsigned> processes() const;
};

struct LaunchLine {
  std::string launcher;  // as written: "mpirun", "/opt/openmpi/bin/mpiexec"
  std::vector<AppContext> contexts;

  [[nodiscard]] bool has(std::initializer_list<std::string_view> names) const;  // in any context
};

// Number of words that the option `name` (with its dashes) takes; nullopt: mpirun has no such option.
[[nodiscard]] std::optional<unsigned> option_arity(std::string_view name, LauncherKind kind = LauncherKind::kOpenMpi);

// words[0] is the launcher. Reads the file of --app (Open MPI) or -configfile (Hydra). Throws UsageError.
[[nodiscard]] LaunchLine parse_launch_line(const std::vector<std::string>& words,
                                           LauncherKind kind = LauncherKind::kOpenMpi);

// The words of the line.
[[nodiscard]] std::vector<std::string> to_words(const LaunchLine& line);

}  // namespace ardoise::launcher
