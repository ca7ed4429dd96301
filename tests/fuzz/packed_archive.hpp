// An archive as one input of a fuzzer: its files in a row, each preceded by its number of bytes (4, little endian).
// Missing files are missing in the archive.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace ardoise::fuzz {

inline constexpr std::array kArchiveFiles{"traces.otf2",  "traces.def",   "traces/0.evt", "traces/0.def",
                                          "traces/1.evt", "traces/1.def", "traces.marker"};

inline void unpack_archive(std::string_view bytes, const std::filesystem::path& folder) {
  for (const char* const name : kArchiveFiles) {
    std::uint32_t size = 0;
    if (bytes.size() < sizeof size) {
      std::error_code none;
      std::filesystem::remove(folder / name, none);
      continue;
    }
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes.remove_prefix(sizeof size);
    const std::string_view content = bytes.substr(0, size);
    std::ofstream(folder / name, std::ios::binary | std::ios::trunc) << content;
    bytes.remove_prefix(content.size());
  }
}

inline std::string pack_archive(const std::filesystem::path& folder) {
  std::string all;
  for (const char* const name : kArchiveFiles) {
    std::ifstream in(folder / name, std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(in), {}};
    const auto size = static_cast<std::uint32_t>(content.size());
    all.append(reinterpret_cast<const char*>(&size), sizeof size);
    all += content;
  }
  return all;
}

}  // namespace ardoise::fuzz
