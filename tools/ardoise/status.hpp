// `ardoise status`: where the ranks of a running launch are, and the summary of what was measured so far.
#pragma once

namespace ardoise::launcher {

// The command; argv[0] is "status". Returns the exit status: 1 where no launch is running, or has run, there.
[[nodiscard]] int status(int argc, char** argv);

}  // namespace ardoise::launcher
