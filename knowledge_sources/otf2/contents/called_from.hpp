// The description of a region: its call site. For MPI functions it includes the source file, since the region's own
// source file is "MPI", as in traces of Score-P, by which Scalasca identifies them.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

namespace ardoise::knowledge_sources {

inline constexpr std::string_view kMpiSourceFile = "MPI";

// "called in solve", "called in solve at /src/solver.c"; symbol "": unknown.
[[nodiscard]] inline std::string called_from_text(std::string_view symbol, std::string_view source_file) {
  if (symbol.empty()) return "";
  return source_file.empty() ? fmt::format("called in {}", symbol)
                             : fmt::format("called in {} at {}", symbol, source_file);
}

struct CalledFrom {
  std::string_view symbol, source_file;  // source_file "": not given
};
// nullopt: another kind of description.
[[nodiscard]] inline std::optional<CalledFrom> read_called_from(std::string_view description) {
  constexpr std::string_view kCalledIn = "called in ", kAt = " at ";
  if (!description.starts_with(kCalledIn)) return std::nullopt;
  description.remove_prefix(kCalledIn.size());
  const std::size_t at = description.find(kAt);  // no symbol contains it, a path may
  if (at == description.npos) return CalledFrom{description, ""};
  return CalledFrom{description.substr(0, at), description.substr(at + kAt.size())};
}

}  // namespace ardoise::knowledge_sources
