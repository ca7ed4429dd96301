// dlsym and dlvsym, as far as programs look MPI functions up in a library that they have opened themselves (Python's
// ctypes, Julia, loaders in Rust): the search begins at that library, past us, and the program would be half in its own
// world and half in the real one. A function of the MPI library that we serve becomes ours; all else stays what was
// found.
//
// RTLD_DEFAULT and RTLD_NEXT mean "as seen from the caller", which the real function knows by its return address: the
// entries below jump there and leave no trace. They find us without help, since we are ahead of the MPI library. Only
// in the libraries that are preloaded or linked, not in programs of ours; only for x86-64, whose entries are written
// below.
#if defined(__x86_64__) && defined(__LP64__)

#include <dlfcn.h>

#include "vmpi/loader/loaded_library.hpp"
#include "vmpi/wrappers/fortran_function.hpp"

extern "C" {
using Dlsym = void* (*)(void* handle, const char* name);
using Dlvsym = void* (*)(void* handle, const char* name, const char* version);
// What stands behind us, nullptr up to the first call.
[[gnu::visibility("hidden")]] constinit Dlsym ardoise_next_dlsym = nullptr;
[[gnu::visibility("hidden")]] constinit Dlvsym ardoise_next_dlvsym = nullptr;
[[gnu::visibility("hidden")]] Dlsym ardoise_find_next_dlsym() noexcept;
[[gnu::visibility("hidden")]] Dlvsym ardoise_find_next_dlvsym() noexcept;
[[gnu::visibility("hidden")]] void* ardoise_dlsym(void* handle, const char* name, const char* caller) noexcept;
[[gnu::visibility("hidden")]] void* ardoise_dlvsym(void* handle, const char* name, const char* version,
                                                   const char* caller) noexcept;
// Of the linker: where this library begins and ends in memory.
[[gnu::visibility("hidden")]] extern const char __ehdr_start[];
[[gnu::visibility("hidden")]] extern const char _end[];
}

// The entry of `name`: an explicit handle goes to ardoise_<name> with the caller as a further argument, the others (0
// and -1) to the real function. At the first call the stack is aligned and the arguments are kept while it is looked
// for.
asm(R"(
  .macro vmpi_lookup_entry name, caller
  .text
  .p2align 4
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  endbr64
  leaq 1(%rdi), %rax
  cmpq $1, %rax
  jbe 1f
  movq (%rsp), \caller
  jmp ardoise_\name
1:
  movq ardoise_next_\name(%rip), %rax
  testq %rax, %rax
  je 2f
  jmp *%rax
2:
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  call ardoise_find_next_\name
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmp *%rax
  .cfi_endproc
  .size \name, . - \name
  .endm
  vmpi_lookup_entry dlsym, %rdx
  vmpi_lookup_entry dlvsym, %rcx
)");

namespace ardoise::vmpi {
namespace {

const link_map* own_map() noexcept { return link_map_of(__ehdr_start); }

// Not dlsym(RTLD_NEXT): that is ours. A second copy of ours is passed over, it would replace what we look up.
template <class Function>
Function find_next(Function& slot, const char* name) noexcept {
  Function found = __atomic_load_n(&slot, __ATOMIC_RELAXED);
  if (found != nullptr) return found;
  for (const link_map* map = own_map(); map != nullptr && found == nullptr; map = map->l_next) {
    if (definition_in(*map, "VMPI_Comm_universe") == nullptr)
      found = reinterpret_cast<Function>(definition_in(*map, name));
  }
  __atomic_store_n(&slot, found, __ATOMIC_RELAXED);  // every thread finds the same
  return found;
}

// Our own lookups mean the library.
bool is_own_code(const char* address) noexcept { return address >= __ehdr_start && address < _end; }

// MPI_, MPIX_, mpi_, and with P or p in front.
bool is_mpi_name(const char* name) noexcept {
  if (*name == 'P' || *name == 'p') ++name;
  const bool is_capital = name[0] == 'M';
  return (is_capital || name[0] == 'm') && name[1] == (is_capital ? 'P' : 'p') && name[2] == (is_capital ? 'I' : 'i');
}

// Told apart once: none of them comes or goes later.
struct Libraries {
  const link_map* own = own_map();
  const link_map* mpi = link_map_of(find_in_mpi_library("MPI_Init"));                 // the one that we serve
  const link_map* second_copy = link_map_of(dlsym(RTLD_NEXT, "VMPI_Comm_universe"));  // nullptr mostly
};

const Libraries& libraries() noexcept {
  static const Libraries found;
  return found;
}

// Of the MPI that we serve, not of another one, nor a tool's: tools define no PMPI_ names.
bool is_its_fortran_library(const link_map& library, const void* address) noexcept {
  if (definition_in(library, "pmpi_initialized_") == nullptr &&
      definition_in(library, "pmpi_initialized_f08_") == nullptr)
    return false;
  void* const handle = handle_of(address);
  if (handle == nullptr) return false;
  const bool is_its = link_map_of(dlsym(handle, "PMPI_Init")) == libraries().mpi;
  dlclose(handle);
  return is_its;
}

// Between us and the library. One that looks up in this way what it goes on to would be called by ours again.
bool is_tool_behind(const link_map& caller, const char* name) noexcept {
  if (definition_in(caller, name) == nullptr) return false;
  const auto& [own, mpi, second_copy] = libraries();
  for (const link_map* map = own->l_next; map != nullptr && map != mpi; map = map->l_next) {
    if (map == &caller) return true;
  }
  return false;
}

void* replacement(void* found, const char* name, const char* caller_address) noexcept {
  const auto& [own, mpi, second_copy] = libraries();
  void* const ours = own == nullptr || mpi == nullptr ? nullptr : definition_in(*own, name);
  if (ours == nullptr || ours == found) return found;
  const link_map* const caller = link_map_of(caller_address);
  if (caller != nullptr && (caller == mpi || caller == second_copy || is_tool_behind(*caller, name))) return found;
  const link_map* const place = link_map_of(found);
  if (place == nullptr) return found;
  if (place == mpi || place == second_copy) return ours;
  if (!is_its_fortran_library(*place, found)) return found;
  remember_fortran_library(found);
  return ours;
}

// The program's call came first and succeeded, after which dlerror() has nothing to say: what we asked meanwhile must
// not change that.
void* answer(void* found, const char* name, const char* caller) noexcept {
  if (found == nullptr || !is_mpi_name(name) || is_own_code(caller)) return found;
  void* const given = replacement(found, name, caller);
  dlerror();
  return given;
}

}  // namespace
}  // namespace ardoise::vmpi

using namespace ardoise::vmpi;

Dlsym ardoise_find_next_dlsym() noexcept { return find_next(ardoise_next_dlsym, "dlsym"); }
Dlvsym ardoise_find_next_dlvsym() noexcept { return find_next(ardoise_next_dlvsym, "dlvsym"); }

void* ardoise_dlsym(void* handle, const char* name, const char* caller) noexcept {
  return answer(ardoise_find_next_dlsym()(handle, name), name, caller);
}
void* ardoise_dlvsym(void* handle, const char* name, const char* version, const char* caller) noexcept {
  return answer(ardoise_find_next_dlvsym()(handle, name, version), name, caller);
}

#endif
