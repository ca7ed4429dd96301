// Binds this library's calls of libc and libm to these libraries. A program may define functions with names of the C
// library (clone, link, poll …), and its definitions come first in the search order, for this library too. They may do
// something else, or belong to a sanitizer, which must not see our calls. Only malloc and its relatives stay the
// program's: memory that one side allocates may be freed by the other.
//
// The loader has written the address of each foreign function into a slot of this library's tables (ELF relocations);
// the slots are rewritten when the library is loaded. Before that, no function is called by name, since the name may be
// the program's. A slot that cannot be changed stays as the loader bound it.
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "vmpi/loader/loaded_library.hpp"
#include "vmpi/loader/module_tables.hpp"

// Defined by the linker: start of this library in memory.
extern "C" {
[[gnu::visibility("hidden")]] extern const ElfW(Ehdr) __ehdr_start;
}

namespace ardoise::vmpi {
namespace {

constexpr const char* kAllocator[] = {"malloc",   "calloc",         "realloc", "free",    "aligned_alloc",
                                      "memalign", "posix_memalign", "valloc",  "pvalloc", "cfree"};

bool is_allocator(const char* name) noexcept {
  for (const char* each : kAllocator) {
    if (is_same(name, each)) return true;
  }
  return false;
}

bool ends_with(const char* path, const char* name) noexcept {
  const char* last = path;
  for (const char* at = path; *at != '\0'; ++at) {
    if (*at == '/') last = at + 1;
  }
  return is_same(last, name);
}

// The library and version that a symbol comes from.
struct Origin {
  const char* library = nullptr;  // file name
  const char* version = nullptr;
};

template <class Entry>
const Entry* next(const Entry* entry, std::size_t bytes) noexcept {
  return bytes != 0 ? reinterpret_cast<const Entry*>(reinterpret_cast<const char*>(entry) + bytes) : nullptr;
}

Origin origin_of(const ModuleTables& own, std::size_t symbol) noexcept {
  const ElfW(Half) wanted = own.versions[symbol] & 0x7fff;
  for (const auto* need = own.needed; need != nullptr; need = next(need, need->vn_next)) {
    const auto* each = reinterpret_cast<const ElfW(Vernaux)*>(reinterpret_cast<const char*>(need) + need->vn_aux);
    for (; each != nullptr; each = next(each, each->vna_next)) {
      if (each->vna_other == wanted) return {own.strings + need->vn_file, own.strings + each->vna_name};
    }
  }
  return {};
}

// The C library, with the functions needed before our slots are rewritten.
struct CLibrary {
  void* c = nullptr;
  void* m = nullptr;
  decltype(&::dlvsym) dlvsym = nullptr;
  decltype(&::mprotect) mprotect = nullptr;
  long page_bytes = 0;

  explicit CLibrary(const link_map& own) noexcept {
    decltype(&::dlopen) dlopen = nullptr;
    decltype(&::sysconf) sysconf = nullptr;
    for (const link_map* map = &own; map != nullptr; map = map->l_next) {
      if (!ends_with(map->l_name, "libc.so.6")) continue;
      find(*map, "dlopen", dlopen);
      find(*map, "dlvsym", dlvsym);
      find(*map, "mprotect", mprotect);
      find(*map, "sysconf", sysconf);
      break;
    }
    if (!dlopen || !dlvsym || !mprotect || !sysconf) return;
    page_bytes = sysconf(_SC_PAGESIZE);
    c = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    m = dlopen("libm.so.6", RTLD_LAZY | RTLD_NOLOAD);
  }

  [[nodiscard]] void* function(const Origin& origin, const char* name) const noexcept {
    if (origin.library == nullptr) return nullptr;
    void* const handle = is_same(origin.library, "libc.so.6") ? c : is_same(origin.library, "libm.so.6") ? m : nullptr;
    return handle != nullptr ? dlvsym(handle, name, origin.version) : nullptr;
  }

 private:
  template <class Function>
  static void find(const link_map& library, const char* name, Function& function) noexcept {
    function = reinterpret_cast<Function>(definition_in(library, name));
  }
};

// Makes this library's read-only range writable during its lifetime.
class Unlocked {
 public:
  Unlocked(const link_map& own, const CLibrary& libc) noexcept
      : libc_(libc), part_(own, &__ehdr_start, static_cast<std::uintptr_t>(libc.page_bytes)) {
    is_open_ = part_.begin == part_.end || protect(PROT_READ | PROT_WRITE);
  }
  ~Unlocked() {
    if (is_open_ && part_.begin != part_.end) protect(PROT_READ);
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  [[nodiscard]] bool is_open() const { return is_open_; }

 private:
  bool protect(int access) const noexcept {
    return libc_.mprotect(reinterpret_cast<void*>(part_.begin), part_.end - part_.begin, access) == 0;
  }

  const CLibrary& libc_;
  const ReadOnlyPart part_;
  bool is_open_ = false;
};

// Not by dladdr(), which is itself a foreign name. A library in a separate namespace is not in the list.
const link_map* own_map() noexcept {
  const link_map* map = _r_debug.r_map;
  while (map != nullptr && map->l_ld != _DYNAMIC) map = map->l_next;
  return map;
}

// glibc passes main's arguments. The process's first constructor (-z initfirst) finds no environment yet: the C
// library's constructor sets it.
[[gnu::constructor(101)]] void bind_own_names(int /*argc*/, char** /*argv*/, char** environment) {
  if (environ == nullptr) environ = environment;
  const link_map* const own = own_map();
  if (own == nullptr) return;
  const ModuleTables tables(*own);
  const CLibrary libc(*own);
  if (tables.versions == nullptr || libc.c == nullptr) return;
  const Unlocked unlocked(*own, libc);
  if (!unlocked.is_open()) return;
  tables.for_each_relocation([&](const ElfW(Rela) & relocation) {
    const std::size_t number = ELF64_R_SYM(relocation.r_info);
    const auto& symbol = tables.symbols[number];
    if (!holds_address(relocation) || symbol.st_shndx != SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) return;
    const char* const name = tables.strings + symbol.st_name;
    if (is_allocator(name)) return;
    void* const function = libc.function(origin_of(tables, number), name);
    if (function == nullptr) return;
    auto* const place = reinterpret_cast<void**>(own->l_addr + relocation.r_offset);
    __atomic_store_n(place, function, __ATOMIC_RELAXED);
  });
}

}  // namespace
}  // namespace ardoise::vmpi
