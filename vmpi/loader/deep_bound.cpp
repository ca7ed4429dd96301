// Modules opened with RTLD_DEEPBIND (lookup.hpp). The loader searches such a module and its dependencies before the
// program, so its MPI calls would go past us, into the real world. The flag must stay, because such modules bring
// libraries of their own. So only the slots that hold addresses of MPI functions are rewritten, lazily bound ones
// included. x86-64 only: the relocation types are its own.
#if defined(__x86_64__) && defined(__LP64__)

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <vector>

#include "vmpi/loader/loaded_library.hpp"
#include "vmpi/loader/lookup.hpp"
#include "vmpi/loader/module_tables.hpp"

namespace ardoise::vmpi {
namespace {

class DeepBound {
 public:
  DeepBound(const link_map& map, void* handle) noexcept
      : map_(map),
        tables_(map),
        read_only_(map, base_of(map.l_ld), static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE))),
        handle_(handle) {}
  ~DeepBound() {
    if (is_open_) (void)protect(PROT_READ);
  }
  DeepBound(const DeepBound&) = delete;
  DeepBound& operator=(const DeepBound&) = delete;

  void serve() noexcept {
    tables_.for_each_relocation([this](const ElfW(Rela) & relocation) { serve(relocation); });
  }

 private:
  void serve(const ElfW(Rela) & relocation) noexcept {
    const auto number = ELF64_R_SYM(relocation.r_info);
    if (number == 0 || !holds_address(relocation)) return;
    const auto& symbol = tables_.symbols[number];
    const char* const name = tables_.strings + symbol.st_name;
    if (symbol.st_shndx != SHN_UNDEF || !is_mpi_name(name)) return;
    void* const found = dlsym(handle_, name);
    if (found == nullptr) return;
    void* const ours = served_function(found, name, map_.l_ld);
    auto* const place = reinterpret_cast<void**>(map_.l_addr + relocation.r_offset);
    // The slot of a call may not be bound yet. Any other slot holds `found`, or an address that is not ours to change.
    if (ours == found || relocation.r_addend != 0 || (ELF64_R_TYPE(relocation.r_info) != kCallSlot && *place != found))
      return;
    if (!is_writable(place)) return;
    __atomic_store_n(place, ours, __ATOMIC_RELAXED);
  }

  [[nodiscard]] bool protect(int access) const noexcept {
    return ::mprotect(reinterpret_cast<void*>(read_only_.begin), read_only_.end - read_only_.begin, access) == 0;
  }
  bool is_writable(const void* place) noexcept {
    if (!read_only_.contains(place)) return true;
    if (!is_open_) is_open_ = protect(PROT_READ | PROT_WRITE);
    return is_open_;
  }

  const link_map& map_;
  const ModuleTables tables_;
  const ReadOnlyPart read_only_;
  void* const handle_;
  bool is_open_ = false;
};

// The list of all modules cannot be walked, since other threads may close some. The dependencies of the open handle
// stay loaded.
void serve(void* handle, std::vector<const link_map*>& served) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || std::ranges::find(served, map) != served.end()) return;
  served.push_back(map);
  DeepBound(*map, handle).serve();
  const char* const strings = ModuleTables(*map).strings;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_NEEDED) continue;
    void* const needed = dlopen(strings + entry->d_un.d_val, RTLD_LAZY | RTLD_NOLOAD);
    if (needed == nullptr) continue;
    serve(needed, served);
    dlclose(needed);
  }
}

}  // namespace

void redirect_deep_bound(void* handle) noexcept {
  try {
    std::vector<const link_map*> served;
    serve(handle, served);
  } catch (const std::exception&) {
    // Without memory a module may stay as the loader bound it.
  }
}

}  // namespace ardoise::vmpi

#endif
