// Settings that change while programs run, as `ardoise control` and rules (analyzer/rules/) take them.
#pragma once

#include <string>
#include <string_view>

namespace ardoise::instrument {

// "" or the fault in NAME=VALUE …, as a sentence.
[[nodiscard]] std::string fault_of_changes(std::string_view settings);

}  // namespace ardoise::instrument
