// Expected failures in reports/: one sentence that names the thing and what to do.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace ardoise::reports {

// Success, or an error sentence. `if (Outcome o = f(); !o) print(o.error)`.
struct [[nodiscard]] Outcome {
  std::string error;
  explicit operator bool() const { return error.empty(); }
};

// A value, or an error sentence.
template <class T>
struct [[nodiscard]] Result {
  std::optional<T> value;
  std::string error;  // empty if there is a value

  static Result ok(T v) { return {std::optional<T>(std::move(v)), {}}; }
  static Result fail(std::string sentence) { return {std::nullopt, std::move(sentence)}; }
  explicit operator bool() const { return value.has_value(); }
};

}  // namespace ardoise::reports
