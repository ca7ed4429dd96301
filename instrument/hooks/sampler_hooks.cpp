// Hooks of events that concern sampling: threads begin, signals are used or masked, modules are unloaded. Each hook
// also does what the program asked for. Only those of signals and dlclose are needed for safety.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>
#include <new>
#include <vector>

#include "instrument/hooks/real_function.hpp"
#include "instrument/machine/activity.hpp"
#include "instrument/machine/vfork_child.hpp"
#include "instrument/process/ending/fatal_signals.hpp"
#include "instrument/process/session/session.hpp"
#include "instrument/sampling/sampler.hpp"
#include "vmpi/wrappers/observed_call.hpp"

namespace ardoise::instrument {

ARDOISE_REAL_FUNCTION(pthread_sigmask, int(int, const sigset_t*, sigset_t*))

namespace {

// ---- threads

struct ThreadStart {
  void* (*function)(void*);
  void* argument;
};

// No noexcept and no catch around the program's function: pthread_exit() and cancellation unwind through here.
void* begin_thread(void* start_untyped) {
  const ThreadStart start = *static_cast<ThreadStart*>(start_untyped);
  delete static_cast<ThreadStart*>(start_untyped);
  if (Session* const current = session.load(std::memory_order_acquire)) current->thread_began();
  return start.function(start.argument);
}

// A thread that MPI starts blocks signals. Otherwise it would handle those of the program that arrive while the other
// threads are in the sampler's handler, which blocks them; but a program's handler may jump to the stack of its thread.
// SIGTERM is let through: where the program blocks it, MPI's threads natively end the process.
class BlockedForMpi {
 public:
  BlockedForMpi() noexcept : is_mpis_(starts_mpi || vmpi::stack_address() < vmpi::outermost_call) {
    if (!is_mpis_) return;
    sigset_t asynchronous;
    ::sigfillset(&asynchronous);
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGTERM})
      ::sigdelset(&asynchronous, number);
    real_pthread_sigmask(SIG_BLOCK, &asynchronous, &before_);
  }
  ~BlockedForMpi() {
    if (is_mpis_) real_pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  BlockedForMpi(const BlockedForMpi&) = delete;
  BlockedForMpi& operator=(const BlockedForMpi&) = delete;

 private:
  const bool is_mpis_;
  sigset_t before_;
};

}  // namespace

ARDOISE_HOOK(int, pthread_create, pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
             void* argument) {
  const BlockedForMpi blocked;
  if (session.load(std::memory_order_relaxed) == nullptr)
    return real_pthread_create(thread, attributes, function, argument);
  auto* const start = new (std::nothrow) ThreadStart{function, argument};
  if (start == nullptr) return real_pthread_create(thread, attributes, function, argument);
  const int error = real_pthread_create(thread, attributes, &begin_thread, start);
  if (error != 0) delete start;
  return error;
}

// ---- the sampling signal

namespace {

// nullptr: nothing is sampled, or this is a vfork() child. The child has its own actions and mask, and the data here
// describes its parent.
Sampler* sampler_of_caller() {
  Sampler* const current = sampler.load(std::memory_order_acquire);
  return current != nullptr && !is_vfork_child() ? current : nullptr;
}

bool is_ours(int number) {
  const Sampler* const current = sampler_of_caller();
  return current != nullptr && current->signal() == number;
}

// The program sets an action for the sampling signal, which it regards as free. In a handler that interrupted this
// library the signal stays with the sampler, since stopping it would wait.
void taken(int number) {
  const bool is_inside = own_activity != nullptr && own_activity->load(std::memory_order_relaxed) != Activity::kProgram;
  if (!is_ours(number) || is_inside) return;
  Sampler* const current = sampler.exchange(nullptr, std::memory_order_acq_rel);
  if (current != nullptr) current->signal_was_taken();
}

// A set without the sampling signal: a blocked one would stay pending, and sigwait() would return it to the program.
const sigset_t* without_ours(const sigset_t* set, sigset_t& copy) {
  const Sampler* const current = sampler_of_caller();
  if (current == nullptr || set == nullptr || ::sigismember(set, current->signal()) != 1) return set;
  copy = *set;
  ::sigdelset(&copy, current->signal());
  return &copy;
}

// The program regards the sampling signal as blocked in this thread.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool seems_blocked = false;

template <class Real>
int change_mask(const Real& real, int how, const sigset_t* set, sigset_t* before) {
  const Sampler* const current = sampler_of_caller();
  if (current == nullptr) return real(how, set, before);
  const bool seemed = seems_blocked;
  sigset_t copy;
  const bool contains = set != nullptr && ::sigismember(set, current->signal()) == 1;
  const sigset_t* const wanted = how == SIG_UNBLOCK ? set : without_ours(set, copy);
  const int result = real(how, wanted, before);
  if (result != 0) return result;
  if (before != nullptr && seemed) ::sigaddset(before, current->signal());
  if (set != nullptr) {
    if (how == SIG_SETMASK) seems_blocked = contains;
    if (how == SIG_BLOCK && contains) seems_blocked = true;
    if (how == SIG_UNBLOCK && contains) seems_blocked = false;
  }
  return result;
}

}  // namespace

ARDOISE_REAL_FUNCTION(sigaction, int(int, const struct sigaction*, struct sigaction*))

namespace {

constexpr int kRestarts = SA_RESTART, kOnce = static_cast<int>(SA_RESETHAND | SA_NODEFER);

// signal() for a watched signal, with the flags of its variant.
using SignalHandler = void (*)(int);
SignalHandler change_handler(int number, SignalHandler handler, int flags) {
  if (handler == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  struct sigaction action {
  }, before{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  if (flags == kRestarts) ::sigaddset(&action.sa_mask, number);
  return change_action(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

}  // namespace

// Handlers on alternate stacks block the sampling signal, since such a stack may lack room for its handler.
int set_kernel_action(int number, const struct sigaction* action, struct sigaction* before) noexcept {
  const Sampler* const current = sampler_of_caller();
  if (current == nullptr) return real_sigaction(number, action, before);
  struct sigaction keeps_ours_out {};
  if (action != nullptr && (action->sa_flags & SA_ONSTACK) != 0) {
    keeps_ours_out = *action;
    ::sigaddset(&keeps_ours_out.sa_mask, current->signal());
    action = &keeps_ours_out;
  }
  const int result = real_sigaction(number, action, before);
  if (result == 0 && before != nullptr && (before->sa_flags & SA_ONSTACK) != 0) {
    ::sigdelset(&before->sa_mask, current->signal());
  }
  return result;
}

ARDOISE_REPLACE(int, sigaction, int number, const struct sigaction* action, struct sigaction* before) {
  if (is_watched(number)) return change_action(number, action, before);
  if (!is_ours(number)) return set_kernel_action(number, action, before);
  if (action != nullptr) {
    taken(number);
    struct sigaction ignored {};
    const int result = is_ours(number) ? 0 : real_sigaction(number, action, &ignored);
    if (before != nullptr) *before = {};
    return result;
  }
  if (before != nullptr) *before = {};  // SIG_DFL, the action before the sampler's
  return 0;
}

ARDOISE_HOOK(SignalHandler, signal, int number, SignalHandler handler) {
  if (is_watched(number)) return change_handler(number, handler, kRestarts);
  const bool ours = is_ours(number);
  if (ours) taken(number);
  if (is_ours(number)) return SIG_DFL;
  const SignalHandler before = real_signal(number, handler);
  return ours ? SIG_DFL : before;
}
ARDOISE_HOOK(SignalHandler, __sysv_signal, int number, SignalHandler handler) {
  if (is_watched(number)) return change_handler(number, handler, kOnce);
  const bool ours = is_ours(number);
  if (ours) taken(number);
  if (is_ours(number)) return SIG_DFL;
  const SignalHandler before = real___sysv_signal(number, handler);
  return ours ? SIG_DFL : before;
}

ARDOISE_REPLACE(int, pthread_sigmask, int how, const sigset_t* set, sigset_t* before) {
  return change_mask(real_pthread_sigmask, how, set, before);
}
ARDOISE_HOOK(int, sigprocmask, int how, const sigset_t* set, sigset_t* before) {
  return change_mask(real_sigprocmask, how, set, before);
}
ARDOISE_HOOK(int, sigwait, const sigset_t* set, int* number) {
  sigset_t copy;
  return real_sigwait(without_ours(set, copy), number);
}
ARDOISE_HOOK(int, sigwaitinfo, const sigset_t* set, siginfo_t* information) {
  sigset_t copy;
  return real_sigwaitinfo(without_ours(set, copy), information);
}
ARDOISE_HOOK(int, sigtimedwait, const sigset_t* set, siginfo_t* information, const struct timespec* timeout) {
  sigset_t copy;
  return real_sigtimedwait(without_ours(set, copy), information, timeout);
}

// ---- modules

ARDOISE_HOOK(int, dlclose, void* handle) {
  Sampler* const current = sampler_of_caller();
  if (current == nullptr) return real_dlclose(handle);
  std::vector<LoadedModule> before;
  bool told = false;
  try {
    before = loaded_modules();
    told = true;
    current->before_unload(before);
  } catch (const std::exception&) {
    switch_off("no memory to follow the program's modules; recording ends here.");
  }
  const int result = real_dlclose(handle);
  if (!told) return result;
  try {
    current->after_unload(before, loaded_modules());
  } catch (const std::exception&) {
    switch_off("no memory to follow the program's modules; recording ends here.");
  }
  return result;
}

}  // namespace ardoise::instrument
