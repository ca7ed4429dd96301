// Writes the structs of the model as JSON, straight into a sink, without a tree in memory: 100,000 ranks with their
// edges are hundreds of megabytes. Driven by the tables of model_fields.hpp. Used by model_json.cpp only.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "reports/model_fields.hpp"

namespace ardoise::reports {

// Writes one value after the other, commas and line breaks included. The sink gets pieces of about kFlush bytes.
class JsonWriter {
 public:
  using Sink = std::function<void(std::string_view)>;
  explicit JsonWriter(Sink sink) : sink_(std::move(sink)) {}

  // `v` points to a value of the type.
  void value(const Type& type, const void* v);
  // Adds a member to the object that is being written; keys need no escapes.
  void member(std::string_view key, const nlohmann::json& v);
  void flush();

 private:
  static constexpr std::size_t kFlush = 1U << 16;
  static constexpr int kArrayDigits = 9;  // a nanosecond in a second; half the size of all digits

  void number(double v, int digits);  // significant ones; 0: as many as it takes to read the same value back
  void json(const nlohmann::json& v);
  void object(const Type& type, const void* v);
  void array(const Type& type, const void* list);
  void key(std::string_view key);
  void new_line();

  Sink sink_;
  std::string out_;
  int depth_ = 0;
  bool first_ = true;  // no comma before the next member
  bool one_line_ = false;
};

// Called for each program after its own members: derived values that readers skip.
void derived_members(JsonWriter& writer, const Application& application);

}  // namespace ardoise::reports
