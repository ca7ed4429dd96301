// Programs that ranks start, as a shell or a converter.
#pragma once

#include <string>

#include "reports/model.hpp"

namespace ardoise::reports {

// The program's function that starts other programs, if these starts take more than this part of the CPU time, with its
// place; "": none.
[[nodiscard]] std::string starter_of_programs(const Application& application, double good_part = 0.03);

}  // namespace ardoise::reports
