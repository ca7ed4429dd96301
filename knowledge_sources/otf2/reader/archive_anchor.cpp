// The file: 3, endianness, "OTF2" and 0, version of this file, of the format, three numbers of OTF2's version, bytes of
// a chunk of events and of definitions, file substrate, compression, locations, definitions …
#include "knowledge_sources/otf2/reader/archive_anchor.hpp"

#include <fmt/format.h>
#include <otf2/OTF2_GeneralDefinitions.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

namespace ardoise::knowledge_sources {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic("OTF2\0", 5);
constexpr std::uint8_t kFirstByte = 3, kLittleEndian = 0x42;

// Reads sequentially; throws UnreadableArchive at the end of the bytes.
class AnchorBytes {
 public:
  AnchorBytes(std::string bytes, const fs::path& file) : bytes_(std::move(bytes)), file_(file) {}

  void check_magic() {
    if (bytes_.size() < 2 + kMagic.size() || bytes_[0] != kFirstByte || bytes_.compare(2, kMagic.size(), kMagic) != 0)
      throw UnreadableArchive(fmt::format("'{}' is not an OTF2 archive, or is damaged.", file_.string()));
    is_little_ = static_cast<std::uint8_t>(bytes_[1]) == kLittleEndian;
    at_ = 2 + kMagic.size();
  }
  std::uint8_t byte() { return static_cast<std::uint8_t>(number(1)); }
  std::uint64_t number(std::size_t size) {
    if (bytes_.size() - at_ < size) throw UnreadableArchive(fmt::format("'{}' is truncated.", file_.string()));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const auto byte = static_cast<std::uint8_t>(bytes_[at_ + i]);
      value |= std::uint64_t{byte} << (8 * (is_little_ ? i : size - 1 - i));
    }
    at_ += size;
    return value;
  }
  std::string text() {
    const std::size_t end = bytes_.find('\0', at_);
    if (end == std::string::npos) throw UnreadableArchive(fmt::format("'{}' is truncated.", file_.string()));
    std::string found = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return found;
  }

 private:
  std::string bytes_;
  const fs::path& file_;
  std::size_t at_ = 0;
  bool is_little_ = true;
};

// Limited, in case the file is no anchor.
std::string read_start(const fs::path& file) {
  constexpr std::size_t kMost = std::size_t{16} << 20;
  std::ifstream in(file, std::ios::binary);
  if (!in) throw UnreadableArchive(fmt::format("'{}' cannot be opened: {}.", file.string(), std::strerror(errno)));
  std::string bytes(kMost, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

fs::path anchor_in(const fs::path& folder) {
  std::error_code fault;
  for (const char* const each : {"traces.otf2", "trace/traces.otf2"}) {
    if (fs::is_regular_file(folder / each, fault)) return folder / each;
  }
  std::vector<fs::path> found;  // files with other names
  for (const auto& entry : fs::directory_iterator(folder, fault)) {
    if (entry.path().extension() == ".otf2") found.push_back(entry.path());
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1)
    throw UnreadableArchive(fmt::format("'{}' has several archives, such as '{}' and '{}': name one of them.",
                                        folder.string(), found[0].filename().string(), found[1].filename().string()));
  throw UnreadableArchive(
      fmt::format("'{}' has no trace: name a file *.otf2, its folder, or the folder of a report that was made with "
                  "--trace.",
                  folder.string()));
}

}  // namespace

bool has_archive(const fs::path& path) {
  std::error_code fault;
  if (!fs::is_directory(path, fault)) return path.extension() == ".otf2";
  try {
    (void)anchor_in(path);
    return true;
  } catch (const UnreadableArchive&) {
    return false;
  }
}

ArchiveAnchor find_archive(const fs::path& path) {
  std::error_code fault;
  const auto status = fs::status(path, fault);
  if (!fs::exists(status)) {
    const bool is_missing = status.type() == fs::file_type::not_found;
    throw UnreadableArchive(fmt::format("'{}' cannot be opened: {}.", path.string(),
                                        is_missing ? std::string("there is no such file") : fault.message()));
  }
  ArchiveAnchor anchor;
  anchor.file = fs::is_directory(status) ? anchor_in(path) : path;
  anchor.folder = anchor.definitions = anchor.markers = anchor.file;
  anchor.folder.replace_extension();
  anchor.definitions.replace_extension(".def");
  anchor.markers.replace_extension(".marker");
  if (anchor.file.extension() != ".otf2")
    throw UnreadableArchive(
        fmt::format("'{}' is not an OTF2 archive: the first file of one is named *.otf2.", path.string()));

  AnchorBytes in(read_start(anchor.file), anchor.file);
  in.check_magic();
  const std::uint8_t anchor_version = in.byte();
  (void)in.byte();  // version of the record format
  anchor.major = in.byte();
  anchor.minor = in.byte();
  anchor.bugfix = in.byte();
  anchor.event_chunk_bytes = in.number(8);
  anchor.definition_chunk_bytes = in.number(8);
  const std::uint8_t substrate = in.byte(), compression = in.byte();
  (void)in.number(8);  // locations
  anchor.definition_count = in.number(8);
  for (const std::uint64_t each : {anchor.event_chunk_bytes, anchor.definition_chunk_bytes}) {
    if (each < OTF2_CHUNK_SIZE_MIN || each > OTF2_CHUNK_SIZE_MAX)
      throw UnreadableArchive(
          fmt::format("'{}' is damaged: it claims chunks of {} bytes.", anchor.file.string(), each));
  }
  if (substrate != OTF2_SUBSTRATE_POSIX)
    throw UnreadableArchive(
        fmt::format("'{}' uses SIONlib, or has no locations; only archives with one file per location are supported.",
                    anchor.file.string()));
  if (compression != OTF2_COMPRESSION_NONE)
    throw UnreadableArchive(
        fmt::format("'{}' is compressed or damaged; only uncompressed archives are supported.", anchor.file.string()));
  anchor.machine = in.text();
  anchor.creator = in.text();
  anchor.description = in.text();
  if (anchor_version > 1) {
    // OTF2 trusts the number of properties.
    for (std::uint64_t left = in.number(4); left != 0; --left) {
      std::string name = in.text();
      anchor.properties.emplace_back(std::move(name), in.text());
    }
    (void)in.number(8);  // of the trace
  }
  if (anchor_version > 2) (void)in.number(8);  // snapshots, thumbnails
  return anchor;
}

bool ArchiveAnchor::is_selection() const {
  if (creator != "Ardoise") return false;
  const std::string_view items = description;
  for (std::size_t at = items.find('='); at != items.npos; at = items.find('=', at + 1)) {
    if (!items.substr(0, at).ends_with("attributes")) return true;
  }
  return false;
}

}  // namespace ardoise::knowledge_sources
