// Walks a thread's stack from its own signal handler or from a wrapper: exactly, by call frame information, or by frame
// pointers in objects without it. Async-signal-safe: no allocation, no lock, and a system call only for memory that is
// not known to be this thread's stack.
//
//   registers ──▶ rule of the program counter (UnwindRuleCache, else eh_frame.cpp) ──▶ CFA, return address ──▶ …
//
// Every read is checked: inside the bounds of the thread's stack it is direct; elsewhere (alternate stacks, coroutines)
// the kernel first checks that the page is readable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "instrument/unwind/unwind_rule.hpp"
#include "instrument/unwind/walk_trail.hpp"

namespace ardoise::instrument {

// The start of a walk. x86-64 names; on other machines rbp is the frame pointer and rbx unused.
struct FrameRegisters {
  std::uint64_t pc = 0;
  std::uint64_t sp = 0;
  std::uint64_t rbp = 0;
  std::uint64_t rbx = 0;
  bool pc_is_return_address = false;      // the frame is in a call; otherwise at an instruction
  const std::uint64_t* others = nullptr;  // all registers by DWARF number (0 … 15) of an interrupted frame, or nullptr
};

// [low, high) is readable as long as the thread lives; both 0: not known.
struct StackBounds {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

struct WalkResult {
  std::size_t frames = 0;               // number of frames written
  std::uint32_t function_distance = 0;  // from the start of the innermost function to its pc, 0: not known
  bool complete = false;                // the outermost frame was reached
};

namespace unwinding {
struct Frame;
class Walker;
}  // namespace unwinding

class Unwinder {
 public:
  // Writes the innermost program counter and then return addresses into `frames`, up to its size.
  WalkResult walk(const FrameRegisters& from, const StackBounds& stack, std::span<std::uint64_t> frames) noexcept;
  // Walks until the stack matches `trail`, and adds the new levels to it. Returns their number; the other levels are
  // those of the trail's last walk. Not from an interrupted frame.
  std::size_t walk(const FrameRegisters& from, const StackBounds& stack, WalkTrail& trail) noexcept;

  // A module was unloaded; no thread may walk at the same time.
  void forget_rules() noexcept { rules_.clear(); }

 private:
  bool rule_of(std::uint64_t pc, UnwindRule& rule) noexcept;
  bool step(unwinding::Walker& walker, unwinding::Frame& frame) noexcept;

  UnwindRuleCache rules_;
};

// Registers of the code that a signal handler interrupted. general: 16 words that must live as long as the result.
[[nodiscard]] FrameRegisters interrupted_registers(const void* ucontext, std::span<std::uint64_t, 16> general) noexcept;

}  // namespace ardoise::instrument
