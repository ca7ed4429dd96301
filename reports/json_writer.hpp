// Writes the structs of the model as JSON into a sink, without a tree in memory: 100,000 ranks with their edges are
// hundreds of megabytes. Driven by the tables of model_fields.hpp. Used by model_json.cpp only.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "reports/extensions.hpp"
#include "reports/model_fields.hpp"

namespace ardoise::reports {

// Writes values with commas and line breaks. The sink gets pieces of about kFlush bytes.
class JsonWriter {
 public:
  using Sink = std::function<void(std::string_view)>;
  explicit JsonWriter(Sink sink) : sink_(std::move(sink)) {}

  template <class T>
  void value(const T& v);
  // A member of the current object; keys need no escapes.
  template <class T>
  void member(std::string_view key, const T& v);
  void flush();

 private:
  static constexpr std::size_t kFlush = 1U << 16;
  static constexpr int kArrayDigits = 9;  // a nanosecond in a second; half the size of all digits

  void number(double v, int digits);  // significant digits; 0: as many as needed to read the same value back
  void separator();
  template <class T>
  void object(const T& v);
  template <class T>
  void array(const std::vector<T>& v);

  Sink sink_;
  fmt::memory_buffer out_;
  int depth_ = 0;
  bool first_ = true;  // no comma before the next member
  bool one_line_ = false;
};

// Called for each object of type T after its members, for derived values that readers skip. Overload it for a type.
void derived_members(JsonWriter& writer, const Application& application);
template <class T>
void derived_members(JsonWriter&, const T&) {}

template <class T>
void JsonWriter::object(const T& v) {
  const bool outer_first = first_, outer_line = one_line_;
  one_line_ = one_line_ || kOneLine<T>;
  first_ = true;
  ++depth_;
  out_.push_back('{');
  std::apply([&](const auto&... field) { (member(field.key, v.*(field.member)), ...); }, kFields<T>);
  derived_members(*this, v);
  --depth_;
  if (!one_line_ && !first_) fmt::format_to(std::back_inserter(out_), "\n{:{}}", "", depth_);
  out_.push_back('}');
  first_ = outer_first;
  one_line_ = outer_line;
}

template <class T>
void JsonWriter::member(std::string_view key, const T& v) {
  separator();
  fmt::format_to(std::back_inserter(out_), "\"{}\":{}", key, one_line_ ? "" : " ");
  value(v);
}

template <class T>
void JsonWriter::array(const std::vector<T>& v) {
  out_.push_back('[');
  const bool lines = !std::is_arithmetic_v<T> && !one_line_;
  ++depth_;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (i != 0) out_.push_back(',');
    if (lines) fmt::format_to(std::back_inserter(out_), "\n{:{}}", "", depth_);
    if constexpr (std::is_floating_point_v<T>) {
      number(static_cast<double>(v[i]), std::is_same_v<T, float> ? 4 : kArrayDigits);
    } else {
      value(v[i]);
    }
    if (out_.size() >= kFlush) flush();
  }
  --depth_;
  if (lines && !v.empty()) fmt::format_to(std::back_inserter(out_), "\n{:{}}", "", depth_);
  out_.push_back(']');
}

template <class T>
void JsonWriter::value(const T& v) {
  if constexpr (std::is_same_v<T, bool>) {
    fmt::format_to(std::back_inserter(out_), "{}", v);
  } else if constexpr (std::is_floating_point_v<T>) {
    number(static_cast<double>(v), one_line_ ? kArrayDigits : 0);
  } else if constexpr (std::is_integral_v<T>) {
    const fmt::format_int digits(v);
    out_.append(digits.data(), digits.data() + digits.size());
  } else if constexpr (std::is_same_v<T, SizeHistogram>) {
    array(v.calls);
  } else if constexpr (std::is_same_v<T, decltype(Application::extensions)>) {
    value(v == nullptr ? nlohmann::json::object() : *v);
  } else if constexpr (std::is_same_v<T, nlohmann::json> || std::is_same_v<T, std::string>) {
    const nlohmann::json& json = v;
    const std::string dump = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    out_.append(dump.data(), dump.data() + dump.size());
  } else if constexpr (kIsStruct<T>) {
    object(v);
  } else {
    array(v);
  }
  if (out_.size() >= kFlush) flush();
}

}  // namespace ardoise::reports
