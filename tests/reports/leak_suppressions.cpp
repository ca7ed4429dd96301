// Fontconfig and Cairo keep caches until the process ends: not ours to free, so the leak checker of `asan` leaves them
// out.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions();
const char* __lsan_default_suppressions() { return "leak:libfontconfig\nleak:libcairo\n"; }
