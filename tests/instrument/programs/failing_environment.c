/* Preloaded before libardoise.so: makes what that library asks of the kernel fail, and only that. By the
 * environment:
 *   FAIL_CALL   name of a call, see `names` below
 *   FAIL_AT     the first call that fails, counted from 1; all later ones do, too
 *   FAIL_ONCE   set: only that one
 *   FAIL_ERRNO  what it fails with; ENOMEM without
 * Production code has no switch for tests, so this stands between. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
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

__attribute__((constructor(101))) static void read_environment(void) {
  const char* const call = getenv("FAIL_CALL");
  if (call == NULL) return;
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (strcmp(call, names[i].name) == 0) failing_number = names[i].number;
  }
  if (getenv("FAIL_AT") != NULL) first = atoi(getenv("FAIL_AT"));
  if (getenv("FAIL_ERRNO") != NULL) error = atoi(getenv("FAIL_ERRNO"));
  once = getenv("FAIL_ONCE") != NULL;
}

static int is_from_ardoise(const void* caller) {
  Dl_info info;
  return dladdr(caller, &info) != 0 && info.dli_fname != NULL && strstr(info.dli_fname, "libardoise.so") != NULL;
}

static int fails_now(const void* caller) {
  if (!is_from_ardoise(caller)) return 0;
  const int call = ++calls;
  if (call < first || (once && call > first)) return 0;
  errno = error;
  return 1;
}

/* The C library's own, which is not looked up: this runs before dlsym() may. */
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

long syscall(long number, ...) {
  long arguments[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; ++i) arguments[i] = va_arg(list, long);
  va_end(list);
  if (number == failing_number && fails_now(__builtin_return_address(0))) return -1;
  return call_kernel(number, arguments);
}
