// What an analyzer leaves for the launcher in the file of its --status-file: its exit status, or how far it came.
#pragma once

#include <chrono>

namespace ardoise::analyzer {

inline constexpr const char* kStateRunning = "running";    // it takes events
inline constexpr const char* kStateUnjoined = "unjoined";  // with a program that has MPI without our library

// How long an analyzer waits in the last of these states for the launcher to end it.
inline constexpr std::chrono::seconds kPatienceOfUnjoined{10};

// Exit status of --snapshot where nobody answers.
inline constexpr int kNotRunning = 3;

}  // namespace ardoise::analyzer
