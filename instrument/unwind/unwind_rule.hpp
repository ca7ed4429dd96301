// The step from one stack frame to its caller's: the call frame information (DWARF CFI) for one program counter in 32
// bytes, and the process's cache of such rules. eh_frame.cpp makes rules, unwinder.cpp applies them.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ardoise::instrument {

// DWARF numbers of x86-64.
inline constexpr std::uint8_t kDwarfRbx = 3, kDwarfRbp = 6, kDwarfRsp = 7, kDwarfReturnAddress = 16;

// The location of the frame's CFA (the stack pointer of the caller after the return).
enum class CfaKind : std::uint8_t {
  kUnknown = 0,
  kRegister = 1,  // register + cfa_offset
  kMemory = 2,    // *(register + cfa_offset) + cfa_add: realigned stacks
};
// The location of the caller's value of a register.
enum class SavedKind : std::uint8_t {
  kSame = 0,  // still in the register
  kAtCfa = 1,
  kAtRbp = 2,  // at offset from this frame's rbp (realigned stacks)
  kLost = 3,
};
enum class FrameKind : std::uint8_t {
  kNormal = 0,
  kSignal = 1,    // the kernel's signal frame: registers are in the ucontext at the stack pointer
  kOutermost = 2  // the first function of a thread, without a caller
};

struct UnwindRule {
  std::int32_t cfa_offset = 0;
  std::int32_t cfa_add = 0;
  std::int32_t rbp_offset = 0;
  std::int32_t rbx_offset = 0;
  std::uint32_t function_distance = 0;  // bytes from the start of the function (of its FDE) to the program counter
  std::int16_t return_offset = -8;      // of the return address, from the CFA
  CfaKind cfa = CfaKind::kUnknown;
  std::uint8_t cfa_register = 0;  // DWARF number
  SavedKind rbp = SavedKind::kSame;
  SavedKind rbx = SavedKind::kSame;
  FrameKind frame = FrameKind::kNormal;
  std::array<std::uint8_t, 5> reserved{};

  friend bool operator==(const UnwindRule&, const UnwindRule&) = default;
};

// Cache of rules by program counter, shared by all threads of the process and their signal handlers. Direct mapped; a
// later rule replaces an earlier one. Lock-free without versions: an entry's key is the program counter xor its words
// (the "lockless hashing" of computer chess, Hyatt and Mann 2002), so a mixture of two writers' words matches no
// counter. Relaxed order suffices for the same reason.
class UnwindRuleCache {
 public:
  static constexpr std::size_t kEntries = 4096;  // 160 KiB; only used pages are allocated

  [[nodiscard]] bool find(std::uint64_t pc, UnwindRule& rule) const {
    const Entry& entry = entries_[index(pc)];
    Words words{};
    std::uint64_t key = entry.key.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = entry.words[i].load(std::memory_order_relaxed);
      key ^= words[i];
    }
    if (key != pc) return false;
    rule = std::bit_cast<UnwindRule>(words);
    return true;
  }
  void put(std::uint64_t pc, const UnwindRule& rule) {
    Entry& entry = entries_[index(pc)];
    const auto words = std::bit_cast<Words>(rule);
    std::uint64_t key = pc;
    for (std::size_t i = 0; i < words.size(); ++i) {
      entry.words[i].store(words[i], std::memory_order_relaxed);
      key ^= words[i];
    }
    entry.key.store(key, std::memory_order_relaxed);
  }
  // Called after a module was unloaded, since later code at its addresses has other rules. Requires that no thread
  // puts.
  void clear() {
    for (Entry& entry : entries_) {
      if (entry.key.load(std::memory_order_relaxed) != 0) entry.key.store(0, std::memory_order_relaxed);
      for (auto& word : entry.words) {
        if (word.load(std::memory_order_relaxed) != 0) word.store(0, std::memory_order_relaxed);
      }
    }
  }

 private:
  using Words = std::array<std::uint64_t, 4>;
  static_assert(sizeof(UnwindRule) == sizeof(Words));
  struct Entry {
    std::atomic<std::uint64_t> key{};
    std::array<std::atomic<std::uint64_t>, 4> words{};
  };
  static std::size_t index(std::uint64_t pc) {
    return static_cast<std::size_t>(pc * 0x9E3779B97F4A7C15u >> (64 - std::countr_zero(kEntries)));
  }
  std::array<Entry, kEntries> entries_{};
};

}  // namespace ardoise::instrument
