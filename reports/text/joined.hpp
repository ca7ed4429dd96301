// Lists as one string. Header only. fmt::join does the same and compiles formatting anew in each file that uses it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>

namespace ardoise::reports {

// `parts`: strings or numbers. joined({1, 2, 3}, ", ") is "1, 2, 3".
template <class Parts>
[[nodiscard]] std::string joined(const Parts& parts, std::string_view between) {
  std::string text;
  bool first = true;
  for (const auto& part : parts) {
    if (!first) text += between;
    first = false;
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(part)>>) {
      text += fmt::format("{}", part);
    } else {
      text += part;
    }
  }
  return text;
}

}  // namespace ardoise::reports
