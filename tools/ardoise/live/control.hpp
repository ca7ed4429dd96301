// `ardoise control`: settings that change while a launch runs.
#pragma once

namespace ardoise::launcher {

// argv[0] is "control".
[[nodiscard]] int control(int argc, char** argv);

}  // namespace ardoise::launcher
