#include "tools/ardoise/launch/preload_path.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <string>

#include "tools/ardoise/common/usage_error.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

bool ends_early(const fs::path& path) { return path.native().find_first_of(": \t\n\r") != std::string::npos; }

}  // namespace

PreloadPath::PreloadPath(const fs::path& library) : path_(library) {
  if (!ends_early(library)) return;
  std::error_code error;
  fs::path folder = fs::temp_directory_path(error);
  if (error || ends_early(folder)) folder = "/tmp";
  std::string name = (folder / "ardoise-XXXXXX").string();
  if (::mkdtemp(name.data()) != nullptr) {
    made_folder_ = name;
    path_ = made_folder_ / library.filename();
    fs::create_symlink(library, path_, error);
    if (!error) return;
    fs::remove(made_folder_, error);
  }
  throw UsageError(fmt::format(
      "the path '{}' has a blank or colon, where the loader ends it in LD_PRELOAD, and no link to it can be "
      "made in '{}'; move Ardoise to a folder without one.",
      library.string(), folder.string()));
}

PreloadPath::~PreloadPath() {
  std::error_code ignored;
  if (made_folder_.empty()) return;
  fs::remove(path_, ignored);
  fs::remove(made_folder_, ignored);
}

}  // namespace ardoise::launcher
