// Calls of this library to the C library. A program may define functions with names of the C library (clone, link,
// poll …), and its definitions come before the C library's, for this library too. They mean something else, or they are
// a sanitizer's, which must not hear of what we do. So each call of this library to libc and libm is made to go there,
// whatever else the process defines by the same name. Memory alone is allocated by the program's malloc: what one side
// allocates the other may free.
//
// The loader has written the address of each foreign function into a slot of this library's tables (ELF's relocations);
// those slots are written again when the library is loaded. Nothing is called by name before that is done: the name may
// be the program's. A slot that cannot be changed stays as the loader has bound it.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "vmpi/loader/loaded_library.hpp"

// Of the linker: where this library begins in memory.
extern "C" {
[[gnu::visibility("hidden")]] extern const ElfW(Ehdr) __ehdr_start;
}

namespace ardoise::vmpi {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kSlots[] = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_64};
#elif defined(__aarch64__)
constexpr std::uint32_t kSlots[] = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_ABS64};
#else
constexpr std::uint32_t kSlots[] = {~std::uint32_t{0}};
#endif

constexpr const char* kAllocator[] = {"malloc",   "calloc",         "realloc", "free",    "aligned_alloc",
                                      "memalign", "posix_memalign", "valloc",  "pvalloc", "cfree"};

bool is_same(const char* left, const char* right) noexcept {
  while (*left != '\0' && *left == *right) ++left, ++right;
  return *left == *right;
}

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

// This library's dynamic section.
struct Imports {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Half) * versions = nullptr;
  const ElfW(Verneed) * needed = nullptr;
  struct Table {
    const ElfW(Rela) * first = nullptr;
    std::size_t bytes = 0;
  } data, calls;

  explicit Imports(const link_map& own) noexcept {
    for (const ElfW(Dyn)* entry = own.l_ld; entry->d_tag != DT_NULL; ++entry) {
      const auto value = entry->d_un.d_ptr;
      // glibc has added the base mostly, other loaders never have.
      const auto* const at = reinterpret_cast<const void*>(value < own.l_addr ? value + own.l_addr : value);
      if (entry->d_tag == DT_SYMTAB) symbols = static_cast<const ElfW(Sym)*>(at);
      if (entry->d_tag == DT_STRTAB) strings = static_cast<const char*>(at);
      if (entry->d_tag == DT_VERSYM) versions = static_cast<const ElfW(Half)*>(at);
      if (entry->d_tag == DT_VERNEED) needed = static_cast<const ElfW(Verneed)*>(at);
      if (entry->d_tag == DT_RELA) data.first = static_cast<const ElfW(Rela)*>(at);
      if (entry->d_tag == DT_RELASZ) data.bytes = value;
      if (entry->d_tag == DT_JMPREL) calls.first = static_cast<const ElfW(Rela)*>(at);
      if (entry->d_tag == DT_PLTRELSZ) calls.bytes = value;
    }
  }
  [[nodiscard]] bool are_there() const { return symbols != nullptr && strings != nullptr && versions != nullptr; }

  struct Origin {
    const char* library = nullptr;  // as its file is named
    const char* version = nullptr;
  };
  [[nodiscard]] Origin origin(std::size_t symbol) const noexcept {
    const ElfW(Half) wanted = versions[symbol] & 0x7fff;
    for (const auto* need = needed; need != nullptr; need = need->vn_next != 0 ? next(need, need->vn_next) : nullptr) {
      const auto* each = reinterpret_cast<const ElfW(Vernaux)*>(reinterpret_cast<const char*>(need) + need->vn_aux);
      for (int i = 0; i < need->vn_cnt; ++i) {
        if (each->vna_other == wanted) return {strings + need->vn_file, strings + each->vna_name};
        each = next(each, each->vna_next);
      }
    }
    return {};
  }

 private:
  template <class Entry>
  static const Entry* next(const Entry* entry, std::size_t bytes) noexcept {
    return reinterpret_cast<const Entry*>(reinterpret_cast<const char*>(entry) + bytes);
  }
};

// The C library, and what is needed of it before its names are known to be its own.
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

  [[nodiscard]] void* function(const Imports::Origin& origin, const char* name) const noexcept {
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

// The pages that the loader has made read-only once the slots were written.
class Unlocked {
 public:
  Unlocked(const link_map& own, const CLibrary& libc) noexcept : libc_(libc) {
    const auto* const header = &__ehdr_start;
    const auto* segment = reinterpret_cast<const ElfW(Phdr)*>(reinterpret_cast<const char*>(header) + header->e_phoff);
    const std::uintptr_t mask = ~(static_cast<std::uintptr_t>(libc.page_bytes) - 1);
    for (int i = 0; i < header->e_phnum; ++i, ++segment) {
      if (segment->p_type != PT_GNU_RELRO) continue;
      begin_ = (own.l_addr + segment->p_vaddr) & mask;
      end_ = (own.l_addr + segment->p_vaddr + segment->p_memsz) & mask;
    }
    is_open_ = begin_ == end_ || protect(PROT_READ | PROT_WRITE);
  }
  ~Unlocked() {
    if (is_open_ && begin_ != end_) protect(PROT_READ);
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  [[nodiscard]] bool is_open() const { return is_open_; }

 private:
  bool protect(int access) const noexcept {
    return libc_.mprotect(reinterpret_cast<void*>(begin_), end_ - begin_, access) == 0;
  }

  const CLibrary& libc_;
  std::uintptr_t begin_ = 0, end_ = 0;
  bool is_open_ = false;
};

void bind(const Imports::Table& table, const Imports& imports, const CLibrary& libc, ElfW(Addr) base) noexcept {
  for (const auto *slot = table.first, *end = slot + table.bytes / sizeof *slot; slot != end; ++slot) {
    const std::size_t number = ELF64_R_SYM(slot->r_info);
    const auto& symbol = imports.symbols[number];
    bool is_slot = false;
    for (const std::uint32_t kind : kSlots) is_slot |= kind == ELF64_R_TYPE(slot->r_info);
    if (!is_slot || symbol.st_shndx != SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    const char* const name = imports.strings + symbol.st_name;
    if (is_allocator(name)) continue;
    void* const function = libc.function(imports.origin(number), name);
    if (function == nullptr) continue;
    auto* const address = reinterpret_cast<std::uintptr_t*>(base + slot->r_offset);
    __atomic_store_n(address, reinterpret_cast<std::uintptr_t>(function), __ATOMIC_RELAXED);
  }
}

// glibc calls it with main's arguments. The first constructor of the process (-z initfirst) finds no environment yet:
// the C library's own constructor sets it.
[[gnu::constructor(101)]] void bind_own_names(int /*argc*/, char** /*argv*/, char** environment) {
  if (environ == nullptr) environ = environment;
  const link_map* const own = link_map_of(&__ehdr_start);
  if (own == nullptr) return;
  const Imports imports(*own);
  const CLibrary libc(*own);
  if (!imports.are_there() || libc.c == nullptr) return;
  const Unlocked unlocked(*own, libc);
  if (!unlocked.is_open()) return;
  bind(imports.data, imports, libc, own->l_addr);
  bind(imports.calls, imports, libc, own->l_addr);
}

}  // namespace
}  // namespace ardoise::vmpi
