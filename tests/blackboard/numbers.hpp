// Entries that carry an int, for tests that need some entries of some types.
#pragma once

#include <cstdint>

#include "blackboard/data_entry.hpp"
#include "blackboard/entry_type.hpp"

namespace ardoise::blackboard {

inline constexpr EntryType kNumber = entry_type("", "number");

inline EntryRef number(int value, EntryType type = kNumber) { return make_entry_of(type, value); }

// Types that are numbered.
inline EntryType kind(int k) { return EntryType{static_cast<std::uint64_t>(k)}; }

inline EntryRef number_of_kind(int k, int value) { return number(value, kind(k)); }

}  // namespace ardoise::blackboard
