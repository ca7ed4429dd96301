#include "instrument/process/ending/fatal_signals.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "instrument/machine/vfork_child.hpp"
#include "instrument/process/ending/end_note.hpp"

namespace ardoise::instrument {
namespace {

struct Watched {
  int number;
  // The program's actions: one is valid, the other is being written. Release and acquire: the valid one is complete.
  std::array<struct sigaction, 2> actions{};
  std::atomic<unsigned> valid = 0;
  std::atomic_flag is_changing = ATOMIC_FLAG_INIT;

  [[nodiscard]] const struct sigaction& action() const noexcept {
    return actions[valid.load(std::memory_order_acquire)];
  }
};
constinit std::array<Watched, 6> watched{{{SIGSEGV}, {SIGBUS}, {SIGFPE}, {SIGILL}, {SIGABRT}, {SIGTERM}}};
constinit std::atomic<bool> is_watching = false;

Watched* find(int number) noexcept {
  const auto found = std::ranges::find(watched, number, &Watched::number);
  return found == watched.end() ? nullptr : &*found;
}

void put(Watched& signal, const struct sigaction& action) noexcept {
  const unsigned other = 1u - signal.valid.load(std::memory_order_relaxed);
  signal.actions[other] = action;
  signal.valid.store(other, std::memory_order_release);
}

bool has(const struct sigaction& action, unsigned flag) noexcept {
  return (static_cast<unsigned>(action.sa_flags) & flag) != 0;
}
bool is_default(const struct sigaction& action) noexcept { return action.sa_handler == SIG_DFL; }
bool is_ignored(const struct sigaction& action) noexcept { return action.sa_handler == SIG_IGN; }

// The C library sets it and returns it.
constexpr int kRestorer = 0x04000000;

// The kernel's default action ends the process when this handler returns: a fault repeats, other signals are sent
// again.
void die(int number, siginfo_t& information) noexcept {
  struct sigaction none {};
  (void)set_kernel_action(number, &none, nullptr);
  const bool comes_again = information.si_code > 0 && number != SIGABRT && number != SIGTERM;
  if (!comes_again) ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::syscall(SYS_gettid), number, &information);
}

void on_fatal_signal(int number, siginfo_t* information, void* ucontext) noexcept {
  const int saved = errno;
  Watched& signal = *find(number);
  const struct sigaction action = signal.action();
  const bool is_noted = note_signal(*information, ucontext);
  // The kernel did the same with this library's action.
  if (has(action, SA_RESETHAND)) {
    struct sigaction reset = action;
    reset.sa_handler = SIG_DFL;
    put(signal, reset);
  }
  if (is_default(action)) die(number, *information);
  errno = saved;
  if (is_default(action) || is_ignored(action)) return;
  if (has(action, SA_SIGINFO)) {
    action.sa_sigaction(number, information, ucontext);
  } else {
    action.sa_handler(number);
  }
  if (is_noted) forget_end_note();
}

// The kernel's action in place of the program's.
struct sigaction ours_for(const struct sigaction& action) noexcept {
  if (is_ignored(action)) return action;
  struct sigaction ours = action;
  // A stack overflow can be reported if the program has an alternate stack.
  if (is_default(action)) ours.sa_flags = SA_ONSTACK;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = on_fatal_signal;
  return ours;
}

}  // namespace

void watch_fatal_signals() noexcept {
  for (Watched& signal : watched) {
    struct sigaction now {};
    if (set_kernel_action(signal.number, nullptr, &now) != 0) continue;
    put(signal, now);
    const struct sigaction ours = ours_for(now);
    (void)set_kernel_action(signal.number, &ours, nullptr);
  }
  is_watching.store(true, std::memory_order_release);
}

void restore_fatal_signals() noexcept {
  if (!is_watching.exchange(false, std::memory_order_acq_rel)) return;
  for (Watched& signal : watched) {
    // The C library would add its own flag to an action that was never set.
    struct {
      void (*handler)(int, siginfo_t*, void*);
      unsigned long flags;
      void* restorer;
      std::uint64_t mask;
    } kernel{};
    ::syscall(SYS_rt_sigaction, signal.number, nullptr, &kernel, sizeof kernel.mask);
    if (kernel.handler != on_fatal_signal) continue;
    const struct sigaction& action = signal.action();
    kernel.handler = action.sa_sigaction;
    kernel.flags = static_cast<unsigned>(action.sa_flags);
    std::memcpy(&kernel.mask, &action.sa_mask, sizeof kernel.mask);
    ::syscall(SYS_rt_sigaction, signal.number, &kernel, nullptr, sizeof kernel.mask);
  }
}

bool is_watched(int number) noexcept {
  return is_watching.load(std::memory_order_acquire) && find(number) != nullptr && !is_vfork_child();
}

int change_action(int number, const struct sigaction* action, struct sigaction* before) noexcept {
  Watched& signal = *find(number);
  if (action == nullptr) {
    if (before != nullptr) *before = signal.action();
    return 0;
  }
  // A handler of another signal may change the same action.
  std::uint64_t all = ~std::uint64_t{0}, mask = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &mask, sizeof mask);
  while (signal.is_changing.test_and_set(std::memory_order_acquire)) continue;
  const struct sigaction was = signal.action();
  const struct sigaction ours = ours_for(*action);
  const int result = set_kernel_action(number, &ours, nullptr);
  struct sigaction now {
  }, seen = *action;
  if (result == 0 && set_kernel_action(number, nullptr, &now) == 0) {
    seen.sa_flags |= now.sa_flags & kRestorer;
    put(signal, seen);
  }
  signal.is_changing.clear(std::memory_order_release);
  const int error = errno;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, sizeof mask);
  errno = error;
  if (result == 0 && before != nullptr) *before = was;
  return result;
}

}  // namespace ardoise::instrument
