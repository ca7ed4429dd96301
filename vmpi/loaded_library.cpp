// See loaded_library.hpp.
#include "vmpi/loaded_library.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace ardoise::vmpi {
namespace {

const link_map* link_map_of(const void* address) noexcept {
  Dl_info info;
  void* map = nullptr;
  if (address == nullptr || dladdr1(address, &info, &map, RTLD_DL_LINKMAP) == 0) return nullptr;
  return static_cast<const link_map*>(map);
}

}  // namespace

const void* base_of(const void* address) noexcept {
  Dl_info info;
  return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

std::size_t size_of(const void* address) noexcept {
  struct Wanted {
    const void* base;
    std::size_t size;
  } wanted{base_of(address), 0};
  const auto look = [](dl_phdr_info* info, std::size_t, void* data) {
    auto* const found = static_cast<Wanted*>(data);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& segment = info->dlpi_phdr[i];
      const auto begin = info->dlpi_addr + segment.p_vaddr;
      const auto base = reinterpret_cast<ElfW(Addr)>(found->base);
      if (segment.p_type != PT_LOAD) continue;
      if (begin <= base && base < begin + segment.p_memsz) found->size = segment.p_memsz;  // the first segment
      if (found->size != 0 && begin >= base) found->size = std::max<std::size_t>(found->size, begin + segment.p_memsz - base);
    }
    return found->size != 0 ? 1 : 0;
  };
  if (wanted.base != nullptr) dl_iterate_phdr(look, &wanted);
  return wanted.size;
}

void* handle_of(const void* address) noexcept {
  const link_map* const map = link_map_of(address);
  if (map == nullptr || map->l_name == nullptr || map->l_name[0] == '\0') return nullptr;
  return dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
}

// In a dynamic symbol table with a GNU hash table, which every linker of today writes, the symbols that are not in the
// hash table, among them all undefined ones, come first.
bool imports(const void* address, const char* name) noexcept {
  const link_map* const map = link_map_of(address);
  if (map == nullptr) return false;
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  const std::uint32_t* hash = nullptr;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_GNU_HASH) hash = reinterpret_cast<const std::uint32_t*>(entry->d_un.d_ptr);
  }
  if (symbols == nullptr || strings == nullptr || hash == nullptr) return false;
  const std::uint32_t first_hashed = hash[1];
  for (std::uint32_t i = 1; i < first_hashed; ++i) {
    if (symbols[i].st_shndx == SHN_UNDEF && std::strcmp(strings + symbols[i].st_name, name) == 0) return true;
  }
  return false;
}

const void* base_of_second_copy() noexcept { return base_of(dlsym(RTLD_NEXT, "VMPI_Comm_universe")); }

}  // namespace ardoise::vmpi
