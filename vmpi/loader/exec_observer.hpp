// The observer of each attempt to become another program (exec), in this process or a child of it.
#pragma once

namespace ardoise::vmpi {

// Both async-signal-safe.
struct ExecObserver {
  // program: a path, or a name to look for in PATH; nullptr: an open file.
  void (*begin)(const char* program) noexcept = nullptr;
  void (*failed)() noexcept = nullptr;
};
void observe_exec(const ExecObserver& observer) noexcept;

}  // namespace ardoise::vmpi
