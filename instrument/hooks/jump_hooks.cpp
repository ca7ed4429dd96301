// Hooks of longjmp and its variants, by which programs leave MPI calls: an error handler jumps back to main. The
// wrapper of the call then never sees its end.
#include <csetjmp>
#include <cstdint>

#include "instrument/hooks/real_function.hpp"
#include "instrument/process/ending/left_call.hpp"

namespace ardoise::instrument {
namespace {

// The stack pointer at the target of the jump. glibc encodes it with a secret of the thread (PTR_MANGLE). nullptr:
// unsupported machine.
const char* target_of([[maybe_unused]] const __jmp_buf_tag* environment) noexcept {
#if defined(__x86_64__) && defined(__LP64__) && defined(__GLIBC__)
  constexpr int kStackPointer = 6;
  auto value = static_cast<std::uint64_t>(environment->__jmpbuf[kStackPointer]);
  asm("rorq $17, %0\n\txorq %%fs:0x30, %0" : "+r"(value) : : "cc");
  return reinterpret_cast<const char*>(value);
#else
  return nullptr;
#endif
}

}  // namespace

ARDOISE_HOOK(void, longjmp, __jmp_buf_tag* environment, int value) {
  leave_calls_below(target_of(environment));
  real_longjmp(environment, value);
}
ARDOISE_HOOK(void, _longjmp, __jmp_buf_tag* environment, int value) {
  leave_calls_below(target_of(environment));
  real__longjmp(environment, value);
}
ARDOISE_HOOK(void, siglongjmp, __jmp_buf_tag* environment, int value) {
  leave_calls_below(target_of(environment));
  real_siglongjmp(environment, value);
}
ARDOISE_HOOK(void, __longjmp_chk, __jmp_buf_tag* environment, int value) {
  leave_calls_below(target_of(environment));
  real___longjmp_chk(environment, value);
}

}  // namespace ardoise::instrument
