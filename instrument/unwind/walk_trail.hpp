// The frames of a thread's last walk. Most of a stack is unchanged at the next walk: it stops at the first frame in
// common with the trail, if all words that the outer frames depend on are unchanged. A walk costs a full step for each
// new frame, and a load or two for each old one, up to a limit.
//
//   levels, outermost first:  [main][solve][step]…[exchange][wrapper]
//                              └ unchanged: kept ┘└ walked again ┘
//
// The trail also lists the words that a walk depended on, for users who keep its result: a new walk from the same pc
// and sp has the same result as long as these words and registers are unchanged.
//
// Used by one thread at a time. The words lie in live frames of its stack: each level's are checked before those of the
// next one, which is live if they are unchanged.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ardoise::instrument {

// A frame, and the step from it to its caller.
struct TrailLevel {
  std::uint64_t pc, sp, rbp, rbx;
  // Addresses of the words that were read, 0: none. return_at: of the caller's pc. base_at: of the base of a realigned
  // frame (of a signal frame, the caller's sp). rbp_at, rbx_at: of the caller's registers; kLost: unknown.
  std::uint64_t return_at, base_at, rbp_at, rbx_at;
  std::uint64_t return_value, base_value;
  std::uint32_t context;  // set by users of the trail: kNoContext at first
  bool in_call;
  bool is_hidden;             // a signal frame, which is not a frame of the program
  bool uses_rbp, uses_rbx;    // this step depends on them
  bool needs_rbp, needs_rbx;  // this step or one further out does

  static constexpr std::uint64_t kLost = 1;  // no word holds it
  static constexpr std::uint32_t kNoContext = 0xFFFF'FFFF;
};

class WalkTrail {
 public:
  static constexpr std::size_t kMost = 256;  // levels
  // After this many unchanged levels the rest is assumed unchanged.
  static constexpr std::size_t kChecked = 48;

  [[nodiscard]] std::size_t size() const { return end_ - begin_; }
  // Level 0 is the innermost.
  [[nodiscard]] TrailLevel& level(std::size_t number) { return levels_[(end_ - 1 - number) % kSlots]; }
  [[nodiscard]] const TrailLevel& level(std::size_t number) const { return levels_[(end_ - 1 - number) % kSlots]; }
  // More levels exist further out than fit.
  [[nodiscard]] bool is_cut() const { return is_cut_; }

  // Calls tell(address, value) for each word that a walk from the innermost level depends on, innermost first, until it
  // returns false.
  template <class Tell>
  void dependencies(const Tell& tell) const {
    for (std::size_t number = 0; number < size(); ++number) {
      const TrailLevel& at = level(number);
      if (at.return_at != 0 && !tell(at.return_at, at.return_value)) return;
      if (at.base_at != 0 && !tell(at.base_at, at.base_value)) return;
      if (number + 1 == size()) return;
      const TrailLevel& caller = level(number + 1);
      if (at.rbp_at > TrailLevel::kLost && caller.needs_rbp && !tell(at.rbp_at, caller.rbp)) return;
      if (at.rbx_at > TrailLevel::kLost && caller.needs_rbx && !tell(at.rbx_at, caller.rbx)) return;
    }
  }

  void clear() noexcept {
    begin_ = end_ = 0;
    is_cut_ = false;
  }

  // ---- used by a walk (unwinder.cpp): begin(), then for each frame meets() and, if false, add_inner(); finally
  // finish(). If a walk met the trail of a stack that was cut, it can continue from next() with add_outer().

  void begin() noexcept {
    inner_count_ = 0;
    cursor_ = end_;
  }
  // The frame is in the trail, and all frames from there outwards are unchanged.
  [[nodiscard]] bool meets(const TrailLevel& frame) noexcept;
  void add_inner(const TrailLevel& level) noexcept { inner_[inner_count_++] = level; }
  [[nodiscard]] bool has_room() const { return inner_count_ < kMost; }
  // Adds the inner levels. met: in front of the levels that were met; otherwise they replace all. next: the point at
  // which a walk that was cut can continue.
  void finish(bool met, const TrailLevel* next) noexcept;
  [[nodiscard]] const TrailLevel& next() const { return next_; }
  void add_outer(const TrailLevel& level) noexcept { levels_[--begin_ % kSlots] = level; }
  void set_next(const TrailLevel* next) noexcept {
    is_cut_ = next != nullptr;
    if (is_cut_) next_ = *next;
  }

 private:
  static constexpr std::uint32_t kSlots = kMost;
  static_assert((kSlots & (kSlots - 1)) == 0, "for numbers that wrap around");

  [[nodiscard]] bool is_unchanged(std::uint32_t place) noexcept;

  std::array<TrailLevel, kSlots> levels_;
  std::array<TrailLevel, kMost> inner_;
  std::size_t inner_count_ = 0;
  std::uint32_t begin_ = 0, end_ = 0;  // outermost level, and one past the innermost
  std::uint32_t cursor_ = 0;           // one past the innermost level that may still match
  bool is_cut_ = false;
  TrailLevel next_;
};

}  // namespace ardoise::instrument
