// The number of a name that a program gives to its marks (MarkExtension::name): a hash, equal in all processes.
#pragma once

#include <cstdint>
#include <string_view>

namespace ardoise::instrument {

// FNV-1a. 0 means no name.
[[nodiscard]] constexpr std::uint32_t mark_name_id(std::string_view name) {
  std::uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash == 0 ? 1 : hash;
}

}  // namespace ardoise::instrument
