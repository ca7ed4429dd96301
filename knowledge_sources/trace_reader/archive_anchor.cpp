// See archive_anchor.hpp. The file: 3, endianness, "OTF2" and 0, version of this file, of the format, three numbers of
// OTF2's version, bytes of a chunk of events and of definitions, how files are kept, compression, locations,
// definitions …
#include "knowledge_sources/trace_reader/archive_anchor.hpp"

#include <fmt/format.h>
#include <otf2/OTF2_GeneralDefinitions.h>

#include <array>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

namespace ardoise::knowledge_sources {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic("OTF2\0", 5);
constexpr std::size_t kAnchorBytes = 46;

fs::path anchor_in(const fs::path& folder) {
  std::error_code fault;
  for (const char* const each : {"traces.otf2", "trace/traces.otf2"}) {
    if (fs::is_regular_file(folder / each, fault)) return folder / each;
  }
  std::vector<fs::path> found;  // of another name
  for (const auto& entry : fs::directory_iterator(folder, fault)) {
    if (entry.path().extension() == ".otf2") found.push_back(entry.path());
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1)
    throw UnreadableArchive(fmt::format("'{}' has several archives, as '{}' and '{}': name one of them.",
                                        folder.string(), found[0].filename().string(), found[1].filename().string()));
  throw UnreadableArchive(
      fmt::format("'{}' has no trace: name a file *.otf2, its folder, or the folder of a report that was made with "
                  "--trace.",
                  folder.string()));
}

}  // namespace

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
    throw UnreadableArchive(fmt::format("'{}' is no archive of OTF2: its first file is named *.otf2.", path.string()));

  std::ifstream in(anchor.file, std::ios::binary);
  if (!in)
    throw UnreadableArchive(fmt::format("'{}' cannot be opened: {}.", anchor.file.string(), std::strerror(errno)));
  std::array<std::uint8_t, kAnchorBytes> bytes{};
  in.read(reinterpret_cast<char*>(bytes.data()), bytes.size());
  const auto size = static_cast<std::size_t>(in.gcount());
  if (size < 7 || bytes[0] != 3 || std::memcmp(&bytes[2], kMagic.data(), kMagic.size()) != 0)
    throw UnreadableArchive(fmt::format("'{}' is no archive of OTF2, or a damaged one.", anchor.file.string()));
  if (size < kAnchorBytes) throw UnreadableArchive(fmt::format("'{}' is cut off.", anchor.file.string()));
  const auto number = [&](std::size_t at) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i) value |= std::uint64_t{bytes[at + i]} << (8 * (bytes[1] == 0x42 ? i : 7 - i));
    return value;
  };
  anchor.major = bytes[9];
  anchor.minor = bytes[10];
  anchor.bugfix = bytes[11];
  anchor.event_chunk_bytes = number(12);
  anchor.definition_chunk_bytes = number(20);
  const std::uint8_t substrate = bytes[28], compression = bytes[29];
  anchor.definition_count = number(38);
  for (const std::uint64_t each : {anchor.event_chunk_bytes, anchor.definition_chunk_bytes}) {
    if (each < OTF2_CHUNK_SIZE_MIN || each > OTF2_CHUNK_SIZE_MAX)
      throw UnreadableArchive(
          fmt::format("'{}' is damaged: it tells of chunks of {} bytes.", anchor.file.string(), each));
  }
  anchor.has_plain_files = substrate == OTF2_SUBSTRATE_POSIX && compression == OTF2_COMPRESSION_NONE;
  return anchor;
}

}  // namespace ardoise::knowledge_sources
