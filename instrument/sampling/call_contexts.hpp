// The calling contexts of one thread's MPI and POSIX calls, with exact sums. A stack walk for every call would cost
// more than its record, but most calls repeat an earlier one, with the same frames on the stack. So the result of a
// walk is kept together with the words it depended on (its witnesses), and reused as long as they are unchanged: exact,
// at a few loads for each frame. A new call walks only the part of the stack that differs from the last new one
// (walk_trail.hpp).
//
//   return address, sp ──▶ entries ──one with all witnesses unchanged──▶ context, sums
//                            └──none: walk, CallingContexts, a new entry; the oldest one's sums become a record
//
// Entries of one place in the code with one stack pointer have different callers. They form a chain, the last one found
// in front. Entries and their witnesses lie in rings; new entries overwrite the oldest.
//
// Owned by its thread, in kContexts and kSampling (machine/activity.hpp). It lies in zeroed memory, and only used pages
// are touched: most threads make few calls.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "instrument/format/event_format.hpp"
#include "instrument/python/interpreter.hpp"
#include "instrument/record/call_sums.hpp"
#include "instrument/sampling/calling_contexts.hpp"
#include "instrument/unwind/unwinder.hpp"

namespace ardoise::vmpi {
struct Call;
}

namespace ardoise::instrument {

// The called function: MPI functions are their number + 1, POSIX functions are offset by kPosixCalls. 0: none.
using CalledFunction = std::uint32_t;
inline constexpr CalledFunction kPosixCalls = 0x1'0000;

// The frame of a wrapper on the stack, at which the walk for a call begins. That of an MPI call is written when the
// call begins; the thread's signal handler reads it too.
struct ObservedFrame {
  FrameRegisters registers;
  std::uint64_t return_address = 0;  // of the program's call
  CalledFunction function = 0;
  std::uint64_t python = 0;          // Interpreter::fingerprint(); 0: no Python
  const vmpi::Call* call = nullptr;  // of an MPI call, in the wrapper's frame
};

class CallContexts {
 public:
  static constexpr std::size_t kEntries = 512, kWitnesses = 8192;
  // A deeper stack is checked up to this depth; its outer part is then assumed unchanged.
  static constexpr std::uint32_t kWitnessesPerEntry = 64;

  // If the call of `frame` is known, adds to it. False: call add_new().
  [[nodiscard]] bool add_known(const ObservedFrame& frame, const CallSums& sums) noexcept {
    const std::uint32_t found = find(frame);
    if (found == kNone) return false;
    add(entries_[found], sums);
    return true;
  }
  // The context of a known call (0: it did not fit into the table); adds nothing.
  [[nodiscard]] std::optional<std::uint32_t> find_known(const ObservedFrame& frame) noexcept {
    const std::uint32_t found = find(frame);
    return found != kNone ? std::optional(entries_[found].context) : std::nullopt;
  }
  // Walks the stack and returns the call's context. Requires !must_drain(): a replaced entry leaves a record.
  std::uint32_t add_new(const ObservedFrame& frame, const CallSums& sums, const StackBounds& stack, Unwinder& unwinder,
                        CallingContexts& contexts, python::Interpreter::Scratch* scratch = nullptr) noexcept;

  // The same without a walk, with an unknown context. Used while modules are unloaded.
  void add_unknown(const ObservedFrame& frame, const CallSums& sums) noexcept;

  // Ticks in calls that were added since the last time.
  [[nodiscard]] std::uint64_t take_added() noexcept { return std::exchange(added_ticks_, 0); }

  // Writes sums that were not handed out yet as records, at most records.size(), and returns how many. Call it until it
  // returns less.
  std::size_t drain(std::span<ContextTotalsRecord> records) noexcept;
  // No room for another record until drain() was called.
  [[nodiscard]] bool must_drain() const noexcept { return evicted_count_ == evicted_.size(); }

  // A module was unloaded: forgets the walks to the contexts, keeps the sums.
  void forget() noexcept { generation_.fetch_add(1, std::memory_order_relaxed); }

 private:
  struct Entry {
    std::uint64_t return_address, pc, sp, rbp, rbx, python;
    std::uint32_t generation;  // 0: invalid
    std::uint32_t count;       // number of witnesses, with bits kUsedRbp, kUsedRbx
    std::uint64_t first;       // first witness, in a count of all witnesses ever
    std::uint32_t context;
    CalledFunction function;    // 0: no entry
    std::uint32_t chain, next;  // next: its place + 1, 0: the last
    CallSums sums;
  };
  struct Witness {
    std::uint64_t address, value;
  };
  static constexpr std::size_t kEvicted = 256;
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF, kChains = 256;
  // The longest search in a chain; a call that is further back gets a new entry.
  static constexpr std::uint32_t kLongestSearch = 32;
  static constexpr std::uint32_t kUsedRbp = 1u << 31, kUsedRbx = 1u << 30;

  static std::uint32_t chain_of(const ObservedFrame& frame) {
    return static_cast<std::uint32_t>(
        (frame.return_address ^ frame.registers.sp << 20 ^ frame.python ^ frame.function) * 0x9E3779B97F4A7C15u >> 56);
  }
  static_assert(kChains == 256);

  // The entry of the call, which becomes the first of its chain, or kNone.
  [[nodiscard]] std::uint32_t find(const ObservedFrame& frame) noexcept {
    std::uint32_t& first = chains_[chain_of(frame)];
    std::uint32_t* link = &first;
    for (std::uint32_t looks = 0; *link != 0 && looks < kLongestSearch; ++looks) {
      const std::uint32_t place = *link - 1;
      Entry& entry = entries_[place];
      if (is_unchanged(entry, frame)) [[likely]] {
        if (link != &first) {
          *link = entry.next;
          entry.next = first;
          first = place + 1;
        }
        return place;
      }
      link = &entry.next;
    }
    return kNone;
  }
  // A new entry for the call, in place of the oldest one, in front of its chain.
  Entry& make(const ObservedFrame& frame) noexcept;
  void remove(std::uint32_t place) noexcept;
  // The context of the path that ends at the program's call, from the levels of the trail.
  [[nodiscard]] std::uint32_t context_of_trail(const ObservedFrame& frame, CallingContexts& contexts,
                                               python::Interpreter::Scratch* scratch) noexcept;

  void add(Entry& entry, const CallSums& sums) noexcept {
    entry.sums.calls += sums.calls;
    entry.sums.ticks += sums.ticks;
    entry.sums.bytes_sent += sums.bytes_sent;
    entry.sums.bytes_received += sums.bytes_received;
    added_ticks_ += sums.ticks;
  }
  [[nodiscard]] bool is_unchanged(const Entry& entry, const ObservedFrame& frame) const noexcept {
    if (entry.return_address != frame.return_address || entry.sp != frame.registers.sp ||
        entry.pc != frame.registers.pc || entry.function != frame.function || entry.python != frame.python ||
        entry.generation != generation_.load(std::memory_order_relaxed) ||
        used_witnesses_ - entry.first > kWitnesses) {  // its witnesses have been overwritten
      return false;
    }
    if ((entry.count & kUsedRbp) != 0 && entry.rbp != frame.registers.rbp) return false;
    if ((entry.count & kUsedRbx) != 0 && entry.rbx != frame.registers.rbx) return false;
    const Witness* witness = &witnesses_[entry.first % kWitnesses];
    const Witness* const end = witness + (entry.count & ~(kUsedRbp | kUsedRbx));
    // The words lie in live frames of this thread: at or above sp, on a stack that was read before.
    for (; witness != end; ++witness) {
      if (*reinterpret_cast<const std::uint64_t*>(witness->address) != witness->value) return false;
    }
    return true;
  }
  void put_out(Entry& entry) noexcept;

  std::uint64_t added_ticks_ = 0;
  std::array<Entry, kEntries> entries_;
  std::array<Witness, kWitnesses> witnesses_;
  std::array<std::uint32_t, kChains> chains_;  // the first entry's place + 1, 0: none
  std::uint32_t next_entry_ = 0;               // the oldest
  std::uint64_t used_witnesses_ = 0;           // count of all witnesses ever
  WalkTrail trail_;
  std::uint32_t trail_generation_ = 0;
  // Relaxed: changed by the thread itself, or while the thread is kept out.
  std::atomic<std::uint32_t> generation_ = 1;
  std::array<ContextTotalsRecord, kEvicted> evicted_;
  std::size_t evicted_count_ = 0;
  std::array<std::uint64_t, CallingContexts::kMaxDepth> frames_;
};

}  // namespace ardoise::instrument
