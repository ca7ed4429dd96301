// The user's launch line, taken apart: launcher, options, and one app context for each program between two ":". The
// parts keep every word of the user's in its order, so that putting them together again gives the line that was read.
// Used by launch_plan.hpp, which adds the measurement to it; knows nothing of what Ardoise is.
//
// Options are those of Open MPI's mpirun (4.1, `mpirun --help all`, and the ones version 5 added) or of Hydra, the
// mpirun of MPICH: to find where an app context's program begins one has to know how many words each option takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/ardoise/common/usage_error.hpp"

namespace ardoise::launcher {

enum class LauncherKind { kOpenMpi, kHydra };

struct LauncherOption {
  std::string name;                 // as written, "-np" or "--np"; Hydra: perhaps "-n=4"
  std::vector<std::string> values;  // its arguments

  // Its name without dashes and without "=4".
  [[nodiscard]] std::string_view bare_name() const;
  // Its only argument, or the last one.
  [[nodiscard]] std::string value() const;
  // What it gives to an environment variable, if it is the option `bare` (-x, -env or -genv) and of this variable:
  // NAME=VALUE, or in Hydra NAME VALUE.
  [[nodiscard]] std::optional<std::string> value_for(std::string_view bare, std::string_view variable) const;
};

struct AppContext {
  std::vector<LauncherOption> options;
  std::string program;                 // as written
  std::vector<std::string> arguments;  // of the program

  // The last option with one of these names (without leading dashes), or nullptr.
  [[nodiscard]] const LauncherOption* find(std::initializer_list<std::string_view> names) const;
  // Processes asked for with -n and its synonyms. Throws UsageError when that is no number.
  [[nodiscard]] std::optional<unsigned> processes() const;
};

struct LaunchLine {
  std::string launcher;  // as written: "mpirun", "/opt/openmpi/bin/mpiexec"
  std::vector<AppContext> contexts;

  [[nodiscard]] bool has(std::initializer_list<std::string_view> names) const;  // in any context
};

// Words of the options that `name` (with its dashes) takes; nothing: mpirun has no such option.
[[nodiscard]] std::optional<unsigned> option_arity(std::string_view name, LauncherKind kind = LauncherKind::kOpenMpi);

// words[0] is the launcher. Reads the file of --app (Open MPI) or -configfile (Hydra). Throws UsageError.
[[nodiscard]] LaunchLine parse_launch_line(const std::vector<std::string>& words,
                                           LauncherKind kind = LauncherKind::kOpenMpi);

// The words again.
[[nodiscard]] std::vector<std::string> to_words(const LaunchLine& line);

}  // namespace ardoise::launcher
