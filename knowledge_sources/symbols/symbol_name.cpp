#include "knowledge_sources/symbols/symbol_name.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace ardoise::knowledge_sources {
namespace {

// Function names only. The demangler interprets other text as a type name: a C function `f` would be `float`.
std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? text.get() : name;
}

bool is_copy(std::string_view suffix) {
  constexpr std::string_view kCopies[] = {".constprop.", ".isra.", ".part.", ".cold", ".lto_priv."};
  return std::ranges::any_of(kCopies, [&](std::string_view copy) { return suffix.starts_with(copy); });
}

// "_omp_fn.0" of GCC counts from 0; ".omp_outlined" of Clang has a number except for the first.
std::string region(std::string_view suffix) {
  constexpr std::string_view kGcc = "._omp_fn.", kClang = ".omp_outlined";
  if (suffix.starts_with(kGcc)) {
    return fmt::format(" [OpenMP region {}]", std::atoi(suffix.substr(kGcc.size()).data()) + 1);
  }
  if (!suffix.starts_with(kClang)) return "";
  suffix.remove_prefix(kClang.size());
  const auto digits = suffix.find_first_of("0123456789");
  return digits == std::string_view::npos ? " [OpenMP region]"
                                          : fmt::format(" [OpenMP region {}]", std::atoi(suffix.substr(digits).data()));
}

}  // namespace

std::string readable_symbol(const std::string& symbol) {
  const std::size_t dot = symbol.find('.');
  if (dot == std::string::npos || dot == 0) return demangled(symbol);
  const std::string_view suffix = std::string_view(symbol).substr(dot);
  const std::string part = region(suffix);
  if (part.empty() && !is_copy(suffix)) return demangled(symbol);
  return demangled(symbol.substr(0, dot)) + part;
}

}  // namespace ardoise::knowledge_sources
