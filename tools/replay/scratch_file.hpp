// An unnamed file that grows at its end and is accessed as memory. The data of a replay may be larger than memory; the
// kernel caches as much as fits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace ardoise::replay {

// The replay cannot continue. what(): a sentence.
class ReplayError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Not thread safe. Addresses stay valid.
class ScratchFile {
 public:
  // Creates the file in this folder; it ends with the process. Throws ReplayError.
  explicit ScratchFile(const std::filesystem::path& folder);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  // Returns its offset, a multiple of 8. Throws ReplayError: no space left.
  std::uint64_t append(const void* data, std::size_t bytes);
  [[nodiscard]] std::byte* at(std::uint64_t offset) { return base_ + offset; }
  [[nodiscard]] const std::byte* at(std::uint64_t offset) const { return base_ + offset; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  void grow(std::uint64_t bytes);

  static constexpr std::uint64_t kMost = std::uint64_t{1} << 40;  // addresses; not memory, not disk
  static constexpr std::uint64_t kStep = std::uint64_t{4} << 20;
  std::filesystem::path folder_;
  int descriptor_ = -1;
  std::byte* base_ = nullptr;
  std::uint64_t size_ = 0, room_ = 0;
};

}  // namespace ardoise::replay
