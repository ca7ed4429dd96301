#include "instrument/machine/clock.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#endif

namespace ardoise::instrument {
namespace {

#if defined(__x86_64__)
// Leaf 0x80000007, EDX bit 8: the counter runs at one rate in all power states. Only the kernel knows whether the
// counters of all sockets agree, so its choice counts too: it uses the tsc itself, or at least has not discarded it.
// Uses direct system calls, since open() and read() may be hooked before this library is ready.
bool tsc_is_good() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) == 0 || (edx & 1u << 8) == 0) return false;
  const long descriptor = ::syscall(
      SYS_openat, AT_FDCWD, "/sys/devices/system/clocksource/clocksource0/available_clocksource", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return true;
  char sources[256];
  const long got = ::syscall(SYS_read, descriptor, sources, sizeof(sources) - 1);
  ::syscall(SYS_close, descriptor);
  if (got <= 0) return true;
  sources[got] = '\0';
  return std::strstr(sources, "tsc") != nullptr;
}
#else
bool tsc_is_good() { return false; }
#endif

}  // namespace

bool detail::clock_uses_tsc = false;

namespace {
// Runs before all other constructors of the library, one of which reads the clock.
[[gnu::constructor(101)]] void choose_clock() { detail::clock_uses_tsc = tsc_is_good(); }
}  // namespace

const char* clock_name() { return detail::clock_uses_tsc ? "tsc" : "CLOCK_MONOTONIC"; }

}  // namespace ardoise::instrument
