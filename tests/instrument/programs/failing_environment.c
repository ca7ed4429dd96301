/* Preloaded before libardoise.so: makes requests of that library to the kernel fail, and no others. Set by the
 * environment:
 *   FAIL_CALL   name of a call, see `names` below
 *   FAIL_AT     the first call that fails, counted from 1; all later ones fail as well
 *   FAIL_ONCE   set: only that one
 *   FAIL_ERRNO  the error; ENOMEM by default
 * Production code has no switch for tests, so this library intercepts its calls. */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
  const char* name;
  long number;
} names[] = {{"mmap", SYS_mmap},     {"perf_event_open", SYS_perf_event_open}, {"membarrier", SYS_membarrier},
             {"openat", SYS_openat}, {"readlinkat", SYS_readlinkat},           {"write", SYS_write},
             {"fcntl", SYS_fcntl},   {"timer_create", SYS_timer_create}};

static long failing_number = -1;
static int error = ENOMEM, first = 1, once;
static atomic_int calls;

static int fails_now(void) {
  const int call = ++calls;
  if (call < first || (once && call > first)) return 0;
  errno = error;
  return 1;
}

/* A direct system call: this runs before dlsym() is allowed. */
static long call_kernel(long number, const long* a) {
  long result;
  register long fourth __asm__("r10") = a[3];
  register long fifth __asm__("r8") = a[4];
  register long sixth __asm__("r9") = a[5];
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  if (result < 0 && result > -4096) {
    errno = (int)-result;
    return -1;
  }
  return result;
}

static long failing_syscall(long number, ...) {
  long arguments[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; ++i) arguments[i] = va_arg(list, long);
  va_end(list);
  if (number == failing_number && fails_now()) return -1;
  return call_kernel(number, arguments);
}

/* Redirects the library's own calls of syscall() to this one by writing its slot, as the loader does. A definition of
 * the name would not suffice, since the library bypasses those. */
static void write_slot(uintptr_t base, const ElfW(Rela) * slots, size_t bytes, const ElfW(Sym) * symbols,
                       const char* strings) {
  for (const ElfW(Rela)* slot = slots; slot != slots + bytes / sizeof *slot; ++slot) {
    if (ELF64_R_TYPE(slot->r_info) != R_X86_64_JUMP_SLOT ||
        strcmp(strings + symbols[ELF64_R_SYM(slot->r_info)].st_name, "syscall") != 0)
      continue;
    const uintptr_t address = base + slot->r_offset, page = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (mprotect((void*)(address & ~(page - 1)), page, PROT_READ | PROT_WRITE) != 0) abort();
    *(void**)address = (void*)failing_syscall;
  }
}

static int stand_between(struct dl_phdr_info* library, size_t size, void* nothing) {
  (void)size, (void)nothing;
  const char* const slash = strrchr(library->dlpi_name, '/');
  if (strcmp(slash != NULL ? slash + 1 : library->dlpi_name, "libardoise.so") != 0) return 0;
  const ElfW(Dyn)* entry = NULL;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    if (library->dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = (const ElfW(Dyn)*)(library->dlpi_addr + library->dlpi_phdr[i].p_vaddr);
  }
  ElfW(Addr) calls_at = 0, symbols = 0, strings = 0;
  size_t bytes = 0;
  for (; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_JMPREL) calls_at = entry->d_un.d_ptr;
    if (entry->d_tag == DT_PLTRELSZ) bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_SYMTAB) symbols = entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
  }
  write_slot(library->dlpi_addr, (const ElfW(Rela)*)calls_at, bytes, (const ElfW(Sym)*)symbols, (const char*)strings);
  return 1;
}

/* Behind the constructors of libardoise.so, which are the first ones. */
__attribute__((constructor)) static void read_environment(void) {
  const char* const call = getenv("FAIL_CALL");
  if (call == NULL) return;
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (strcmp(call, names[i].name) == 0) failing_number = names[i].number;
  }
  if (getenv("FAIL_AT") != NULL) first = atoi(getenv("FAIL_AT"));
  if (getenv("FAIL_ERRNO") != NULL) error = atoi(getenv("FAIL_ERRNO"));
  once = getenv("FAIL_ONCE") != NULL;
  dl_iterate_phdr(stand_between, NULL);
}
