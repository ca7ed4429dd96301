#include "vmpi/loader/loaded_library.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace ardoise::vmpi {
namespace {

// Tables of a library's dynamic section that describe its symbols.
struct Symbols {
  const ElfW(Sym) * table = nullptr;
  const char* strings = nullptr;
  const std::uint32_t* hash = nullptr;  // GNU hash table, which current linkers write
  const ElfW(Half) * versions = nullptr;

  explicit Symbols(const link_map& library) noexcept {
    const auto at = [&](ElfW(Addr) value) {  // glibc has usually added the base, other loaders have not
      return reinterpret_cast<const void*>(value < library.l_addr ? value + library.l_addr : value);
    };
    for (const ElfW(Dyn)* entry = library.l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      const auto value = entry->d_un.d_ptr;
      if (entry->d_tag == DT_SYMTAB) table = static_cast<const ElfW(Sym)*>(at(value));
      if (entry->d_tag == DT_STRTAB) strings = static_cast<const char*>(at(value));
      if (entry->d_tag == DT_GNU_HASH) hash = static_cast<const std::uint32_t*>(at(value));
      if (entry->d_tag == DT_VERSYM) versions = static_cast<const ElfW(Half)*>(at(value));
    }
  }
  [[nodiscard]] bool are_there() const { return table != nullptr && strings != nullptr && hash != nullptr; }
};

std::uint32_t gnu_hash(const char* name) noexcept {
  std::uint32_t value = 5381;
  for (; *name != '\0'; ++name) value = value * 33 + static_cast<unsigned char>(*name);
  return value;
}

}  // namespace

const link_map* link_map_of(const void* address) noexcept {
  Dl_info info;
  void* map = nullptr;
  if (address == nullptr || dladdr1(address, &info, &map, RTLD_DL_LINKMAP) == 0) return nullptr;
  return static_cast<const link_map*>(map);
}

// Layout: number of buckets, first hashed symbol, words of the filter, its shift; the filter; the buckets; for each
// hashed symbol its hash, whose lowest bit ends the chain of a bucket.
void* definition_in(const link_map& library, const char* name) noexcept {
  const Symbols symbols(library);
  if (!symbols.are_there() || symbols.hash[0] == 0) return nullptr;
  const std::uint32_t bucket_count = symbols.hash[0], first_hashed = symbols.hash[1];
  const std::size_t filter_words = symbols.hash[2] * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* const buckets = symbols.hash + 4 + filter_words;
  const std::uint32_t* const hashes = buckets + bucket_count;
  const std::uint32_t wanted = gnu_hash(name);
  for (std::uint32_t i = buckets[wanted % bucket_count]; i >= first_hashed; ++i) {
    const std::uint32_t hash = hashes[i - first_hashed];
    const auto& symbol = symbols.table[i];
    constexpr ElfW(Half) kNotTheDefault = 0x8000;
    const bool is_default = symbols.versions == nullptr || (symbols.versions[i] & kNotTheDefault) == 0;
    if ((hash | 1) == (wanted | 1) && is_default && symbol.st_shndx != SHN_UNDEF &&
        is_same(symbols.strings + symbol.st_name, name))
      return reinterpret_cast<void*>(library.l_addr + symbol.st_value);
    if ((hash & 1) != 0) break;
  }
  return nullptr;
}

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
      if (found->size != 0 && begin >= base)
        found->size = std::max<std::size_t>(found->size, begin + segment.p_memsz - base);
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

// Symbols that are not in the hash table, all undefined ones included, come first.
bool imports(const void* address, const char* name) noexcept {
  const link_map* const map = link_map_of(address);
  if (map == nullptr) return false;
  const Symbols symbols(*map);
  if (!symbols.are_there()) return false;
  const std::uint32_t first_hashed = symbols.hash[1];
  for (std::uint32_t i = 1; i < first_hashed; ++i) {
    const auto& symbol = symbols.table[i];
    if (symbol.st_shndx == SHN_UNDEF && is_same(symbols.strings + symbol.st_name, name)) return true;
  }
  return false;
}

// The next definition of PMPI_x may belong to a second copy of ours. So the library is located by a PMPI_ function that
// neither we nor tools define. If it exports none (Open MPI), the next definition is taken, a tool's included.
void* find_in_mpi_library(const char* name) noexcept {
  static void* const handle = handle_of(dlsym(RTLD_NEXT, "PMPI_Aint_add"));
  char twin[128];
  std::snprintf(twin, sizeof twin, "P%s", name);
  if (handle != nullptr) {
    if (void* const found = dlsym(handle, twin)) return found;
  }
  return dlsym(RTLD_NEXT, twin);
}

const void* base_of_second_copy() noexcept { return base_of(dlsym(RTLD_NEXT, "VMPI_Comm_universe")); }

}  // namespace ardoise::vmpi
