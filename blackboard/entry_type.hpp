// The type of a data entry: a hash of (level, name), so that knowledge sources and entry names can exist once per
// program (paper "online-analysis-server", III.B).
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string_view>

namespace ardoise::blackboard {

struct EntryType {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(EntryType, EntryType) = default;
};

// FNV-1a over level, a separator and name. The empty level is shared by all programs.
constexpr EntryType entry_type(std::string_view level, std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto mix = [&hash](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  };
  mix(level);
  hash = (hash ^ 0x1fu) * 0x100000001b3u;
  mix(name);
  return {hash};
}

}  // namespace ardoise::blackboard

template <>
struct std::hash<ardoise::blackboard::EntryType> {
  std::size_t operator()(ardoise::blackboard::EntryType type) const noexcept { return type.value; }
};
