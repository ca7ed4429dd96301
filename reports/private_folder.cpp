#include "reports/private_folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace ardoise::reports {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFallback = "/tmp";

}  // namespace

PrivateFolder::PrivateFolder() {
  const char* named = std::getenv("TMPDIR");
  int why = 0;
  for (const std::string above : {named != nullptr ? named : "", kFallback}) {
    if (above.empty()) continue;
    std::error_code unknown;
    path_ = (fs::absolute(above, unknown) / "ardoise-report-XXXXXX").string();
    if (::mkdtemp(path_.data()) != nullptr) return;  // with mode 0700
    why = errno;
  }
  error_ = cannot_make(path_, std::strerror(why));
  path_.clear();
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

std::string cannot_make(const std::string& path, const std::string& why) {
  return fmt::format("Cannot write {}: {}; free some space there, or set TMPDIR to a folder with free space.", path,
                     why);
}

}  // namespace ardoise::reports
