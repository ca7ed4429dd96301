// Hooks of the printf family, all recorded as fprintf with the bytes that they return. The variadic forms call the real
// va_list form, as libc does.
#include <cstdarg>
#include <cstdio>

#include "instrument/hooks/posix_monitor.hpp"
#include "instrument/hooks/real_function.hpp"

namespace ardoise::instrument {
namespace {

#define ARDOISE_CALLER __builtin_return_address(0)

template <class Print>
int record_print(const void* caller, std::FILE* stream, Print&& print) {
  PosixCall call(PosixFunction::kFprintf, caller);
  call.on_stream(stream);
  return call.end_with_bytes(print());
}

template <class Print>
int record_print(const void* caller, int descriptor, Print&& print) {
  PosixCall call(PosixFunction::kFprintf, caller);
  call.on_descriptor(descriptor);
  return call.end_with_bytes(print());
}

}  // namespace

ARDOISE_HOOK(int, vfprintf, std::FILE* stream, const char* format, va_list arguments) {
  return record_print(ARDOISE_CALLER, stream, [&] { return real_vfprintf.get()(stream, format, arguments); });
}
ARDOISE_HOOK(int, __vfprintf_chk, std::FILE* stream, int flag, const char* format, va_list arguments) {
  return record_print(ARDOISE_CALLER, stream,
                      [&] { return real___vfprintf_chk.get()(stream, flag, format, arguments); });
}
ARDOISE_REPLACE_UNLESS_OWN(int, vprintf, const char* format, va_list arguments) {
  return record_print(ARDOISE_CALLER, stdout, [&] { return real_vfprintf.get()(stdout, format, arguments); });
}
ARDOISE_REPLACE(int, __vprintf_chk, int flag, const char* format, va_list arguments) {
  return record_print(ARDOISE_CALLER, stdout,
                      [&] { return real___vfprintf_chk.get()(stdout, flag, format, arguments); });
}
ARDOISE_HOOK_UNLESS_OWN(int, vdprintf, int descriptor, const char* format, va_list arguments) {
  return record_print(ARDOISE_CALLER, descriptor, [&] { return real_vdprintf.get()(descriptor, format, arguments); });
}
ARDOISE_HOOK(int, __vdprintf_chk, int descriptor, int flag, const char* format, va_list arguments) {
  return record_print(ARDOISE_CALLER, descriptor,
                      [&] { return real___vdprintf_chk.get()(descriptor, flag, format, arguments); });
}

#define ARDOISE_VARIADIC(where, last, ...)                                             \
  va_list arguments;                                                                   \
  va_start(arguments, last);                                                           \
  const int result = record_print(ARDOISE_CALLER, where, [&] { return __VA_ARGS__; }); \
  va_end(arguments);                                                                   \
  return result

ARDOISE_REPLACE_UNLESS_OWN(int, fprintf, std::FILE* stream, const char* format, ...) {
  ARDOISE_VARIADIC(stream, format, real_vfprintf.get()(stream, format, arguments));
}
ARDOISE_REPLACE_UNLESS_OWN(int, __fprintf_chk, std::FILE* stream, int flag, const char* format, ...) {
  ARDOISE_VARIADIC(stream, format, real___vfprintf_chk.get()(stream, flag, format, arguments));
}
ARDOISE_REPLACE_UNLESS_OWN(int, printf, const char* format, ...) {
  ARDOISE_VARIADIC(stdout, format, real_vfprintf.get()(stdout, format, arguments));
}
ARDOISE_REPLACE_UNLESS_OWN(int, __printf_chk, int flag, const char* format, ...) {
  ARDOISE_VARIADIC(stdout, format, real___vfprintf_chk.get()(stdout, flag, format, arguments));
}
ARDOISE_REPLACE_UNLESS_OWN(int, dprintf, int descriptor, const char* format, ...) {
  ARDOISE_VARIADIC(descriptor, format, real_vdprintf.get()(descriptor, format, arguments));
}
ARDOISE_REPLACE_UNLESS_OWN(int, __dprintf_chk, int descriptor, int flag, const char* format, ...) {
  ARDOISE_VARIADIC(descriptor, format, real___vdprintf_chk.get()(descriptor, flag, format, arguments));
}

}  // namespace ardoise::instrument
