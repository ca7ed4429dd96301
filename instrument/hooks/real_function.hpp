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

// Hooks of functions whose names libraries of programs also give to functions of their own, with other parameters and
// results (dup, getline …), and of those with variable arguments, which a hook cannot pass on. The exported name is a
// jump: to the hook, or past us where the next definition is not the C library's (real_function.cpp). No register is
// touched on the way.
#if defined(__x86_64__) && defined(__LP64__)

#define ARDOISE_REPLACE_UNLESS_OWN(result, name, ...)                                                                  \
  extern "C" [[gnu::visibility("hidden"), gnu::noinline, gnu::used]] result ardoise_hook_##name(__VA_ARGS__);          \
  asm(".text\n\t.p2align 4\n\t.globl " #name "\n\t.type " #name ", @function\n" #name                                  \
      ":\n\t.cfi_startproc\n\tendbr64\n\tjmp *.Ltarget_" #name "(%rip)\n\t.cfi_endproc\n\t.size " #name ", . - " #name \
      "\n\t.section .rodata.str1.1, \"aMS\", @progbits, 1\n.Lname_" #name ":\n\t.string \"" #name                      \
      "\"\n\t.data\n\t.p2align 3\n.Ltarget_" #name ":\n\t.quad ardoise_hook_" #name                                    \
      "\n\t.section ardoise_shared_names, \"aw\"\n\t.quad .Lname_" #name ", .Ltarget_" #name "\n\t.text\n");           \
  result ardoise_hook_##name(__VA_ARGS__)

#else

// Here a library's own function of such a name is hidden by our hook.
#define ARDOISE_REPLACE_UNLESS_OWN(...) ARDOISE_REPLACE(__VA_ARGS__)

#endif

#define ARDOISE_HOOK_UNLESS_OWN(result, name, ...) \
  ARDOISE_REAL_FUNCTION(name, result(__VA_ARGS__)) \
  ARDOISE_REPLACE_UNLESS_OWN(result, name, __VA_ARGS__)

// The section holds a pointer to each, for real_function.cpp.
#define ARDOISE_REAL_FUNCTION(name, ...)                               \
  constinit static const RealFunction<__VA_ARGS__> real_##name(#name); \
  [[gnu::used, gnu::section("ardoise_real_functions")]] static const RealEntry* const entry_of_##name = &real_##name;
