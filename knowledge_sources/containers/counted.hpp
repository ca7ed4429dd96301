// Counts in sentences.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace ardoise::knowledge_sources {

// "1 record", "3 records".
inline std::string counted(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// "1 record is", "3 records are": with a matching verb.
inline std::string counted(std::uint64_t count, std::string_view what, std::string_view verb_of_one,
                           std::string_view verb_of_several) {
  return fmt::format("{} {}", counted(count, what), count == 1 ? verb_of_one : verb_of_several);
}

}  // namespace ardoise::knowledge_sources
