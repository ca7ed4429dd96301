#include "tools/ardoise/report/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "instrument/format/event_format.hpp"
#include "knowledge_sources/otf2/reader/archive_anchor.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/report/finish_report.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

bool has_packs(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    return std::ranges::any_of(fs::directory_iterator(path, ignored), [](const fs::directory_entry& entry) {
      std::error_code unknown;
      return entry.is_regular_file(unknown) && has_packs(entry.path());
    });
  }
  std::uint32_t magic = 0;
  std::ifstream file(path, std::ios::binary);
  return fs::is_regular_file(path, ignored) && file.read(reinterpret_cast<char*>(&magic), sizeof magic) &&
         magic == instrument::kPackMagic;
}

}  // namespace

InputKind kind_of_input(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) throw UsageError(fmt::format("there is no '{}'.", path));
  const bool is_folder = fs::is_directory(path, error);
  if (is_folder && (has_states(path) || fs::exists(fs::path(path) / "profile.json", error))) return InputKind::kProfile;
  if (knowledge_sources::has_archive(path)) return InputKind::kTrace;
  if (has_packs(path)) return InputKind::kCapture;
  if (!is_folder) return InputKind::kProfile;
  throw UsageError(fmt::format("'{}' has no profile.json, no traces.otf2 and no captured packs.", path));
}

}  // namespace ardoise::launcher
