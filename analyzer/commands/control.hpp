// `ardoise control`: tells the processes of a running launch to change settings (instrument/settings/control_file.hpp),
// and waits until each confirms.
#pragma once

#include "analyzer/options/options.hpp"

namespace ardoise::analyzer {

// The exit status: kDone when all processes confirmed. Without settings it prints the commands so far.
[[nodiscard]] int control(const Options& options);

}  // namespace ardoise::analyzer
