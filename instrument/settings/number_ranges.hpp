// Lists of numbers such as ranks, as a user writes them: "3", "0-3,8". Only ranges_text allocates or throws.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "instrument/settings/option.hpp"

namespace ardoise::instrument {

// False if the text is not a number; `number` may have changed then.
[[nodiscard]] inline bool read_number(std::string_view text, std::uint32_t& number) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

struct NumberRange {
  std::uint32_t first = 0, last = 0;  // first <= last
  [[nodiscard]] bool contains(std::uint32_t number) const noexcept { return first <= number && number <= last; }
};

// "3" or "0-3". False: neither.
[[nodiscard]] inline bool read_range(std::string_view text, NumberRange& range) noexcept {
  const std::size_t dash = text.find('-');
  return read_number(text.substr(0, dash), range.first) &&
         read_number(dash == text.npos ? text : text.substr(dash + 1), range.last) && range.first <= range.last;
}

// Calls use(range) for each of "0-3,8". False at the first invalid one; those before it were used.
template <class Use>
bool for_each_range(std::string_view text, Use&& use) {
  do {
    NumberRange range;
    if (!read_range(take_word(text, ','), range)) return false;
    use(range);
  } while (!text.empty());
  return true;
}
[[nodiscard]] inline bool are_ranges(std::string_view text) {
  return for_each_range(text, [](const NumberRange&) {});
}

// The inverse, for numbers in ascending order.
[[nodiscard]] inline std::string ranges_text(std::span<const std::uint32_t> sorted) {
  std::string text;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i + 1;
    while (end < sorted.size() && sorted[end] == sorted[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(sorted[i]);
    if (end - i > 1) text += '-' + std::to_string(sorted[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace ardoise::instrument
