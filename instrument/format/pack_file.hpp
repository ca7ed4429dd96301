// A file of captured packs: packs in a row, each header_bytes + payload_bytes long, without gaps. The recorder writes
// it if ARDOISE_CAPTURE is set (capture_transport.cpp); replay, tests and benchmarks read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "instrument/format/pack_reader.hpp"

namespace ardoise::instrument {

// The whole file in memory, aligned to 8. Empty with `error` set when the file cannot be read.
struct PackFile {
  std::vector<std::uint64_t> storage;
  std::size_t size = 0;  // bytes
  std::string error;
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(storage)).first(size); }
};
[[nodiscard]] PackFile read_pack_file(const std::filesystem::path& path);
// Reads from a descriptor, which it closes. A negative descriptor is the -errno of the failed open.
[[nodiscard]] PackFile read_pack_file(const std::filesystem::path& path, int descriptor);

// Writes packs to a new file; an older file of that name is removed. False: a write failed, later ones do nothing, and
// the file is not valid.
class PackFileWriter {
 public:
  explicit PackFileWriter(const std::filesystem::path& path);
  ~PackFileWriter();
  PackFileWriter(const PackFileWriter&) = delete;
  PackFileWriter& operator=(const PackFileWriter&) = delete;
  [[nodiscard]] bool write(std::span<const std::byte> pack);

 private:
  int descriptor_;
};

// Iterates over the packs of `bytes` (aligned to 8); next() checks each one. Ends at the end of the bytes or at the
// first bad pack; in that case error() is not empty.
class PackSequence {
 public:
  explicit PackSequence(std::span<const std::byte> bytes_untrusted) : rest_(bytes_untrusted) {}
  [[nodiscard]] std::optional<PackView> next();
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  std::span<const std::byte> rest_;
  std::string error_;
};

}  // namespace ardoise::instrument
