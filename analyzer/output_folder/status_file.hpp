// Content of the --status-file that an analyzer leaves for the launcher: its exit status, or its progress.
#pragma once

#include <chrono>

namespace ardoise::analyzer {

inline constexpr const char* kStateRunning = "running";    // it receives events
inline constexpr const char* kStateUnjoined = "unjoined";  // found a program that uses MPI without our library

// How long an analyzer in state kStateUnjoined waits for the launcher to end it.
inline constexpr std::chrono::seconds kUnjoinedTimeout{10};

// Exit status of --snapshot when no analyzer answers.
inline constexpr int kNotRunning = 3;

}  // namespace ardoise::analyzer
