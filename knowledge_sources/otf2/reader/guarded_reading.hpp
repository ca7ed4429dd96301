// OTF2 trusts the content of files between records: a damaged archive can make it crash. So a command that reads an
// archive does it in a child process, and a crash becomes a sentence.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ardoise::knowledge_sources {

// Notes what this process is reading, for the sentence: "its global definitions", or "events of" location 7. what: a
// static text.
void note_reading(const char* what, std::uint64_t location = UINT64_MAX);

struct GuardedEnd {
  int status = 0;     // result of `work`
  std::string crash;  // "" or: "crashed with signal 11 (Segmentation fault) while it read events of location 7"
};

// Runs work in a child process, which inherits open files, and waits for it. Requires a single-threaded process.
[[nodiscard]] GuardedEnd read_guarded(const std::function<int()>& work);

}  // namespace ardoise::knowledge_sources
