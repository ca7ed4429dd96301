#include "vmpi/loader/preload_environment.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <exception>

namespace ardoise::vmpi {
namespace {

std::string_view file_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_own(std::string_view entry, std::string_view loaded_as) {
  const auto file = file_name(entry);
  if (!loaded_as.empty() && file == file_name(loaded_as)) return true;
  for (const std::string_view own : {"libvmpi.so", "libardoise.so"}) {
    if (file == own || (file.starts_with(own) && file[own.size()] == '.')) return true;
  }
  return false;
}

bool is_sanitizer(std::string_view list) {
  return list.find(':') == std::string_view::npos && file_name(list).starts_with("libasan.so");
}

}  // namespace

std::string without_own_entries(std::string_view list, std::string_view loaded_as) {
  std::string kept;
  for (std::size_t begin = 0; begin < list.size();) {
    const auto end = std::min(list.find_first_of(": ", begin), list.size());
    const auto entry = list.substr(begin, end - begin);
    if (is_own(entry, loaded_as) && is_sanitizer(kept)) kept.clear();  // `ardoise` put the sanitizer in front of us
    if (!entry.empty() && !is_own(entry, loaded_as)) kept.append(kept.empty() ? "" : ":").append(entry);
    begin = end + 1;
  }
  return kept;
}

std::string_view own_library() noexcept {
  Dl_info library;
  if (dladdr(reinterpret_cast<void*>(&remove_own_preload), &library) == 0 || library.dli_fname == nullptr) return {};
  return library.dli_fname;
}

void remove_own_preload() noexcept {
  try {
    const char* const list = std::getenv("LD_PRELOAD");
    if (list == nullptr) return;
    const std::string kept = without_own_entries(list, own_library());
    if (kept.size() == std::strlen(list)) return;  // none of ours in it
    if (kept.empty()) {
      unsetenv("LD_PRELOAD");
    } else {
      setenv("LD_PRELOAD", kept.c_str(), 1);
    }
  } catch (const std::exception&) {
    // Without memory the entry stays; children load us, and we do nothing there.
  }
}

}  // namespace ardoise::vmpi
