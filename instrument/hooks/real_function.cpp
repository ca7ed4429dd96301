// When the library is loaded, looks up all functions that it hooks: see real_function.hpp.
#include "instrument/hooks/real_function.hpp"

// Of the linker: where the section begins and ends.
extern "C" [[gnu::visibility("hidden")]] const ardoise::instrument::RealEntry* const __start_ardoise_real_functions[];
extern "C" [[gnu::visibility("hidden")]] const ardoise::instrument::RealEntry* const __stop_ardoise_real_functions[];

namespace {

[[gnu::constructor]] void find_all() {
  for (const auto* entry = __start_ardoise_real_functions; entry != __stop_ardoise_real_functions; ++entry) {
    (void)(*entry)->find();
  }
  ::dlerror();  // a function that this C library lacks is no error that the program should find
}

}  // namespace
