// The name that was probably meant by a mistyped one.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace ardoise::launcher {

// Number of letters that differ, are missing, are extra, or are swapped with their neighbour.
[[nodiscard]] std::size_t typing_errors(std::string_view typed, std::string_view meant);

// The most similar of these names; "": none is similar.
[[nodiscard]] std::string_view similar_name(std::string_view typed, std::span<const std::string_view> names);

}  // namespace ardoise::launcher
