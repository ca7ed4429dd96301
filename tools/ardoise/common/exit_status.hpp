// The exit statuses of ardoise and its commands.
#pragma once

namespace ardoise::launcher {

// Exit statuses of the launcher's own. Once mpirun has run, it is mpirun's: what passes without us must not fail with
// us, also where there is no report. Only the time limit is ours.
inline constexpr int kFailedStatus = 1;       // `ardoise report` could not render
inline constexpr int kUsageStatus = 2;        // refused before anything was started
inline constexpr int kFaultyTraceStatus = 3;  // `ardoise trace check` has found something wrong, `races` a race
inline constexpr int kTimeLimitStatus = 124;  // the time limit has ended the programs; as of timeout(1)

}  // namespace ardoise::launcher
