// Draws figure 6 of the adaptive sampling paper: for each scenario the use of the buffer and the sampling rate over
// time.
#pragma once

#include <string>
#include <vector>

#include "tests/instrument/adaptive_model.hpp"

namespace ardoise::bench {

struct Panel {
  instrument::ModelScenario scenario;
  instrument::ModelResult result;
};

// One panel below the other, as SVG. False: the file can't be written.
[[nodiscard]] bool draw_figure6(const std::string& path, const std::vector<Panel>& panels);

}  // namespace ardoise::bench
