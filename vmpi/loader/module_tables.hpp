// The slots in which a loaded module keeps the addresses of foreign functions (ELF relocations), and the range that the
// loader made read-only after writing them (RELRO). Used to rewrite them in own_names.cpp and deep_bound.cpp. Calls no
// function.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace ardoise::vmpi {

// Tables of the dynamic section; absent ones are empty.
struct ModuleTables {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Half) * versions = nullptr;   // of each symbol
  const ElfW(Verneed) * needed = nullptr;  // versions that it needs of other libraries
  const ElfW(Rela) * of_calls = nullptr;
  const ElfW(Rela) * of_data = nullptr;
  std::size_t calls = 0, data = 0;  // numbers of relocations

  explicit ModuleTables(const link_map& module) noexcept {
    for (const ElfW(Dyn)* entry = module.l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      const auto value = entry->d_un.d_ptr;
      // glibc has usually added the base, other loaders have not.
      const auto* const at = reinterpret_cast<const void*>(value < module.l_addr ? value + module.l_addr : value);
      if (entry->d_tag == DT_SYMTAB) symbols = static_cast<const ElfW(Sym)*>(at);
      if (entry->d_tag == DT_STRTAB) strings = static_cast<const char*>(at);
      if (entry->d_tag == DT_VERSYM) versions = static_cast<const ElfW(Half)*>(at);
      if (entry->d_tag == DT_VERNEED) needed = static_cast<const ElfW(Verneed)*>(at);
      if (entry->d_tag == DT_JMPREL) of_calls = static_cast<const ElfW(Rela)*>(at);
      if (entry->d_tag == DT_PLTRELSZ) calls = value / sizeof(ElfW(Rela));
      if (entry->d_tag == DT_RELA) of_data = static_cast<const ElfW(Rela)*>(at);
      if (entry->d_tag == DT_RELASZ) data = value / sizeof(ElfW(Rela));
    }
    if (symbols == nullptr || strings == nullptr) calls = data = 0;
    if (of_calls == nullptr) calls = 0;
    if (of_data == nullptr) data = 0;
  }

  void for_each_relocation(const auto& visit) const {
    for (std::size_t i = 0; i < calls; ++i) visit(of_calls[i]);
    for (std::size_t i = 0; i < data; ++i) visit(of_data[i]);
  }
};

// Relocation types that hold the address of a function.
#if defined(__x86_64__)
inline constexpr std::uint32_t kCallSlot = R_X86_64_JUMP_SLOT, kAddressSlot = R_X86_64_GLOB_DAT, kAddress = R_X86_64_64;
#elif defined(__aarch64__)
inline constexpr std::uint32_t kCallSlot = R_AARCH64_JUMP_SLOT, kAddressSlot = R_AARCH64_GLOB_DAT,
                               kAddress = R_AARCH64_ABS64;
#else
inline constexpr std::uint32_t kCallSlot = ~0u, kAddressSlot = ~0u, kAddress = ~0u;
#endif
inline bool holds_address(const ElfW(Rela) & relocation) {
  const auto kind = ELF64_R_TYPE(relocation.r_info);
  return kind == kCallSlot || kind == kAddressSlot || kind == kAddress;
}

// The RELRO range in whole pages; begin == end: none.
struct ReadOnlyPart {
  std::uintptr_t begin = 0, end = 0;

  // header: start of the module in memory.
  ReadOnlyPart(const link_map& module, const void* header, std::uintptr_t page) noexcept {
    const auto& file = *static_cast<const ElfW(Ehdr)*>(header);
    const auto* segment =
        reinterpret_cast<const ElfW(Phdr)*>(static_cast<const char*>(header) + static_cast<std::size_t>(file.e_phoff));
    for (int i = 0; i < file.e_phnum; ++i, ++segment) {
      if (segment->p_type != PT_GNU_RELRO) continue;
      begin = (module.l_addr + segment->p_vaddr) / page * page;
      end = (module.l_addr + segment->p_vaddr + segment->p_memsz) / page * page;
    }
  }
  [[nodiscard]] bool contains(const void* address) const noexcept {
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    return begin <= place && place < end;
  }
};

}  // namespace ardoise::vmpi
