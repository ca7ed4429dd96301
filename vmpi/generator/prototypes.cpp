// Understands what an mpi.h contains: declarations and attributes, no function bodies.
#include "vmpi/generator/prototypes.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace ardoise::generator {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string collapse(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// Position after the parenthesis that closes the one at `open`.
std::size_t after_parentheses(const std::string& text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i + 1;
  }
  return text.size();
}

std::string without_attributes(std::string text) {
  for (std::size_t at; (at = text.find("__attribute__")) != std::string::npos;) {
    const auto open = text.find('(', at);
    if (open == std::string::npos) break;
    text.erase(at, after_parentheses(text, open) - at);
  }
  return text;
}

// Declarations end at ';'. Braces (extern "C" {, structures) only separate: the inside of a structure has no '('.
std::vector<std::string> declarations_of(std::string_view text) {
  std::vector<std::string> declarations;
  std::string current;
  bool at_line_start = true;
  bool in_directive = false;
  bool in_string = false;
  for (const char c : text) {
    if (in_directive) {
      in_directive = c != '\n';
      at_line_start = !in_directive;
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (c == '#' && at_line_start) {
      in_directive = true;
    } else if (!in_string && (c == ';' || c == '{' || c == '}')) {
      declarations.push_back(collapse(without_attributes(current)));
      current.clear();
    } else {
      current += c;
    }
    at_line_start = c == '\n';
  }
  return declarations;
}

std::vector<std::string> split_parameters(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (auto& part : parts) part = collapse(part[0] == ' ' ? part.substr(1) : part);
  if (parts.size() == 1 && (parts[0].empty() || parts[0] == "void")) parts.clear();
  return parts;
}

Parameter parse_parameter(const std::string& text, std::size_t position) {
  if (text == "...") return {text, text};
  auto end = text.find('[');
  if (end == std::string::npos) end = text.size();
  while (end > 0 && text[end - 1] == ' ') --end;
  auto begin = end;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  // A single word is a type without a name.
  const bool named = begin != end && begin != 0;
  if (named) return {text, text.substr(begin, end - begin)};
  const auto name = "arg" + std::to_string(position);
  return {text.substr(0, end) + " " + name + text.substr(end), name};
}

}  // namespace

std::vector<Prototype> parse_prototypes(std::string_view preprocessed) {
  std::vector<Prototype> prototypes;
  std::set<std::string> seen;
  for (const auto& declaration : declarations_of(preprocessed)) {
    const auto open = declaration.find('(');
    if (open == std::string::npos || declaration.starts_with("typedef")) continue;
    auto end = open;
    while (end > 0 && declaration[end - 1] == ' ') --end;
    auto begin = end;
    while (begin > 0 && is_word(declaration[begin - 1])) --begin;
    Prototype prototype;
    prototype.name = declaration.substr(begin, end - begin);
    if (!prototype.name.starts_with("MPI_") && !prototype.name.starts_with("MPIX_")) continue;
    prototype.return_type = collapse(declaration.substr(0, begin));
    if (prototype.return_type.starts_with("extern ")) prototype.return_type.erase(0, 7);
    if (prototype.return_type.empty() || !seen.insert(prototype.name).second) continue;
    const auto close = after_parentheses(declaration, open);
    const auto parts = split_parameters(declaration.substr(open + 1, close - open - 2));
    for (std::size_t i = 0; i < parts.size(); ++i) prototype.parameters.push_back(parse_parameter(parts[i], i));
    prototypes.push_back(std::move(prototype));
  }
  return prototypes;
}

}  // namespace ardoise::generator
