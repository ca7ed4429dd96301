/* Writes the file with the truth about a program. */
#ifndef TRUTH_TELL_H
#define TRUTH_TELL_H

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* CPU time of the calling thread. */
static inline long long cpu_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

/* "function <name> <offset in its module> <value>" */
static inline void tell(FILE* file, const char* name, void* function, long long value) {
  Dl_info info;
  struct link_map* module = NULL;
  if (dladdr1(function, &info, (void**)&module, RTLD_DL_LINKMAP) == 0) exit(3);
  fprintf(file, "function %s %lu %lld\n", name, (unsigned long)function - (unsigned long)module->l_addr, value);
}

#endif
