// System calls that leave errno unchanged: for code that shares the thread-local memory of another thread, and for
// signal handlers.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace ardoise::instrument {

// Returns the kernel's value: the result, or -errno.
[[gnu::always_inline]] inline long call_kernel(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                                               long f = 0) noexcept {
#if defined(__x86_64__) && defined(__LP64__)
  register long d_register asm("r10") = d;
  register long e_register asm("r8") = e;
  register long f_register asm("r9") = f;
  asm volatile("syscall"
               : "+a"(number)
               : "D"(a), "S"(b), "d"(c), "r"(d_register), "r"(e_register), "r"(f_register)
               : "rcx", "r11", "memory");
  return number;
#else
  const int saved = errno;
  const long result = ::syscall(number, a, b, c, d, e, f);
  const int error = errno;
  errno = saved;
  return result == -1 ? -error : result;
#endif
}

// A pointer as an argument of a system call.
inline long argument(const void* pointer) noexcept { return reinterpret_cast<long>(pointer); }

}  // namespace ardoise::instrument
