// What an analyzer leaves for the launcher in the file of its --status-file: its exit status, or how far it came.
#pragma once

namespace ardoise::analyzer {

inline constexpr const char* kStateRunning = "running";  // it takes events

// Exit status of --snapshot where nobody answers.
inline constexpr int kNotRunning = 3;

}  // namespace ardoise::analyzer
