#include "analyzer/output_folder/own_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "instrument/machine/own_folder.hpp"
#include "reports/atomic_file.hpp"
#include "reports/write_all.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using instrument::OwnFolder;

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

}  // namespace

std::string fault_of_folder(const fs::path& folder) {
  const long error = OwnFolder(folder.c_str()).error();
  if (error == 0 || error == -ENOENT) return "";
  struct stat found {};
  if (error != -EPERM || ::stat(folder.c_str(), &found) != 0)
    return fmt::format("cannot be used: {}", std::strerror(static_cast<int>(-error)));
  if (found.st_uid != ::geteuid()) return fmt::format("is another user's (number {})", found.st_uid);
  return fmt::format("can be written by others (mode {:04o})", found.st_mode & 07777);
}

std::vector<fs::path> own_files(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> files;
  const OwnFolder own(folder.c_str());
  if (own.error() != 0) return files;
  struct stat found {};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && own.stat(name.c_str(), found) == 0) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::optional<std::string> read_own_file(const fs::path& path) {
  const long file = OwnFolder(folder_of(path).c_str()).read(path.filename().c_str());
  if (file < 0) return std::nullopt;
  std::string content;
  std::array<char, 65536> some;
  ssize_t bytes = 0;
  while ((bytes = ::read(static_cast<int>(file), some.data(), some.size())) > 0 || (bytes < 0 && errno == EINTR))
    content.append(some.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
  ::close(static_cast<int>(file));
  if (bytes < 0) return std::nullopt;
  return content;
}

instrument::PackFile read_own_pack_file(const fs::path& path) {
  const long file = OwnFolder(folder_of(path).c_str()).read(path.filename().c_str());
  return instrument::read_pack_file(path, static_cast<int>(file));
}

bool write_own_file(const fs::path& path, std::string_view content) {
  const OwnFolder folder(folder_of(path).c_str());
  const std::string name = path.filename().string(), beside = reports::half_written(name);
  const long file = folder.replace(beside.c_str(), 0600);
  if (file < 0) return false;
  bool is_whole = reports::write_all(static_cast<int>(file), content);
  is_whole = ::close(static_cast<int>(file)) == 0 && is_whole;
  if (is_whole && folder.rename(beside.c_str(), name.c_str()) == 0) return true;
  folder.remove(beside.c_str());
  return false;
}

bool has_own_file(const fs::path& path) {
  struct stat found {};
  return OwnFolder(folder_of(path).c_str()).stat(path.filename().c_str(), found) == 0;
}

void remove_own_file(const fs::path& path) { OwnFolder(folder_of(path).c_str()).remove(path.filename().c_str()); }

}  // namespace ardoise::analyzer
