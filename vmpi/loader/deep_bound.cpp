// Modules that were opened with RTLD_DEEPBIND; see lookup.hpp. Their symbols are looked up in themselves and what they
// depend on before the program's: those linked to MPI would be in the real world, and their host in its own. Programs
// ask for that because such a module brings libraries of its own, so the flag has to stay: only the places in which
// the module keeps the addresses of MPI's functions are written anew, also those that are bound at the first call. Of
// modules that a program opens; for x86-64, whose relocations these are.
#if defined(__x86_64__) && defined(__LP64__)

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "vmpi/loader/lookup.hpp"

namespace ardoise::vmpi {
namespace {

// What of a module's dynamic section tells where it keeps addresses.
struct Relocations {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Rela) * of_calls = nullptr;
  const ElfW(Rela) * of_data = nullptr;
  std::size_t calls = 0, data = 0;

  explicit Relocations(const link_map& module) noexcept {
    const auto at = [&](ElfW(Addr) value) {  // as in loaded_library.cpp
      return reinterpret_cast<const void*>(value < module.l_addr ? value + module.l_addr : value);
    };
    for (const ElfW(Dyn)* entry = module.l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      const auto value = entry->d_un.d_ptr;
      switch (entry->d_tag) {
        case DT_SYMTAB:
          symbols = static_cast<const ElfW(Sym)*>(at(value));
          break;
        case DT_STRTAB:
          strings = static_cast<const char*>(at(value));
          break;
        case DT_JMPREL:
          of_calls = static_cast<const ElfW(Rela)*>(at(value));
          break;
        case DT_PLTRELSZ:
          calls = value / sizeof(ElfW(Rela));
          break;
        case DT_RELA:
          of_data = static_cast<const ElfW(Rela)*>(at(value));
          break;
        case DT_RELASZ:
          data = value / sizeof(ElfW(Rela));
          break;
        default:
          break;
      }
    }
    if (symbols == nullptr || strings == nullptr) calls = data = 0;
    if (of_calls == nullptr) calls = 0;
    if (of_data == nullptr) data = 0;
  }
};

// The part of a module that the loader has made read-only once its addresses were in it.
struct ReadOnly {
  std::uintptr_t begin = 0, end = 0;

  explicit ReadOnly(const link_map& module) noexcept {
    struct Wanted {
      const link_map& map;
      ReadOnly& found;
    } wanted{module, *this};
    const auto look = [](dl_phdr_info* info, std::size_t, void* data) {
      const auto& [map, found] = *static_cast<Wanted*>(data);
      if (info->dlpi_addr != map.l_addr || info->dlpi_name != map.l_name) return 0;
      const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
      for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_GNU_RELRO) continue;
        found.begin = (info->dlpi_addr + segment.p_vaddr) / page * page;
        found.end = (info->dlpi_addr + segment.p_vaddr + segment.p_memsz) / page * page;
      }
      return 1;
    };
    dl_iterate_phdr(look, &wanted);
  }
  [[nodiscard]] bool contains(const void* address) const noexcept {
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    return begin <= place && place < end;
  }
  [[nodiscard]] bool protect(int how) const noexcept {
    return ::mprotect(reinterpret_cast<void*>(begin), end - begin, how) == 0;
  }
};

class DeepBound {
 public:
  explicit DeepBound(const link_map& map) noexcept
      : map_(map), relocations_(map), read_only_(map), handle_(dlopen(map.l_name, RTLD_LAZY | RTLD_NOLOAD)) {}
  ~DeepBound() {
    if (is_open_) (void)read_only_.protect(PROT_READ);
    if (handle_ != nullptr) dlclose(handle_);
  }
  DeepBound(const DeepBound&) = delete;
  DeepBound& operator=(const DeepBound&) = delete;

  void serve() noexcept {
    if (handle_ == nullptr) return;
    for (std::size_t i = 0; i < relocations_.calls; ++i) serve(relocations_.of_calls[i]);
    for (std::size_t i = 0; i < relocations_.data; ++i) serve(relocations_.of_data[i]);
  }

 private:
  void serve(const ElfW(Rela) & relocation) noexcept {
    const auto type = ELF64_R_TYPE(relocation.r_info);
    const auto number = ELF64_R_SYM(relocation.r_info);
    if (number == 0 || (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64)) return;
    const auto& symbol = relocations_.symbols[number];
    const char* const name = relocations_.strings + symbol.st_name;
    if (symbol.st_shndx != SHN_UNDEF || !is_mpi_name(name)) return;
    void* const found = dlsym(handle_, name);
    if (found == nullptr) return;
    void* const ours = served_function(found, name, map_.l_ld);
    auto* const place = reinterpret_cast<void**>(map_.l_addr + relocation.r_offset);
    // A call's place may not be bound yet; all others hold what was found, or something that is not ours to change.
    if (ours == found || relocation.r_addend != 0 || (type != R_X86_64_JUMP_SLOT && *place != found)) return;
    if (!is_writable(place)) return;
    __atomic_store_n(place, ours, __ATOMIC_RELAXED);
  }

  bool is_writable(const void* place) noexcept {
    if (!read_only_.contains(place)) return true;
    if (!is_open_) is_open_ = read_only_.protect(PROT_READ | PROT_WRITE);
    return is_open_;
  }

  const link_map& map_;
  const Relocations relocations_;
  const ReadOnly read_only_;
  void* const handle_;
  bool is_open_ = false;
};

}  // namespace

void serve_deep_bound(const link_map& module) noexcept { DeepBound(module).serve(); }

}  // namespace ardoise::vmpi

#endif
