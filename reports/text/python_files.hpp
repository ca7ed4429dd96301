// Files that are part of the language for most Python programs: a line of the program itself says more than theirs.
#pragma once

#include <string_view>

namespace ardoise::reports {

// The standard library, NumPy, SciPy, MPI for Python, and code that Python makes ("<frozen importlib._bootstrap>").
[[nodiscard]] inline bool is_python_library(std::string_view path) {
  const auto contains = [&](std::string_view part) { return path.find(part) != std::string_view::npos; };
  if (path.starts_with('<')) return path != "<string>" && path != "<stdin>";
  if (contains("-packages/"))
    return contains("-packages/numpy/") || contains("-packages/scipy/") || contains("-packages/mpi4py/");
  return contains("/lib/python3");
}

}  // namespace ardoise::reports
