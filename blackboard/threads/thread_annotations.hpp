// Clang's thread-safety attributes (-Wthread-safety): the compiler checks which lock guards which data. Empty for other
// compilers. Lowest of all layers; mutex.hpp has the mutex with these attributes.
#pragma once

#if defined(__clang__)
#define ARDOISE_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define ARDOISE_THREAD_ATTRIBUTE(x)
#endif

// Types: a lock; an object that holds a lock from construction to destruction.
#define CAPABILITY(name) ARDOISE_THREAD_ATTRIBUTE(capability(name))
#define SCOPED_CAPABILITY ARDOISE_THREAD_ATTRIBUTE(scoped_lockable)

// Data: accessed with the lock only.
#define GUARDED_BY(lock) ARDOISE_THREAD_ATTRIBUTE(guarded_by(lock))

// Functions: called with the lock held; acquire it; release it; acquire it when they return the value.
#define REQUIRES(...) ARDOISE_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) ARDOISE_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define RELEASE(...) ARDOISE_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) ARDOISE_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
