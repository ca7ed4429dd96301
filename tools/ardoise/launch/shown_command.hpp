// The launch line for profile.json, summary and report, without secrets.
#pragma once

#include <string>

#include "tools/ardoise/launch/launch_line.hpp"

namespace ardoise::launcher {

// Returns the line quoted for a shell. Hides the values of all variables that the line gives to programs (-x, -env,
// -genv, env(1), and Open MPI's parameter mca_base_env_list), and everything that instrument/format/command_secrets.hpp
// lists. `names_only`: returns only the names of launcher and programs.
[[nodiscard]] std::string shown_command(const LaunchLine& line, bool names_only);

}  // namespace ardoise::launcher
