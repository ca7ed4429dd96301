/* Marks that a C or C++ program sets for the profile over time. No library has to be linked: the functions look for
 * the library of Ardoise at their first call. They do nothing if the program runs without it, before MPI_Init and after
 * MPI_Finalize. A mark costs about 60 ns and calls no MPI. Any thread may set one, but a signal handler must not.
 * Snapshots and phases of the thread that called MPI_Init divide the profile; values of all threads are counted. See
 * docs/guide/marks.md.
 *
 *   for (int step = 1; step <= steps; ++step) {
 *     ardoise_phase_begin("solve");
 *     ardoise_value("residual", solve(...));
 *     ardoise_phase_end("solve");
 *     ardoise_snapshot("step", step);
 *   }
 */
#ifndef ARDOISE_H
#define ARDOISE_H

#include <dlfcn.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*ardoise_mark_function)(int kind, const char* name, long long number, double x);

static inline void ardoise_mark_(int kind, const char* name, long long number, double x) {
  static ardoise_mark_function found = NULL;
  static int is_looked_for = 0;
  if (!__atomic_load_n(&is_looked_for, __ATOMIC_ACQUIRE)) {
    /* POSIX allows to convert the object pointer of dlsym() to a function pointer this way. */
    void* const symbol = dlsym(NULL, "ardoise_mark"); /* NULL: RTLD_DEFAULT */
    ardoise_mark_function function;
    __builtin_memcpy(&function, &symbol, sizeof(function));
    __atomic_store_n(&found, function, __ATOMIC_RELAXED);
    __atomic_store_n(&is_looked_for, 1, __ATOMIC_RELEASE);
  }
  {
    const ardoise_mark_function function = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (function) function(kind, name, number, x);
  }
}

/** Ends a section of the profile, which began at the previous snapshot of this name, or at MPI_Init.
 * @param name    at most 255 bytes; copied. Ranks that are compared with each other must use the same name.
 * @param number  number of the section in the report, for example the time step. */
static inline void ardoise_snapshot(const char* name, long long number) { ardoise_mark_(1, name, number, 0); }

/** The profile shows the time between the two separately, each time and in sum. Phases of different names may nest or
 * overlap; among nested phases of one name only the outermost counts. */
static inline void ardoise_phase_begin(const char* name) { ardoise_mark_(2, name, 0, 0); }
static inline void ardoise_phase_end(const char* name) { ardoise_mark_(3, name, 0, 0); }

/** A value: each snapshot and each open phase gets its count, mean, minimum and maximum. */
static inline void ardoise_value(const char* name, double x) { ardoise_mark_(4, name, 0, x); }

#ifdef __cplusplus
}
#endif

#endif
