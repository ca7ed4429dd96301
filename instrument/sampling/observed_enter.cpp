#include "instrument/sampling/observed_enter.hpp"

#include <atomic>
#include <cstdint>

#include "instrument/machine/clock.hpp"
#include "instrument/sampling/sampled_thread.hpp"

namespace {

using ardoise::instrument::observed_frame;

void enter(ardoise::vmpi::Call& call, const ardoise::instrument::FrameRegisters& wrapper) {
  observed_frame.registers = wrapper;
  observed_frame.call = &call;
  observed_frame.return_address = reinterpret_cast<std::uint64_t>(call.return_address);
  // Last: the thread's signal handler trusts the other fields once it is set.
  std::atomic_signal_fence(std::memory_order_release);
  observed_frame.function = static_cast<std::uint32_t>(call.function) + 1;
  call.begin = ardoise::instrument::now();
}

}  // namespace

#if defined(__x86_64__)

extern "C" [[gnu::used, gnu::visibility("hidden")]] void ardoise_enter_from(ardoise::vmpi::Call& call,
                                                                            std::uint64_t rbx, std::uint64_t rbp,
                                                                            std::uint64_t sp,
                                                                            std::uint64_t pc) noexcept {
  enter(call, {pc, sp, rbp, rbx, true, nullptr});
}

// The registers at the wrapper's call: a compiler's prologue would have changed them.
[[gnu::naked]] void ardoise_on_enter(ardoise::vmpi::Call&) noexcept {
  asm("mov %rbx, %rsi\n\t"
      "mov %rbp, %rdx\n\t"
      "lea 8(%rsp), %rcx\n\t"
      "mov (%rsp), %r8\n\t"
      "jmp ardoise_enter_from");
}

#else

// By frame pointers: this function's frame holds the wrapper's frame pointer and the return address into it.
void ardoise_on_enter(ardoise::vmpi::Call& call) noexcept {
  const auto* const frame = static_cast<const std::uint64_t*>(__builtin_frame_address(0));
  enter(call, {frame[1], reinterpret_cast<std::uint64_t>(frame + 2), frame[0], 0, true, nullptr});
}

#endif
