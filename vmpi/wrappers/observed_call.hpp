// One observed call, from just before the real function to just after it, and the check whether a call is observed.
// Used by generated wrappers only.
#pragma once

#include "vmpi/wrappers/observer.hpp"

namespace ardoise::vmpi {

// Stack address of this thread's outermost observed call; nullptr: none. MPI calls by MPI itself or by a callback lie
// deeper (lower) on the same stack. A call left by longjmp is recognised: the next call of the program lies higher.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local const char* outermost_call = nullptr;

// Observation runs only while the program's world is up. Relaxed: an observer tolerates a call at the edges.
inline constinit std::atomic<bool> observing{false};

inline const char* stack_address() {
#if defined(__x86_64__)
  const char* address;
  asm("mov %%rsp, %0" : "=r"(address));
  return address;
#elif defined(__aarch64__)
  const char* address;
  asm("mov %0, sp" : "=r"(address));
  return address;
#else
  return static_cast<const char*>(__builtin_frame_address(0));
#endif
}

// False: only the real function is called. The unobserved path is this one load and test.
inline bool is_observed() { return observer.load(std::memory_order_relaxed) != nullptr; }

// The observer of this call; nullptr: none.
inline const Observer* watch() {
  const Observer* const current = observer.load(std::memory_order_acquire);  // pairs with the store that published it
  if (current == nullptr) [[likely]]
    return nullptr;
  if (!observing.load(std::memory_order_relaxed)) return nullptr;
  return stack_address() < outermost_call ? nullptr : current;  // nullptr is below every stack
}

class ObservedCall {
 public:
  ObservedCall(const Observer& watching, FunctionId function, const void* return_address) : watching_(watching) {
    call.function = function;
    call.return_address = return_address;
    outermost_call = reinterpret_cast<const char*>(this + 1);
  }
  ~ObservedCall() { outermost_call = nullptr; }
  ObservedCall(const ObservedCall&) = delete;
  ObservedCall& operator=(const ObservedCall&) = delete;

  void enter() { watching_.enter(call); }
  void exit(int result) {
    call.result = result;
    watching_.exit(call);
  }

  Call call;

 private:
  const Observer& watching_;
};

// During its lifetime MPI calls of this thread are the tool's own.
class Unobserved {
 public:
  Unobserved() : outer_(outermost_call) { outermost_call = reinterpret_cast<const char*>(this + 1); }
  ~Unobserved() { outermost_call = outer_; }
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;

 private:
  const char* outer_;
};

}  // namespace ardoise::vmpi
