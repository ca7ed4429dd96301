// The function behind a hook: what the program would have called without us.
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace ardoise::instrument {

// Looked up when the library is loaded (real_function.cpp), since a hook may be called in a signal handler, where
// dlsym() is not allowed; or at the first call, which may come before any constructor of this library has run.
// Constant-initialised, so that it is usable by then. Two threads may look up at once: they find the same.
class RealEntry {
 public:
  explicit constexpr RealEntry(const char* name) : name_(name) {}

  [[nodiscard]] void* find() const {
    // Relaxed: the pointer says it all.
    if (void* const found = function_.load(std::memory_order_relaxed); found != nullptr) [[likely]]
      return found;
    void* const found = ::dlsym(RTLD_NEXT, name_);
    function_.store(found, std::memory_order_relaxed);
    return found;
  }

 private:
  const char* name_;
  mutable std::atomic<void*> function_ = nullptr;
};

template <class Signature>
class RealFunction : public RealEntry {
 public:
  using RealEntry::RealEntry;

  template <class... Arguments>
  auto operator()(Arguments... arguments) const {
    return get()(arguments...);
  }
  [[nodiscard]] Signature* get() const { return reinterpret_cast<Signature*>(find()); }
};

}  // namespace ardoise::instrument

// Defines the exported function `name` under a C++ name of our own: the headers' declarations, with their attributes
// and inline variants, do not stand in the way. In its body __builtin_return_address(0) is in the program.
#define ARDOISE_REPLACE(result, name, ...)                                                                         \
  extern "C" [[gnu::visibility("default"), gnu::noinline]] result ardoise_hook_##name(__VA_ARGS__) __asm__(#name); \
  result ardoise_hook_##name(__VA_ARGS__)

// The same for a body that calls the replaced function as real_name.
#define ARDOISE_HOOK(result, name, ...)            \
  ARDOISE_REAL_FUNCTION(name, result(__VA_ARGS__)) \
  ARDOISE_REPLACE(result, name, __VA_ARGS__)

// The section holds a pointer to each, for real_function.cpp.
#define ARDOISE_REAL_FUNCTION(name, ...)                               \
  constinit static const RealFunction<__VA_ARGS__> real_##name(#name); \
  [[gnu::used, gnu::section("ardoise_real_functions")]] static const RealEntry* const entry_of_##name = &real_##name;
