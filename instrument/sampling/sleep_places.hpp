// The places where the first thread sleeps outside of calls, from looks at its stack. The survivor looks (see
// thread_watch.hpp); the kernel tells a sleeping thread's stack pointer to processes that may trace it
// (/proc/<pid>/task/<tid>/syscall). If that is forbidden, no place is known: Yama (ptrace_scope) would also write
// each attempt to the system's log. Like process_state_writer.hpp it runs beside the program's threads: if a library is
// unmapped while it is read, the survivor ends.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "instrument/python/interpreter.hpp"
#include "instrument/unwind/unwinder.hpp"

namespace ardoise::instrument {

class SleepPlaces {
 public:
  // Looks at thread `tid` of this process.
  explicit SleepPlaces(std::uint32_t tid);

  // Adds the stack of the thread, which sleeps. Allocates nothing, takes no lock, uses no thread-local memory. Called
  // by one thread at a time.
  void look() noexcept;
  // The same for a given stack: an instruction, then return addresses and places in Python functions.
  void note(std::span<const std::uint64_t> stack) noexcept;

  struct Place {
    // Return addresses in the program or its libraries, and places in Python, innermost first. 0: there are no more.
    std::array<std::uint64_t, 4> callers{};
    std::uint32_t looks = 0;
  };
  // The one whose innermost caller has most looks; libraries of the system and interpreters are left out.
  [[nodiscard]] std::optional<Place> most() const;

 private:
  static constexpr std::size_t kStacks = 32, kFrames = 16;  // further stacks are not counted
  struct Stack {
    std::atomic<std::uint32_t> looks = 0;  // release: the frames are written
    std::uint32_t count = 0;
    std::array<std::uint64_t, kFrames> frames{};
  };

  std::array<char, 64> path_{};
  bool may_look_ = true;  // used by who looks
  Unwinder unwinder_;
  std::array<Stack, kStacks> stacks_{};
  python::Interpreter::Scratch python_;
};

// The stack pointer and the program counter in the text of such a file; both 0: the thread runs, or it is no such text.
struct SleepRegisters {
  std::uint64_t stack_pointer = 0, program_counter = 0;
  friend bool operator==(const SleepRegisters&, const SleepRegisters&) = default;
};
[[nodiscard]] SleepRegisters sleep_registers(std::string_view text) noexcept;

}  // namespace ardoise::instrument
