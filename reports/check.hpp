// Shared parts of check_model(); see model_check.hpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <tuple>
#include <vector>

#include "reports/model_fields.hpp"

namespace ardoise::reports {

inline constexpr std::size_t kMaxBuckets = 65;  // sizes of 1 to 64 bits, and size 0

// Keeps the first error.
class Check {
 public:
  template <class... Args>
  void require(bool holds, fmt::format_string<Args...> sentence, Args&&... args) {
    if (!holds && error.empty()) error = fmt::format(sentence, std::forward<Args>(args)...);
  }
  std::string error;
};

// All floating-point numbers in `v` are finite and not negative.
template <class T>
bool numbers_are_sane(const T& v) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isfinite(v) && v >= 0;
  } else if constexpr (std::is_same_v<T, SizeHistogram>) {
    return v.calls.size() <= kMaxBuckets;
  } else if constexpr (kIsStruct<T>) {
    return std::apply([&](const auto&... field) { return (numbers_are_sane(v.*(field.member)) && ...); }, kFields<T>);
  } else {
    return true;
  }
}

template <class T>
void check_each(Check& check, const std::string& place, const std::vector<T>& list) {
  const auto bad = std::find_if_not(list.begin(), list.end(), numbers_are_sane<T>);
  check.require(bad == list.end(), "{}[{}] has a negative or infinite number, or more than {} size buckets", place,
                bad - list.begin(), kMaxBuckets);
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
