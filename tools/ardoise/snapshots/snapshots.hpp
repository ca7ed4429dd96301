// `ardoise snapshots`: lists, sums, merges, cuts and converts files of snapshots (docs/guide/snapshots.md).
#pragma once

namespace ardoise::launcher {

// The command; argv[0] is "snapshots". Returns the exit status.
[[nodiscard]] int snapshots(int argc, char** argv);

}  // namespace ardoise::launcher
