#include "instrument/unwind/unwinder.hpp"

#include <dlfcn.h>
#include <ucontext.h>

#include <cerrno>
#include <cstring>

#include "instrument/unwind/eh_frame.hpp"
#include "instrument/unwind/readable.hpp"

// Lock-free search for the object of an address in glibc ≥ 2.35; null in older ones.
#if defined(__x86_64__) && defined(DLFO_STRUCT_HAS_EH_DBASE)
extern "C" int _dl_find_object(void*, struct dl_find_object*) noexcept __attribute__((weak));
#endif

namespace ardoise::instrument {
namespace unwinding {

constexpr std::uint64_t kSmallestPage = 4096;

// Reads words of the stack without faults.
class StackReader {
 public:
  explicit StackReader(const StackBounds& stack) : stack_(stack) {}

  bool read(std::uint64_t address, std::uint64_t& value) {
    if ((address & 7u) != 0) return false;
    if (address < stack_.low || address >= stack_.high) [[unlikely]] {
      if ((address & ~(kSmallestPage - 1)) != good_page_ && !is_good(address)) return false;
    }
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof(value));
    return true;
  }

 private:
  bool is_good(std::uint64_t address) {
    if (!is_readable(address)) return false;
    good_page_ = address & ~(kSmallestPage - 1);
    return true;
  }

  const StackBounds stack_;
  std::uint64_t good_page_ = 1;  // no page has this address
};

// The registers that a walk tracks from frame to frame.
struct Frame {
  std::uint64_t pc = 0, sp = 0, rbp = 0, rbx = 0;
  bool in_call = true;
  const std::uint64_t* others = nullptr;  // valid in an interrupted frame

  Frame(const FrameRegisters& from)
      : pc(from.pc),
        sp(from.sp),
        rbp(from.rbp),
        rbx(from.rbx),
        in_call(from.pc_is_return_address),
        others(from.others) {}
  Frame(const TrailLevel& level) : pc(level.pc), sp(level.sp), rbp(level.rbp), rbx(level.rbx), in_call(level.in_call) {}
  Frame(std::uint64_t its_pc, std::uint64_t its_sp, std::uint64_t its_rbp, std::uint64_t its_rbx)
      : pc(its_pc), sp(its_sp), rbp(its_rbp), rbx(its_rbx) {}
};

#if defined(__x86_64__)

// Goes from a frame to its caller and notes the words that the step depended on. Most code restores rbp and rbx from
// the stack without needing them for the walk; their places are kept, so that only needed ones count (walk_trail.hpp).
class Walker {
 public:
  explicit Walker(const StackBounds& stack) : reader_(stack) {}

  // The level of `frame` before a step.
  TrailLevel& level_of(const Frame& frame) {
    made_ = {};
    made_.pc = frame.pc;
    made_.sp = frame.sp;
    made_.rbp = frame.rbp;
    made_.rbx = frame.rbx;
    made_.in_call = frame.in_call;
    return made_;
  }

  // Goes to the caller of frame. False: not found.
  bool step(Frame& frame, const UnwindRule& rule) {
    std::uint64_t base = 0;
    if (rule.cfa == CfaKind::kUnknown || !use_register(frame, rule.cfa_register, base)) return false;
    std::uint64_t cfa = base + static_cast<std::uint64_t>(std::int64_t{rule.cfa_offset});
    if (rule.cfa == CfaKind::kMemory) {
      made_.base_at = cfa;
      if (!read(made_.base_at, cfa)) return false;
      made_.base_value = cfa;
      cfa += static_cast<std::uint64_t>(std::int64_t{rule.cfa_add});
    }
    if (cfa <= frame.sp) return false;
    Frame caller(0, cfa, frame.rbp, frame.rbx);
    if (!read_return(cfa + static_cast<std::uint64_t>(std::int64_t{rule.return_offset}), caller.pc)) return false;
    if (!restore(rule.rbp, rule.rbp_offset, frame, cfa, caller.rbp, made_.rbp_at)) return false;
    if (!restore(rule.rbx, rule.rbx_offset, frame, cfa, caller.rbx, made_.rbx_at)) return false;
    frame = caller;
    return true;
  }

  // Without unwind information: the chain of frame pointers, if there is one.
  bool step_by_frame_pointer(Frame& frame) {
    std::uint64_t rbp = 0;
    if (!use_register(frame, kDwarfRbp, rbp) || rbp < frame.sp || rbp - frame.sp > kMaxFrame) return false;
    Frame caller(0, rbp + 16, 0, frame.rbx);
    made_.rbp_at = rbp;
    if (!read(rbp, caller.rbp) || !read_return(rbp + 8, caller.pc)) return false;
    frame = caller;
    return true;
  }

  // Restores the registers that the kernel saved for a signal handler; `frame` is the handler's return trampoline.
  bool step_out_of_signal(Frame& frame) {
    const std::uint64_t saved = frame.sp + offsetof(ucontext_t, uc_mcontext.gregs);
    const auto place = [&](int which) { return saved + static_cast<std::uint64_t>(which) * 8; };
    Frame outer(0, 0, 0, 0);
    outer.in_call = false;
    made_.is_hidden = true;
    made_.base_at = place(REG_RSP);
    made_.rbp_at = place(REG_RBP);
    made_.rbx_at = place(REG_RBX);
    if (!read_return(place(REG_RIP), outer.pc) || !read(made_.base_at, outer.sp) || !read(made_.rbp_at, outer.rbp) ||
        !read(made_.rbx_at, outer.rbx))
      return false;
    made_.base_value = outer.sp;
    frame = outer;
    return true;
  }

 private:
  static constexpr std::uint64_t kMaxFrame = std::uint64_t{1} << 30;

  bool read(std::uint64_t address, std::uint64_t& value) { return reader_.read(address, value); }
  bool read_return(std::uint64_t address, std::uint64_t& value) {
    if (!read(address, value)) return false;
    made_.return_at = address;
    made_.return_value = value;
    return true;
  }
  bool use_register(const Frame& frame, std::uint8_t number, std::uint64_t& value) {
    switch (number) {
      case kDwarfRsp:
        value = frame.sp;
        return true;
      case kDwarfRbp:
        value = frame.rbp;
        made_.uses_rbp = true;
        return true;
      case kDwarfRbx:
        value = frame.rbx;
        made_.uses_rbx = true;
        return true;
      default:
        if (frame.others == nullptr || number > 15) return false;
        value = frame.others[number];
        return true;
    }
  }
  bool restore(SavedKind kind, std::int32_t offset, const Frame& frame, std::uint64_t cfa, std::uint64_t& value,
               std::uint64_t& at) {
    if (kind == SavedKind::kSame) [[likely]]
      return true;
    if (kind == SavedKind::kLost) {
      at = TrailLevel::kLost;
      value = 0;
      return true;
    }
    std::uint64_t base = cfa;
    if (kind == SavedKind::kAtRbp && !use_register(frame, kDwarfRbp, base)) return false;
    at = base + static_cast<std::uint64_t>(std::int64_t{offset});
    return read(at, value);
  }

  StackReader reader_;
  TrailLevel made_{};
};

bool rule_from_module(std::uint64_t pc, UnwindRule& rule) {
#if defined(DLFO_STRUCT_HAS_EH_DBASE)
  if (&_dl_find_object == nullptr) return false;
  dl_find_object object{};
  if (_dl_find_object(reinterpret_cast<void*>(pc), &object) != 0 || object.dlfo_eh_frame == nullptr) return false;
  return find_unwind_rule(
      {reinterpret_cast<std::uint64_t>(object.dlfo_map_start), reinterpret_cast<std::uint64_t>(object.dlfo_map_end),
       reinterpret_cast<std::uint64_t>(object.dlfo_eh_frame)},
      pc, rule);
#else
  (void)pc, (void)rule;
  return false;
#endif
}

#endif  // __x86_64__

}  // namespace unwinding

using namespace unwinding;

#if defined(__x86_64__)

bool Unwinder::rule_of(std::uint64_t pc, UnwindRule& rule) noexcept {
  if (rules_.find(pc, rule)) [[likely]]
    return true;
  if (!rule_from_module(pc, rule)) return false;
  rules_.put(pc, rule);
  return true;
}

WalkResult Unwinder::walk(const FrameRegisters& from, const StackBounds& stack,
                          std::span<std::uint64_t> frames) noexcept {
  WalkResult result;
  Walker walker(stack);
  Frame frame(from);
  while (frame.pc != 0 && result.frames < frames.size()) {
    UnwindRule rule;
    // A return address may be the first byte after the function; one byte earlier is inside the call.
    const bool known = rule_of(frame.in_call ? frame.pc - 1 : frame.pc, rule);
    if (known && rule.frame == FrameKind::kSignal) {
      // Not a frame of the program; its caller was interrupted, not called.
      if (!walker.step_out_of_signal(frame)) return result;
      continue;
    }
    frames[result.frames++] = frame.pc;
    if (result.frames == 1 && known) result.function_distance = rule.function_distance;
    if (known && rule.frame == FrameKind::kOutermost) {
      result.complete = true;
      return result;
    }
    if (!(known ? walker.step(frame, rule) : walker.step_by_frame_pointer(frame))) return result;
  }
  result.complete = frame.pc == 0;
  return result;
}

// False: `frame` is the outermost one, or its caller was not found.
bool Unwinder::step(Walker& walker, Frame& frame) noexcept {
  UnwindRule rule;
  const bool known = rule_of(frame.in_call ? frame.pc - 1 : frame.pc, rule);
  if (!known) return walker.step_by_frame_pointer(frame);
  if (rule.frame == FrameKind::kSignal) return walker.step_out_of_signal(frame);
  return rule.frame != FrameKind::kOutermost && walker.step(frame, rule);
}

std::size_t Unwinder::walk(const FrameRegisters& from, const StackBounds& stack, WalkTrail& trail) noexcept {
  Walker walker(stack);
  Frame frame(from);
  trail.begin();
  bool met = false, ended = false;
  std::size_t inner = 0;
  while (!ended && inner < WalkTrail::kMost) {
    TrailLevel& level = walker.level_of(frame);
    if ((met = trail.meets(level))) break;
    ended = !step(walker, frame) || frame.pc == 0;
    trail.add_inner(level);
    ++inner;
  }
  const TrailLevel rest = walker.level_of(frame);
  trail.finish(met, ended ? nullptr : &rest);
  if (!met || !trail.is_cut() || trail.size() == WalkTrail::kMost) return inner;

  // The trail was cut from a deeper stack.
  Frame outer(trail.next());
  for (ended = false; !ended && trail.size() < WalkTrail::kMost;) {
    TrailLevel& level = walker.level_of(outer);
    ended = !step(walker, outer) || outer.pc == 0;
    level.needs_rbp = level.needs_rbx = true;  // the outer levels are unknown
    level.context = TrailLevel::kNoContext;
    trail.add_outer(level);
  }
  const TrailLevel next = walker.level_of(outer);
  trail.set_next(ended ? nullptr : &next);
  return trail.size();
}

FrameRegisters interrupted_registers(const void* ucontext, std::span<std::uint64_t, 16> general) noexcept {
  const auto& registers = static_cast<const ucontext_t*>(ucontext)->uc_mcontext.gregs;
  // By DWARF number: rax rdx rcx rbx rsi rdi rbp rsp r8 … r15.
  constexpr int kOrder[16] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  for (std::size_t i = 0; i < general.size(); ++i) general[i] = static_cast<std::uint64_t>(registers[kOrder[i]]);
  return {static_cast<std::uint64_t>(registers[REG_RIP]),
          general[kDwarfRsp],
          general[kDwarfRbp],
          general[kDwarfRbx],
          false,
          general.data()};
}

#else  // frame pointers only

static bool step_by_frame_pointer(StackReader& reader, TrailLevel& level, TrailLevel& caller) {
  if (level.rbp < level.sp) return false;
  level.uses_rbp = true;
  level.rbp_at = level.rbp;
  if (!reader.read(level.rbp, caller.rbp) || !reader.read(level.rbp + 8, caller.pc)) return false;
  level.return_at = level.rbp + 8;
  level.return_value = caller.pc;
  caller.sp = level.rbp + 16;
  return true;
}

WalkResult Unwinder::walk(const FrameRegisters& from, const StackBounds& stack,
                          std::span<std::uint64_t> frames) noexcept {
  WalkResult result;
  StackReader reader(stack);
  TrailLevel level{};
  level.pc = from.pc, level.sp = from.sp, level.rbp = from.rbp;
  while (level.pc != 0 && result.frames < frames.size()) {
    frames[result.frames++] = level.pc;
    TrailLevel caller{};
    if (!step_by_frame_pointer(reader, level, caller)) return result;
    level = caller;
  }
  result.complete = level.pc == 0;
  return result;
}

std::size_t Unwinder::walk(const FrameRegisters& from, const StackBounds& stack, WalkTrail& trail) noexcept {
  StackReader reader(stack);
  TrailLevel level{};
  level.pc = from.pc, level.sp = from.sp, level.rbp = from.rbp;
  trail.begin();
  bool met = false, ended = false;
  std::size_t inner = 0;
  while (!ended && inner < WalkTrail::kMost && !(met = trail.meets(level))) {
    TrailLevel caller{};
    ended = !step_by_frame_pointer(reader, level, caller) || caller.pc == 0;
    trail.add_inner(level);
    ++inner;
    level = caller;
  }
  trail.finish(met, nullptr);
  return inner;
}

bool Unwinder::rule_of(std::uint64_t, UnwindRule&) noexcept { return false; }

FrameRegisters interrupted_registers(const void* ucontext, std::span<std::uint64_t, 16>) noexcept {
#if defined(__aarch64__)
  const auto& registers = static_cast<const ucontext_t*>(ucontext)->uc_mcontext;
  return {registers.pc, registers.sp, registers.regs[29], 0, false, nullptr};
#else
  (void)ucontext;
  return {};
#endif
}

#endif

}  // namespace ardoise::instrument
