// `ardoise control`: tells the processes of a running launch to change settings (instrument/settings/control_file.hpp), and
// waits until each says that it has done so.
#pragma once

#include "analyzer/options/options.hpp"

namespace ardoise::analyzer {

// The exit status: kDone when all have done it. Without settings it prints what was told so far.
[[nodiscard]] int control(const Options& options);

}  // namespace ardoise::analyzer
