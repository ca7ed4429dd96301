// Shared parts of check_model(); see model_check.hpp.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "reports/model_fields.hpp"

namespace ardoise::reports {

// Keeps the first error.
class Check {
 public:
  template <class... Args>
  void require(bool holds, fmt::format_string<Args...> sentence, Args&&... args) {
    if (!holds && error.empty()) error = fmt::format(sentence, std::forward<Args>(args)...);
  }
  std::string error;
};

// All floating-point members of `v`, which points to a value of the type, are finite and not negative. Elements of
// lists are not looked at.
[[nodiscard]] bool numbers_are_sane(const Type& type, const void* v);
template <class T>
bool numbers_are_sane(const T& v) {
  return numbers_are_sane(kType<T>, &v);
}

// The same for each element of a list.
void check_list(Check& check, const std::string& place, const Type& type, const void* list);
template <class T>
void check_each(Check& check, const std::string& place, const std::vector<T>& list) {
  check_list(check, place, kType<std::vector<T>>, &list);
}

template <class T>
void check_cells(Check& check, const std::string& place, const std::vector<T>& cells, std::size_t ranks) {
  check.require(cells.empty() || cells.size() == ranks, "{} has {} cells for {} ranks", place, cells.size(), ranks);
  if constexpr (std::is_floating_point_v<T>) check_each(check, place, cells);
}

// Lists that are read at the same index must have equal lengths.
struct NamedLength {
  const char* name;
  std::size_t length;
};
inline void check_together(Check& check, const std::string& place, std::initializer_list<NamedLength> lists) {
  const NamedLength& first = *lists.begin();
  for (const NamedLength& each : lists) {
    check.require(each.length == first.length, "{0}.{1} has {2} elements and {0}.{3} has {4}, but they belong together",
                  place, first.name, first.length, each.name, each.length);
  }
}

// The rules of SampleProfile: lists that belong together have equal lengths, indices are in range, parents precede
// children.
void check_samples(Check& check, const std::string& at, const SampleProfile& samples, std::uint32_t ranks);

}  // namespace ardoise::reports
