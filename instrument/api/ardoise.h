/* What a C or C++ program can say of itself, for the profile over time. Nothing has to be linked: the functions look
 * for the library of Ardoise when they are called first, and do nothing where the program runs without it, before
 * MPI_Init and after MPI_Finalize. A mark costs some 60 ns; it calls no MPI and may come from any thread, but not from
 * a signal handler. Snapshots and phases of the thread that called MPI_Init cut the profile, values of all threads are
 * counted. docs/guide/marks.md
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
    /* POSIX: an object pointer of dlsym() may be made one to a function this way. */
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

/** Here ends one piece of the profile: all since the snapshot of this name before it, or since MPI_Init.
 * @param name    at most 255 bytes; copied. All ranks that are to be compared give the same.
 * @param number  of the piece, as the report shall call it: the time step. */
static inline void ardoise_snapshot(const char* name, long long number) { ardoise_mark_(1, name, number, 0); }

/** What lies between the two is told apart, each time and in sum. Phases of different names may lie in each other or
 * overlap; of one name only the outermost counts. */
static inline void ardoise_phase_begin(const char* name) { ardoise_mark_(2, name, 0, 0); }
static inline void ardoise_phase_end(const char* name) { ardoise_mark_(3, name, 0, 0); }

/** A value: how often, mean, least and greatest are told for each snapshot and phase that is open. */
static inline void ardoise_value(const char* name, double x) { ardoise_mark_(4, name, 0, x); }

#ifdef __cplusplus
}
#endif

#endif
