// Walks a thread's stack from inside its own signal handler, or from a wrapper: exact by call frame information, by
// frame pointers where an object has none. Async-signal-safe: no allocation, no lock; a system call only for memory
// that is not known to be this thread's stack.
//
//   registers ──▶ rule of the program counter (UnwindRuleCache, else eh_frame.cpp) ──▶ CFA, return address ──▶ …
//
// Every read is checked: inside the bounds of the thread's stack it is direct, elsewhere (alternate stacks, coroutines)
// the kernel is asked first whether the page can be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "instrument/unwind/unwind_rule.hpp"
#include "instrument/unwind/walk_trail.hpp"

namespace ardoise::instrument {

// Where a walk begins. x86-64 names; elsewhere rbp is the frame pointer and rbx unused.
struct FrameRegisters {
  std::uint64_t pc = 0;
  std::uint64_t sp = 0;
  std::uint64_t rbp = 0;
  std::uint64_t rbx = 0;
  bool pc_is_return_address = false;      // the frame is in a call, else at an instruction
  const std::uint64_t* others = nullptr;  // all registers by DWARF number (0 … 15) of an interrupted frame, or nullptr
};

// [low, high) can be read as long as the thread lives; both 0: not known.
struct StackBounds {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

struct WalkResult {
  std::size_t frames = 0;               // written
  std::uint32_t function_distance = 0;  // from the start of the innermost function to its pc, 0: not known
  bool complete = false;                // the outermost frame was reached
};

namespace unwinding {
struct Frame;
class Walker;
}  // namespace unwinding

class Unwinder {
 public:
  // Writes the innermost program counter and then return addresses into `frames`, at most its size.
  WalkResult walk(const FrameRegisters& from, const StackBounds& stack, std::span<std::uint64_t> frames) noexcept;
  // Walks as far as `trail` does not know the stack, which it does then, in levels. How many of them are new; the
  // others were there at the last walk of this trail. Not from an interrupted frame.
  std::size_t walk(const FrameRegisters& from, const StackBounds& stack, WalkTrail& trail) noexcept;

  // A module was unloaded; nobody may walk at the same time.
  void forget_rules() noexcept { rules_.clear(); }

 private:
  bool rule_of(std::uint64_t pc, UnwindRule& rule) noexcept;
  bool step(unwinding::Walker& walker, unwinding::Frame& frame) noexcept;

  UnwindRuleCache rules_;
};

// Registers of the code that a signal handler interrupted. general: 16 words that live as long as the result.
[[nodiscard]] FrameRegisters interrupted_registers(const void* ucontext, std::span<std::uint64_t, 16> general) noexcept;

}  // namespace ardoise::instrument
