// Looks up all hooked functions when the library is loaded: see real_function.hpp.
#include "instrument/hooks/real_function.hpp"

#include <cstdlib>

// The linker defines the begin and end of the section.
extern "C" [[gnu::visibility("hidden")]] const ardoise::instrument::RealEntry* const __start_ardoise_real_functions[];
extern "C" [[gnu::visibility("hidden")]] const ardoise::instrument::RealEntry* const __stop_ardoise_real_functions[];

#if defined(__x86_64__) && defined(__LP64__)
namespace {

struct SharedName {
  const char* name;
  void** target;  // of the jump
};

const void* base_of(const void* address) noexcept {
  Dl_info info;
  return ::dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

}  // namespace

extern "C" [[gnu::visibility("hidden")]] const SharedName __start_ardoise_shared_names[];
extern "C" [[gnu::visibility("hidden")]] const SharedName __stop_ardoise_shared_names[];

// Redirects the jump to the next definition of the function, if that is not the C library's.
static void go_past_own_functions() {
  const void* const libc = base_of(reinterpret_cast<const void*>(&std::abort));
  for (const auto* shared = __start_ardoise_shared_names; shared != __stop_ardoise_shared_names; ++shared) {
    void* const next = ::dlsym(RTLD_NEXT, shared->name);
    if (next != nullptr && base_of(next) != libc) *shared->target = next;
  }
}
#else
static void go_past_own_functions() {}
#endif

namespace {

[[gnu::constructor]] void find_all() {
  for (const auto* entry = __start_ardoise_real_functions; entry != __stop_ardoise_real_functions; ++entry) {
    (void)(*entry)->find();
  }
  go_past_own_functions();
  ::dlerror();  // hides the error for a function that this C library lacks
}

}  // namespace
