// Exit statuses of ardoise and its commands.
#pragma once

namespace ardoise::launcher {

// Exit statuses of the launcher. Once mpirun has run, its status is passed on, even without a report: a job must not
// fail because of Ardoise. The only exception is the time limit.
inline constexpr int kFailedStatus = 1;       // `ardoise report` could not render
inline constexpr int kUsageStatus = 2;        // refused before anything was started
inline constexpr int kFaultyTraceStatus = 3;  // `ardoise trace check` found an error, `races` a race
inline constexpr int kTimeLimitStatus = 124;  // the time limit ended the programs; as timeout(1)

}  // namespace ardoise::launcher
