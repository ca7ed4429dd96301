// Reads JSON into the structs of the model, driven by the tables of model_fields.hpp, without a tree in memory and
// without recursion. The bytes are untrusted: every value is checked against type and range of its member, and the
// first misfit ends the reading with its place ("applications[0].edges[17].target"). Used by model_json.cpp and by the
// fuzz target.
#pragma once

#include <string_view>

#include "reports/model.hpp"
#include "reports/result.hpp"

namespace ardoise::reports {

// Fills `run` from JSON text. Relations between values are checked by check_model(). The error names the fault and the
// place, without a file name.
[[nodiscard]] Outcome read_json(std::string_view text_untrusted, Run& run);

}  // namespace ardoise::reports
