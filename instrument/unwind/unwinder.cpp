// See unwinder.hpp.
#include "instrument/unwind/unwinder.hpp"

#include <dlfcn.h>
#include <ucontext.h>

#include <cerrno>
#include <cstring>

#include "instrument/unwind/eh_frame.hpp"
#include "instrument/unwind/readable.hpp"

// Lock-free search for the object of an address, glibc ≥ 2.35; older ones leave it null.
#if defined(__x86_64__) && defined(DLFO_STRUCT_HAS_EH_DBASE)
extern "C" int _dl_find_object(void*, struct dl_find_object*) noexcept __attribute__((weak));
#endif

namespace ardoise::instrument {
namespace {

constexpr std::uint64_t kSmallestPage = 4096;

// Reads words of the stack, none of which can fault.
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
  std::uint64_t good_page_ = 1;  // no page's address
};

#if defined(__x86_64__)

// The registers that are followed from frame to frame. rbp and rbx are restored from the stack without being needed for
// it in most code; which stack word they came from is kept, so that only needed ones are told to the witness.
struct Frame {
  std::uint64_t pc, sp;
  std::uint64_t rbp, rbx;
  std::uint64_t rbp_at, rbx_at;  // the words they were restored from; 0: still as in the beginning
  bool in_call;
  const std::uint64_t* others;  // valid in an interrupted frame
};

class Walker {
 public:
  Walker(const StackBounds& stack, WalkWitness* witness, WalkResult& result)
      : reader_(stack), witness_(witness), result_(result) {}

  // The caller of frame. False: it can't be found.
  bool step(Frame& frame, const UnwindRule& rule) {
    std::uint64_t base = 0;
    if (rule.cfa == CfaKind::kUnknown || !use_register(frame, rule.cfa_register, base)) return false;
    std::uint64_t cfa = base + static_cast<std::uint64_t>(std::int64_t{rule.cfa_offset});
    if (rule.cfa == CfaKind::kMemory) {
      if (!read(cfa, cfa)) return false;
      cfa += static_cast<std::uint64_t>(std::int64_t{rule.cfa_add});
    }
    if (cfa <= frame.sp) return false;
    Frame caller{0, cfa, frame.rbp, frame.rbx, frame.rbp_at, frame.rbx_at, true, nullptr};
    if (!read(cfa + static_cast<std::uint64_t>(std::int64_t{rule.return_offset}), caller.pc)) return false;
    if (!restore(rule.rbp, rule.rbp_offset, frame, cfa, caller.rbp, caller.rbp_at)) return false;
    if (!restore(rule.rbx, rule.rbx_offset, frame, cfa, caller.rbx, caller.rbx_at)) return false;
    frame = caller;
    return true;
  }

  // Without unwind information: the chain of frame pointers, if there is one.
  bool step_by_frame_pointer(Frame& frame) {
    std::uint64_t rbp = 0, pc = 0;
    if (!use_register(frame, kDwarfRbp, rbp) || rbp < frame.sp || rbp - frame.sp > kMaxFrame) return false;
    Frame caller{0, rbp + 16, 0, frame.rbx, rbp, frame.rbx_at, true, nullptr};
    if (!reader_.read(rbp, caller.rbp) || !read(rbp + 8, pc)) return false;
    caller.pc = pc;
    frame = caller;
    return true;
  }

  // What the kernel saved when it called a signal handler, whose return trampoline `frame` is.
  bool step_out_of_signal(Frame& frame) {
    const std::uint64_t saved = frame.sp + offsetof(ucontext_t, uc_mcontext.gregs);
    const auto get = [&](int which, std::uint64_t& value) {
      return read(saved + static_cast<std::uint64_t>(which) * 8, value);
    };
    Frame outer{0, 0, 0, 0, saved, saved, false, nullptr};
    if (!get(REG_RIP, outer.pc) || !get(REG_RSP, outer.sp) || !get(REG_RBP, outer.rbp) || !get(REG_RBX, outer.rbx)) {
      return false;
    }
    frame = outer;
    return true;
  }

 private:
  static constexpr std::uint64_t kMaxFrame = std::uint64_t{1} << 30;

  bool read(std::uint64_t address, std::uint64_t& value) {
    if (!reader_.read(address, value)) return false;
    if (witness_ != nullptr) witness_->depends_on(address, value);
    return true;
  }
  bool use_register(const Frame& frame, std::uint8_t number, std::uint64_t& value) {
    switch (number) {
      case kDwarfRsp:
        value = frame.sp;
        return true;
      case kDwarfRbp:
        value = frame.rbp;
        use(frame.rbp_at, frame.rbp, result_.used_rbp);
        return true;
      case kDwarfRbx:
        value = frame.rbx;
        use(frame.rbx_at, frame.rbx, result_.used_rbx);
        return true;
      default:
        if (frame.others == nullptr || number > 15) return false;
        value = frame.others[number];
        return true;
    }
  }
  void use(std::uint64_t at, std::uint64_t value, bool& used_initial) {
    if (at == 0) {
      used_initial = true;
    } else if (witness_ != nullptr) {
      witness_->depends_on(at, value);
    }
  }
  bool restore(SavedKind kind, std::int32_t offset, const Frame& frame, std::uint64_t cfa, std::uint64_t& value,
               std::uint64_t& at) {
    if (kind == SavedKind::kSame) [[likely]]
      return true;
    const auto distance = static_cast<std::uint64_t>(std::int64_t{offset});
    if (kind == SavedKind::kLost) {
      value = 0;
      return true;
    }
    std::uint64_t base = cfa;
    if (kind == SavedKind::kAtRbp && !use_register(frame, kDwarfRbp, base)) return false;
    at = base + distance;
    return reader_.read(at, value);
  }

  StackReader reader_;
  WalkWitness* const witness_;
  WalkResult& result_;
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

}  // namespace

#if defined(__x86_64__)

bool Unwinder::rule_of(std::uint64_t pc, UnwindRule& rule) noexcept {
  if (rules_.find(pc, rule)) [[likely]]
    return true;
  if (!rule_from_module(pc, rule)) return false;
  rules_.put(pc, rule);
  return true;
}

WalkResult Unwinder::walk(const FrameRegisters& from, const StackBounds& stack, std::span<std::uint64_t> frames,
                          WalkWitness* witness) noexcept {
  WalkResult result;
  Walker walker(stack, witness, result);
  Frame frame{from.pc, from.sp, from.rbp, from.rbx, 0, 0, from.pc_is_return_address, from.others};
  while (frame.pc != 0 && result.frames < frames.size()) {
    UnwindRule rule;
    // A return address may be the first byte after the function: one less is inside the call.
    const bool known = rule_of(frame.in_call ? frame.pc - 1 : frame.pc, rule);
    if (known && rule.frame == FrameKind::kSignal) {
      // Not a frame of the program's; its caller was interrupted, not called.
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

WalkResult Unwinder::walk(const FrameRegisters& from, const StackBounds& stack, std::span<std::uint64_t> frames,
                          WalkWitness* witness) noexcept {
  WalkResult result;
  StackReader reader(stack);
  std::uint64_t pc = from.pc, frame = from.rbp, below = from.sp;
  while (pc != 0 && result.frames < frames.size()) {
    frames[result.frames++] = pc;
    std::uint64_t next = 0;
    if (frame < below || !reader.read(frame, next) || !reader.read(frame + 8, pc)) return result;
    if (witness != nullptr) {
      witness->depends_on(frame, next);
      witness->depends_on(frame + 8, pc);
    }
    result.used_rbp = true;
    below = frame + 16;
    frame = next;
  }
  result.complete = pc == 0;
  return result;
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
