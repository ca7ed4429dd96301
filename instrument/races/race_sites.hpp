// Readable names of call sites. The launcher finds them after a recorded run (tools/ardoise/launch/race_folder.cpp) and
// writes them into the record's folder. A line has module, offset and name, separated by tabs. A process cannot read
// debug information itself.
#pragma once

#include <string>
#include <string_view>

#include "instrument/format/race_tokens.hpp"

namespace ardoise::instrument {

[[nodiscard]] inline std::string_view module_file(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "solve() at solver.c:120", or, without debug information, "solver+0x1234".
[[nodiscard]] std::string site_name(const std::string& folder, const RaceKey& key);

}  // namespace ardoise::instrument
