// Reads JSON straight into the structs of the model, driven by the tables of model_fields.hpp, without a tree in memory
// and without recursion. The bytes are not trusted: every value is checked against the type and range of its member,
// and the first that does not fit ends the reading with its place ("applications[0].edges[17].target"). Used by
// model_json.cpp and by the fuzz target.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "reports/model.hpp"
#include "reports/result.hpp"

namespace ardoise::reports {

struct SlotOps;

// Where the next JSON value goes: an object in the model and how to fill it. Without ops the value is skipped.
struct Slot {
  void* object = nullptr;
  const SlotOps* ops = nullptr;
};

struct Scalar {
  enum class Kind { null, boolean, integer, real, string } kind = Kind::null;
  bool negative = false;        // integer
  std::uint64_t magnitude = 0;  // integer, boolean
  double real = 0;              // integer too
  std::string* string = nullptr;
};

// How values get into one type of the model. A null function: such a value is an error.
struct SlotOps {
  const char* expected;                               // "an integer from 0 to 4294967295"
  bool (*assign)(void* object, const Scalar& value);  // false: type or range is wrong
  void (*begin)(void* object, bool array);            // before the first element or member
  Slot (*member)(void* object, const std::string& key);
  Slot (*element)(void* object);
};

// Fills `run` from JSON text, the values only: whether they fit together is model_check's question. The error says
// what is wrong and where, without a file name.
[[nodiscard]] Outcome read_json(std::string_view text_untrusted, Run& run);

}  // namespace ardoise::reports
