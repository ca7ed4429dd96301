// Decoding, cleaning and measuring of text; see utf8.hpp.
#include "reports/text/utf8.hpp"

#include <utf8proc.h>

#include <array>
#include <vector>

namespace ardoise::reports {

namespace {

constexpr char32_t kReplacement = 0xFFFD;

// Includes invisible characters that change how others are shown.
bool is_control(char32_t c) {
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

std::size_t width_of(char32_t c) {
  return static_cast<std::size_t>(utf8proc_charwidth(static_cast<utf8proc_int32_t>(c)));
}

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& at) {
  utf8proc_int32_t c = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
  const utf8proc_ssize_t length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &c);
  if (length < 1) return ++at, kReplacement;
  at += static_cast<std::size_t>(length);
  return static_cast<char32_t>(c);
}

void append_utf8(std::string& out, char32_t c) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const utf8proc_ssize_t length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
  out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) append_utf8(out, next_code_point(text, at));
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    append_utf8(out, is_control(c) ? kReplacement : c);
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t end = text.find('\n');
    out += printable(text.substr(0, end));
    if (end == text.npos) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string without_controls(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (const char32_t c = next_code_point(text, at); !is_control(c)) append_utf8(out, c);
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) width += width_of(next_code_point(text, at));
  return width;
}

std::string shortened(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::vector<char32_t> points;
  for (std::size_t at = 0; at < text.size();) points.push_back(next_code_point(text, at));
  const std::size_t room = columns - 1, head_room = room / 2;
  std::string head;
  std::size_t first = 0, used = 0;
  for (; first < points.size() && used + width_of(points[first]) <= head_room; ++first) {
    append_utf8(head, points[first]);
    used += width_of(points[first]);
  }
  std::size_t last = points.size();
  while (last > first && used + width_of(points[last - 1]) <= room) used += width_of(points[--last]);
  std::string out = head + "…";
  for (; last < points.size(); ++last) append_utf8(out, points[last]);
  return out;
}

}  // namespace ardoise::reports
