// See chain.hpp.
#include "vmpi/chain.hpp"

#include <dlfcn.h>

#include <cstring>

#include "vmpi/real_functions.hpp"

namespace ardoise::vmpi {
namespace {

using Slot = void (*)();
static_assert(sizeof(RealFunctions) == kRealFunctionCount * sizeof(Slot), "one pointer for each name");

void* base_of(void* address) {
  Dl_info info;
  return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

}  // namespace

void chain_to_next_tool() noexcept {
  // The library itself, and a second copy of these wrappers (a program linked to libvmpi under libardoise), are no
  // tools.
  void* const library = base_of(dlsym(RTLD_NEXT, "PMPI_Init"));
  void* const second_copy = base_of(dlsym(RTLD_NEXT, "VMPI_Comm_universe"));
  for (unsigned i = 0; i < kRealFunctionCount; ++i) {
    void* const next = dlsym(RTLD_NEXT, kRealFunctionNames[i]);
    void* known = nullptr;
    std::memcpy(&known, reinterpret_cast<char*>(&real) + i * sizeof(Slot), sizeof known);
    if (next == nullptr || next == known) continue;  // in the library, MPI_x and PMPI_x are one function
    void* const base = base_of(next);
    if (base == nullptr || base == library || base == second_copy) continue;
    std::memcpy(reinterpret_cast<char*>(&real) + i * sizeof(Slot), &next, sizeof next);
  }
}

}  // namespace ardoise::vmpi
