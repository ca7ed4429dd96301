// Hooks of dlsym and dlvsym for MPI functions that programs look up in a library that they opened themselves (Python's
// ctypes, Julia, loaders in Rust): the search begins at that library, past us, and would leave the program half in its
// own world and half in the real one. A function of the MPI library that we wrap is replaced by ours; all other results
// stay. Hook of dlopen for modules opened with RTLD_DEEPBIND, which have the same effect (deep_bound.cpp).
//
// RTLD_DEFAULT, RTLD_NEXT and names passed to dlopen are resolved relative to the caller, which the real functions
// identify by their return address. So the entries below jump to them without a frame. RTLD_DEFAULT and RTLD_NEXT find
// us anyway, because we come before the MPI library. Only in preloaded or linked libraries, not in our own programs;
// x86-64 only, because of the assembly.
#if defined(__x86_64__) && defined(__LP64__)

#include <dlfcn.h>
#include <unistd.h>

#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "vmpi/loader/fortran_function.hpp"
#include "vmpi/loader/loaded_library.hpp"
#include "vmpi/loader/lookup.hpp"

extern "C" {
using Dlsym = void* (*)(void* handle, const char* name);
using Dlvsym = void* (*)(void* handle, const char* name, const char* version);
using Dlopen = void* (*)(const char* file, int mode);
// The real functions; nullptr before the first call.
[[gnu::visibility("hidden")]] constinit Dlsym ardoise_next_dlsym = nullptr;
[[gnu::visibility("hidden")]] constinit Dlvsym ardoise_next_dlvsym = nullptr;
[[gnu::visibility("hidden")]] constinit Dlopen ardoise_next_dlopen = nullptr;
[[gnu::visibility("hidden")]] Dlsym ardoise_find_next_dlsym() noexcept;
[[gnu::visibility("hidden")]] Dlvsym ardoise_find_next_dlvsym() noexcept;
[[gnu::visibility("hidden")]] Dlopen ardoise_find_next_dlopen() noexcept;
[[gnu::visibility("hidden")]] void* ardoise_dlopen(const char* file, int mode, const char* caller);
[[gnu::visibility("hidden")]] void* ardoise_dlsym(void* handle, const char* name, const char* caller) noexcept;
[[gnu::visibility("hidden")]] void* ardoise_dlvsym(void* handle, const char* name, const char* version,
                                                   const char* caller) noexcept;
// Defined by the linker: start and end of this library in memory.
[[gnu::visibility("hidden")]] extern const char __ehdr_start[];
[[gnu::visibility("hidden")]] extern const char _end[];
}

// The entry of `name`. With an explicit handle it goes to ardoise_<name>, with the caller as a further argument; with 0
// and -1 to the real function. dlopen goes to ardoise_<name> for RTLD_DEEPBIND. At the first call the arguments are
// saved and the stack is aligned while the real function is looked up.
static_assert(RTLD_DEEPBIND == 8);
asm(R"(
  .macro vmpi_lookup_entry name, caller, is_open=0
  .text
  .p2align 4
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  endbr64
  .if \is_open
  testl $8, %esi
  je 1f
  .else
  leaq 1(%rdi), %rax
  cmpq $1, %rax
  jbe 1f
  .endif
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
  vmpi_lookup_entry dlopen, %rdx, 1
)");

namespace ardoise::vmpi {
namespace {

const link_map* own_map() noexcept { return link_map_of(__ehdr_start); }

// Not dlsym(RTLD_NEXT): that is ours. A second copy of ours is skipped: it would replace the results.
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

// Found once: none of them is loaded or unloaded later.
struct Libraries {
  const link_map* own = own_map();
  const link_map* mpi = link_map_of(find_in_mpi_library("MPI_Init"));                 // the MPI that we wrap
  const link_map* second_copy = link_map_of(dlsym(RTLD_NEXT, "VMPI_Comm_universe"));  // usually nullptr
};

const Libraries& libraries() noexcept {
  static const Libraries found;
  return found;
}

// A Fortran library of the MPI that we wrap, not of another MPI or of a tool: tools define no PMPI_ names.
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

// A tool between us and the library. If it looks up the function that it forwards to, our function would call the tool
// again.
bool is_tool_behind(const link_map& caller, const char* name) noexcept {
  if (definition_in(caller, name) == nullptr) return false;
  const auto& [own, mpi, second_copy] = libraries();
  for (const link_map* map = own->l_next; map != nullptr && map != mpi; map = map->l_next) {
    if (map == &caller) return true;
  }
  return false;
}

}  // namespace

bool is_mpi_name(const char* name) noexcept {
  if (*name == 'P' || *name == 'p') ++name;
  const bool is_capital = name[0] == 'M';
  return (is_capital || name[0] == 'm') && name[1] == (is_capital ? 'P' : 'p') && name[2] == (is_capital ? 'I' : 'i');
}

void* served_function(void* found, const char* name, const void* caller_address) noexcept {
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

namespace {

// The program's call has succeeded, so dlerror() must stay empty: our own lookups must not change that.
void* answer(void* found, const char* name, const char* caller) noexcept {
  if (found == nullptr || !is_mpi_name(name) || is_own_code(caller)) return found;
  void* const given = served_function(found, name, caller);
  dlerror();
  return given;
}

// The path where the caller's folders (RPATH, RUNPATH) or LD_LIBRARY_PATH have a file that it opens by bare name;
// empty: not found, or already loaded by this name. The real function would search our library's folders.
std::string found_by(const char* caller, const char* file) {
  if (std::strchr(file, '/') != nullptr) return {};
  const std::unique_ptr<void, int (*)(void*)> loaded(ardoise_find_next_dlopen()(file, RTLD_LAZY | RTLD_NOLOAD),
                                                     dlclose);
  const link_map* const map = loaded ? nullptr : link_map_of(caller);
  if (map == nullptr) return {};
  const char* const name = map->l_name[0] == '\0' ? nullptr : map->l_name;
  const std::unique_ptr<void, int (*)(void*)> asking(ardoise_find_next_dlopen()(name, RTLD_LAZY | RTLD_NOLOAD),
                                                     dlclose);
  Dl_serinfo size;
  if (!asking || dlinfo(asking.get(), RTLD_DI_SERINFOSIZE, &size) != 0) return {};
  const auto memory = std::make_unique<char[]>(size.dls_size);
  auto* const folders = reinterpret_cast<Dl_serinfo*>(memory.get());
  if (dlinfo(asking.get(), RTLD_DI_SERINFOSIZE, folders) != 0 || dlinfo(asking.get(), RTLD_DI_SERINFO, folders) != 0)
    return {};
  for (unsigned i = 0; i < folders->dls_cnt; ++i) {
    const auto& folder = folders->dls_serpath[i];
    if ((folder.dls_flags & LA_SER_DEFAULT) != 0) continue;
    std::string path = std::string(folder.dls_name) + '/' + file;
    if (::access(path.c_str(), R_OK) == 0) return path;
  }
  return {};
}

// The name by which the real dlopen finds `file` from here.
std::string searched(const char* file, const char* caller) noexcept {
  try {
    if (file != nullptr) return found_by(caller, file);
  } catch (const std::exception&) {
    // Without memory the name is searched for unchanged.
  }
  return {};
}

// Number of modules that the process has ever loaded.
unsigned long long loads() noexcept {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* counted) {
        *static_cast<unsigned long long*>(counted) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

}  // namespace
}  // namespace ardoise::vmpi

using namespace ardoise::vmpi;

Dlsym ardoise_find_next_dlsym() noexcept { return find_next(ardoise_next_dlsym, "dlsym"); }
Dlvsym ardoise_find_next_dlvsym() noexcept { return find_next(ardoise_next_dlvsym, "dlvsym"); }

Dlopen ardoise_find_next_dlopen() noexcept { return find_next(ardoise_next_dlopen, "dlopen"); }

void* ardoise_dlopen(const char* file, int mode, const char* caller) {
  const std::string path = searched(file, caller);
  const unsigned long long before = loads();
  void* const handle = ardoise_find_next_dlopen()(path.empty() ? file : path.c_str(), mode);
  if (handle == nullptr || loads() == before) return handle;
  redirect_deep_bound(handle);
  dlerror();
  return handle;
}

void* ardoise_dlsym(void* handle, const char* name, const char* caller) noexcept {
  return answer(ardoise_find_next_dlsym()(handle, name), name, caller);
}
void* ardoise_dlvsym(void* handle, const char* name, const char* version, const char* caller) noexcept {
  return answer(ardoise_find_next_dlvsym()(handle, name, version), name, caller);
}

#endif
