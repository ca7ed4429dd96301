// Appends to the command file in the output folder (instrument/settings/control_file.hpp): for `ardoise control` and
// for rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "instrument/settings/control_file.hpp"

namespace ardoise::analyzer {

struct Appended {
  std::uint32_t number = 0;  // of the command; 0: it was not appended
  bool is_busy = false;      // another process is appending
  std::string why;           // reason of the failure
};

enum class WhenBusy : std::uint8_t { kWait, kReturn };

// Appends atomically, with a new number, unless the file would become longer than most_bytes.
[[nodiscard]] Appended append_command(const std::filesystem::path& folder, const instrument::ControlCommand& command,
                                      WhenBusy when_busy, std::size_t most_bytes = instrument::kMaxControlBytes);

}  // namespace ardoise::analyzer
