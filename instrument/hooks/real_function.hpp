// The function behind a hook: what the program would have called without us.
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace ardoise::instrument {

// Looked up at the first call, which may come before any constructor of this library has run; constant-initialised, so
// that it is usable by then. Two threads may look up at once: they find the same.
template <class Signature>
class RealFunction {
 public:
  explicit constexpr RealFunction(const char* name) : name_(name) {}

  template <class... Arguments>
  auto operator()(Arguments... arguments) const {
    return get()(arguments...);
  }
  [[nodiscard]] Signature* get() const {
    // Relaxed: the pointer says it all.
    if (Signature* const found = function_.load(std::memory_order_relaxed); found != nullptr) [[likely]]
      return found;
    auto* const found = reinterpret_cast<Signature*>(::dlsym(RTLD_NEXT, name_));
    function_.store(found, std::memory_order_relaxed);
    return found;
  }

 private:
  const char* name_;
  mutable std::atomic<Signature*> function_ = nullptr;
};

}  // namespace ardoise::instrument

// Defines the exported function `name` under a C++ name of our own: the headers' declarations, with their attributes
// and inline variants, do not stand in the way. In its body __builtin_return_address(0) is in the program.
#define ARDOISE_REPLACE(result, name, ...)                                                                         \
  extern "C" [[gnu::visibility("default"), gnu::noinline]] result ardoise_hook_##name(__VA_ARGS__) __asm__(#name); \
  result ardoise_hook_##name(__VA_ARGS__)

// The same for a body that calls the replaced function as real_name.
#define ARDOISE_HOOK(result, name, ...)                                        \
  constinit static const RealFunction<result(__VA_ARGS__)> real_##name(#name); \
  ARDOISE_REPLACE(result, name, __VA_ARGS__)
