// Global objects of the library are never destroyed: destructors of the program's own libraries may run after those of
// this one, and may call MPI. The compiler registers each destructor with this function, which hides the C library's
// inside the library.
extern "C" [[gnu::visibility("hidden")]] int __cxa_atexit(void (*)(void*), void*, void*) noexcept { return 0; }
