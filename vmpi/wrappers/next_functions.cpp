#include "vmpi/wrappers/next_functions.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "vmpi/loader/loaded_library.hpp"

namespace ardoise::vmpi {
namespace {

using Slot = void (*)();
static_assert(sizeof(RealFunctions) == kRealFunctionCount * sizeof(Slot), "one pointer for each name");

Slot load(const RealFunctions& table, unsigned position) {
  Slot function = nullptr;
  std::memcpy(&function, reinterpret_cast<const char*>(&table) + position * sizeof(Slot), sizeof function);
  return function;
}

// Several threads may make the first call at once; all store the same.
void store(RealFunctions& table, unsigned position, void* function) {
  __atomic_store_n(reinterpret_cast<void**>(&table) + position, function, __ATOMIC_RELAXED);
}

bool find() {
  const void* const library_base = base_of(find_in_mpi_library("MPI_Init"));
  const void* const second_copy = base_of_second_copy();
  for (unsigned i = 0; i < kRealFunctionCount; ++i) {
    const char* const name = kRealFunctionNames[i];
    void* const own = find_in_mpi_library(name);
    if (own == nullptr) continue;  // report_missing_function() when it is called
    void* behind = own;
    void* const next = dlsym(RTLD_NEXT, name);
    const void* const base = next == own ? library_base : base_of(next);
    if (base != nullptr && base != library_base && base != second_copy) {
      store(next_tool, i, next);
      behind = next;
      // A tool that forwards to PMPI_x returns to us there, so it gets what it would see without us. A tool that goes
      // past us (dlsym, RTLD_NEXT) must get the library's communicator.
      char twin[128];
      std::snprintf(twin, sizeof twin, "P%s", name);
      if (const Slot front = load(to_next_tool, i); front != nullptr && imports(next, twin))
        behind = reinterpret_cast<void*>(front);
    }
    store(library, i, own);
    store(real, i, behind);
  }
  return true;
}

}  // namespace

void find_next_functions() noexcept { [[maybe_unused]] static const bool is_found = find(); }

void report_missing_function(unsigned position) noexcept {
  std::fprintf(stderr, "ardoise: the MPI library of this process lacks %s, which the program calls.\n",
               kRealFunctionNames[position]);
  std::abort();
}

}  // namespace ardoise::vmpi
