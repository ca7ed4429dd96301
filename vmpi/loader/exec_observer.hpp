// Observer of each exec attempt in this process or a child of it.
#pragma once

namespace ardoise::vmpi {

// Both functions are async-signal-safe.
struct ExecObserver {
  // program: a path, or a name to search in PATH; nullptr: an open file.
  void (*begin)(const char* program) noexcept = nullptr;
  void (*failed)() noexcept = nullptr;
};
void observe_exec(const ExecObserver& observer) noexcept;

}  // namespace ardoise::vmpi
