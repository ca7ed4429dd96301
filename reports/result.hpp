// How reports/ hands expected failures to its callers: one clear sentence that names the thing and what to do.
// Used by everything here that touches files or child processes.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace ardoise::reports {

// Success, or the sentence that says why not. `if (Outcome o = f(); !o) print(o.error)`.
struct [[nodiscard]] Outcome {
  std::string error;
  explicit operator bool() const { return error.empty(); }
};

// A value, or the sentence that says why there is none.
template <class T>
struct [[nodiscard]] Result {
  std::optional<T> value;
  std::string error;  // empty exactly when there is a value

  static Result ok(T v) { return {std::optional<T>(std::move(v)), {}}; }
  static Result fail(std::string sentence) { return {std::nullopt, std::move(sentence)}; }
  explicit operator bool() const { return value.has_value(); }
};

}  // namespace ardoise::reports
