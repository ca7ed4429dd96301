// What Open MPI would print in an analyzer about a program's process that is gone, or has become another program: that
// its memory cannot be read. The report says what happened to the process, and its survivor hands over what could not
// be read. Everything else that Open MPI prints stays.
//
// Open MPI's libraries call this function of the executable in place of their own. MPICH does not know it.
#include <dlfcn.h>

#include <climits>
#include <cstdarg>
#include <string_view>

extern "C" [[gnu::visibility("default")]] void opal_output(int stream, const char* format, ...);

extern "C" void opal_output(int stream, const char* format, ...) {
  if (std::string_view(format).starts_with("Read %ld, expected %lu, errno")) return;
  using Print = void (*)(int level, int stream, const char* format, va_list values);
  static const auto print = reinterpret_cast<Print>(::dlsym(RTLD_DEFAULT, "opal_output_vverbose"));
  if (print == nullptr) return;
  va_list values;
  va_start(values, format);
  print(INT_MIN, stream, format, values);  // at any verbosity
  va_end(values);
}
