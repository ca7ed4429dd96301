#include "instrument/machine/modules.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "instrument/machine/mpi_modules.hpp"

#if defined(DLFO_STRUCT_HAS_EH_DBASE)
extern "C" int _dl_find_object(void*, struct dl_find_object*) noexcept __attribute__((weak));
#endif

namespace ardoise::instrument {
namespace {

struct Search {
  std::uint64_t address;
  std::optional<Module> found;
};

// The desc of the NT_GNU_BUILD_ID note among `bytes` of notes.
std::string build_id_in(const std::byte* notes, std::size_t bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof(note));
    const std::size_t name = (std::size_t{note.n_namesz} + 3) / 4 * 4, desc = (std::size_t{note.n_descsz} + 3) / 4 * 4;
    if (name > bytes - sizeof(note) || desc > bytes - sizeof(note) - name) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes + sizeof(note), "GNU", 4) == 0) {
      std::string hex;
      for (std::size_t i = 0; i < note.n_descsz; ++i) {
        const auto value = std::to_integer<unsigned>(notes[sizeof(note) + name + i]);
        hex += kDigits[value >> 4];
        hex += kDigits[value & 15u];
      }
      return hex;
    }
    notes += sizeof(note) + name + desc;
    bytes -= sizeof(note) + name + desc;
  }
  return {};
}

// The loader leaves the name of the main program empty. Uses a direct system call.
std::string path_of_program() {
  std::array<char, 4096> path{};
  const long length = ::syscall(SYS_readlinkat, AT_FDCWD, "/proc/thread-self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string("(program)");
}

Module describe(const dl_phdr_info& info) {
  Module module;
  module.base = info.dlpi_addr;
  module.path = info.dlpi_name != nullptr && *info.dlpi_name != '\0' ? info.dlpi_name : path_of_program();
  for (const ElfW(Phdr) & segment : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    if (segment.p_type == PT_LOAD)
      module.size = std::max<std::uint64_t>(module.size, segment.p_vaddr + segment.p_memsz);
    if (segment.p_type == PT_NOTE && module.build_id.empty()) {
      module.build_id =
          build_id_in(reinterpret_cast<const std::byte*>(info.dlpi_addr + segment.p_vaddr), segment.p_memsz);
    }
  }
  return module;
}

int look_at(dl_phdr_info* info, std::size_t, void* context) {
  auto& search = *static_cast<Search*>(context);
  const std::span segments(info->dlpi_phdr, info->dlpi_phnum);
  const bool inside = std::any_of(segments.begin(), segments.end(), [&](const ElfW(Phdr) & segment) {
    const std::uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    return segment.p_type == PT_LOAD && search.address >= begin && search.address < begin + segment.p_memsz;
  });
  if (inside) search.found = describe(*info);
  return inside ? 1 : 0;
}

void mark_mpi(std::span<Module> modules) {
  const std::vector<std::uint64_t> bases = mpi_modules();
  for (Module& module : modules) module.is_mpi = std::find(bases.begin(), bases.end(), module.base) != bases.end();
}

}  // namespace

std::optional<Module> find_module(const void* address) {
  Search search{reinterpret_cast<std::uint64_t>(address), std::nullopt};
  ::dl_iterate_phdr(look_at, &search);
  if (search.found) mark_mpi({&*search.found, 1});
  return std::move(search.found);
}

LoadedObject find_object_without_lock([[maybe_unused]] std::uint64_t address) noexcept {
#if defined(DLFO_STRUCT_HAS_EH_DBASE)
  dl_find_object found{};
  if (_dl_find_object != nullptr && _dl_find_object(reinterpret_cast<void*>(address), &found) == 0) {
    const auto begin = reinterpret_cast<std::uint64_t>(found.dlfo_map_start);
    return {begin, reinterpret_cast<std::uint64_t>(found.dlfo_map_end) - begin, found.dlfo_link_map};
  }
#endif
  return {};
}

std::optional<Module> find_module_without_lock(std::uint64_t address) {
  const LoadedObject object = find_object_without_lock(address);
  if (object.map == nullptr || object.map->l_name == nullptr || *object.map->l_name == '\0') return {};
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(object.begin);
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return {};
  dl_phdr_info info{};
  info.dlpi_addr = object.map->l_addr;
  info.dlpi_name = object.map->l_name;
  info.dlpi_phdr = reinterpret_cast<const ElfW(Phdr)*>(reinterpret_cast<const std::byte*>(header) + header->e_phoff);
  info.dlpi_phnum = header->e_phnum;
  return describe(info);
}

std::vector<Module> describe_modules() {
  std::vector<Module> modules;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* modules_untyped) {
        static_cast<std::vector<Module>*>(modules_untyped)->push_back(describe(*info));
        return 0;
      },
      &modules);
  mark_mpi(modules);
  return modules;
}

std::vector<LoadedModule> loaded_modules() {
  std::vector<LoadedModule> modules;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* modules_untyped) {
        std::uint64_t end = 0;
        for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
          if (segment.p_type == PT_LOAD) end = std::max<std::uint64_t>(end, segment.p_vaddr + segment.p_memsz);
        }
        static_cast<std::vector<LoadedModule>*>(modules_untyped)
            ->push_back({info->dlpi_addr, info->dlpi_addr + end, info->dlpi_name != nullptr ? info->dlpi_name : ""});
        return 0;
      },
      &modules);
  return modules;
}

std::string file_name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace ardoise::instrument
