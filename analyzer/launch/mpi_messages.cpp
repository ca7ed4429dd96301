// Suppresses Open MPI's message in an analyzer that the memory of a program's process cannot be read, because the
// process has ended or has become another program. The report covers that, and the survivor of the process hands over
// the unread data. All other messages of Open MPI stay.
//
// Open MPI's libraries call this function of the executable instead of their own. MPICH does not use it.
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
