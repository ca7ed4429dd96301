// The real function behind a hook, which the program would have called without this library.
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace ardoise::instrument {

// The lookup runs when the library is loaded (real_function.cpp), since a hook may be called in a signal handler, where
// dlsym() is not allowed. A call before that looks up itself. Constant-initialised, so that it works before any
// constructor of this library. Two threads may look up at once: both find the same function.
class RealEntry {
 public:
  explicit constexpr RealEntry(const char* name) : name_(name) {}

  [[nodiscard]] void* find() const {
    // Relaxed: no other data depends on the pointer.
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

// Defines the exported function `name` under a separate C++ name, so that the headers' declarations, with their
// attributes and inline variants, do not conflict. In its body __builtin_return_address(0) is in the program.
#define ARDOISE_REPLACE(result, name, ...)                                                                         \
  extern "C" [[gnu::visibility("default"), gnu::noinline]] result ardoise_hook_##name(__VA_ARGS__) __asm__(#name); \
  result ardoise_hook_##name(__VA_ARGS__)

// The same for a body that calls the replaced function as real_name.
#define ARDOISE_HOOK(result, name, ...)            \
  ARDOISE_REAL_FUNCTION(name, result(__VA_ARGS__)) \
  ARDOISE_REPLACE(result, name, __VA_ARGS__)

// For functions whose names libraries also use for functions of their own, with other parameters and results (dup,
// getline …), and for functions with variable arguments, which a hook cannot pass on. The exported name is a jump to
// the hook, or to the next definition if that is not the C library's (real_function.cpp). The jump changes no register.
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

// On these machines the hook hides a library's own function of such a name.
#define ARDOISE_REPLACE_UNLESS_OWN(...) ARDOISE_REPLACE(__VA_ARGS__)

#endif

#define ARDOISE_HOOK_UNLESS_OWN(result, name, ...) \
  ARDOISE_REAL_FUNCTION(name, result(__VA_ARGS__)) \
  ARDOISE_REPLACE_UNLESS_OWN(result, name, __VA_ARGS__)

// The section holds a pointer to each entry, for real_function.cpp.
#define ARDOISE_REAL_FUNCTION(name, ...)                               \
  constinit static const RealFunction<__VA_ARGS__> real_##name(#name); \
  [[gnu::used, gnu::section("ardoise_real_functions")]] static const RealEntry* const entry_of_##name = &real_##name;
