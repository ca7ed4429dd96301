// What a user reads first, on standard output and in summary.txt: for each program its findings, top calls, call sites
// and connections. At most about 40 lines a program, 100 columns.
#pragma once

#include <string>

#include "reports/model.hpp"

namespace ardoise::reports {

[[nodiscard]] std::string summary_text(const Run& run);

}  // namespace ardoise::reports
