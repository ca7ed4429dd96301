// OTF2 trusts what is in a file between its records: a damaged archive can make it crash. A command that reads an
// archive therefore does so in a process of its own, and a crash becomes a sentence.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ardoise::knowledge_sources {

// What is being read in this process, for the sentence: "its global definitions", or "events of" location 7.
// what: a text that stays.
void note_reading(const char* what, std::uint64_t location = UINT64_MAX);

struct GuardedEnd {
  int status = 0;     // what `work` returned
  std::string crash;  // "" or: "crashed with signal 11 (Segmentation fault) while it read events of location 7"
};

// Runs work in a child process, which has this one's files, and waits for it. Not with other threads in this process.
[[nodiscard]] GuardedEnd read_guarded(const std::function<int()>& work);

}  // namespace ardoise::knowledge_sources
