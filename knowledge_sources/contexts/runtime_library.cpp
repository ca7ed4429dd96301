#include "knowledge_sources/contexts/runtime_library.hpp"

#include <algorithm>

namespace ardoise::knowledge_sources {

bool is_runtime_library(std::string_view path) {
  constexpr std::string_view kNames[] = {"libc.so",    "libc-",      "libm.so",   "libm-",        "libmvec.",
                                         "libpthread", "libstdc++.", "libgcc_s.", "libgfortran.", "libquadmath.",
                                         "libflang",   "ld-linux",   "libgomp.",  "libomp.",      "libiomp5."};
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::ranges::any_of(kNames, [&](std::string_view known) { return name.starts_with(known); });
}

std::string entry_name(const std::string& symbol) {
  if (symbol.find_first_of("(: ") != std::string::npos) return symbol;  // C++
  std::string_view name = symbol;
  const auto without = [&name](std::string_view prefix) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  };
  without("__GI_");
  if (!name.starts_with("__libc_start")) without("__libc_");
  name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
  std::size_t end = name.size();  // suffixes of processor-specific variants
  for (const std::string_view variant : {"_fma", "_avx", "_sse", "_ssse", "_evex", "_unaligned", "_erms"}) {
    end = std::min(end, name.find(variant));
  }
  return end == 0 ? symbol : std::string(name.substr(0, end));
}

}  // namespace ardoise::knowledge_sources
