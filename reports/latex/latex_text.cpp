#include "reports/latex/latex_text.hpp"

#include <fmt/format.h>

#include "reports/text/utf8.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kLongWord = 24;

void append_escaped(std::string& out, char32_t c) {
  constexpr std::string_view kWithBackslash = "{}#$%&_";
  if (c == '\\') {
    out += "\\textbackslash{}";
  } else if (c == '~') {
    out += "\\textasciitilde{}";
  } else if (c == '^') {
    out += "\\textasciicircum{}";
  } else if (c == '[' || c == '*') {  // else LaTeX takes it as an argument of \\ or \item
    out += fmt::format("{{{}}}", static_cast<char>(c));
  } else if (c < 0x20 || c >= 0x7F) {
    out += fmt::format("\\U{{{:04X}}}", static_cast<std::uint32_t>(c));
  } else {
    if (kWithBackslash.find(static_cast<char>(c)) != std::string_view::npos) out += '\\';
    out += static_cast<char>(c);
  }
}

bool letter(char32_t c) {
  return c > 0x7F || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

std::string escaped(const std::string& text, bool code) {
  std::string out;
  std::size_t word = 0;  // characters since the last possible break
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (!code && c == ' ' && text[at] == '%') {  // no line break between a number and %
      out += "\\,";
      word = 0;
      continue;
    }
    append_escaped(out, c);
    word = c == ' ' ? 0 : word + 1;
    if (at == text.size() || c == ' ') continue;
    if (code && !letter(c) && word > 3) {
      out += "\\B{}";
      word = 0;
    } else if (word >= kLongWord || (code && word >= 14)) {
      out += "\\C{}";
    }
  }
  return out;
}

}  // namespace

std::string latex(std::string_view text) { return escaped(printable(text), false); }

std::string latex_code(std::string_view text, std::size_t most_columns) {
  return "\\code{" + escaped(shortened(printable(text), most_columns), true) + "}";
}

std::string latex_bookmark(std::string_view text) {
  std::string out;
  const std::string clean = shortened(printable(text), 60);
  for (std::size_t at = 0; at < clean.size();) {
    const char32_t c = next_code_point(clean, at);
    const bool plain = c < 0x80 && (letter(c) || c == ' ' || c == '-' || c == '.' || c == '/' || c == ':' || c == ',');
    out += plain ? static_cast<char>(c) : ' ';
  }
  return out;
}

}  // namespace ardoise::reports
