#include "knowledge_sources/snapshot_files/snapshot_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>

namespace ardoise::knowledge_sources {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

// Reads bytes of a file from a position on, as many as requested.
class Window {
 public:
  explicit Window(const std::string& path) : in_(path, std::ios::binary) {
    // A folder can be opened, but not read.
    if (in_) in_.peek();
    if (!in_ && !in_.eof()) throw std::system_error(errno, std::generic_category());
    in_.clear();
  }
  // At least `bytes`, or all remaining ones.
  std::span<const std::byte> look(std::size_t bytes) {
    while (held_.size() - at_ < bytes && in_) {
      held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(at_));
      at_ = 0;
      const std::size_t old = held_.size();
      held_.resize(old + std::max(kPiece, bytes - old));
      in_.read(reinterpret_cast<char*>(held_.data() + old), static_cast<std::streamsize>(held_.size() - old));
      held_.resize(old + static_cast<std::size_t>(in_.gcount()));
    }
    return std::span<const std::byte>(held_).subspan(at_);
  }
  void pass(std::size_t bytes) { at_ += bytes; }

 private:
  std::ifstream in_;
  std::vector<std::byte> held_;
  std::size_t at_ = 0;
};

bool has_magic(std::span<const std::byte> bytes, const char* magic) {
  return bytes.size() >= 8 && std::memcmp(bytes.data(), magic, 8) == 0;
}

// Distance to the next possible start of a block, at least one byte.
std::size_t until_next(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string_view magic(kSnapshotMagic, 8);
  if (const auto found = text.find(magic, 1); found != std::string_view::npos) return found;
  for (std::size_t part = std::min(magic.size() - 1, text.size() - 1); part > 0; --part) {
    if (magic.starts_with(text.substr(text.size() - part))) return text.size() - part;
  }
  return text.size();
}

}  // namespace

ReadSnapshots for_each_block(const std::string& path,
                             const std::function<void(SnapshotBlock&&, std::span<const std::byte>)>& use) {
  ReadSnapshots read;
  Window window(path);
  for (;;) {
    auto bytes = window.look(kSnapshotHead);
    if (bytes.empty()) return read;
    read.is_of_older_version = read.is_of_older_version || has_magic(bytes, kSnapshotMagicBefore);
    SnapshotHead head{};
    if (read_head(bytes, head)) {
      const std::size_t size = kSnapshotHead + head.frame_bytes;
      bytes = window.look(size);
      if (bytes.size() >= size) {
        try {
          use(decode(head, bytes.subspan(kSnapshotHead, head.frame_bytes)), bytes.first(size));
          ++read.blocks;
          window.pass(size);
          continue;
        } catch (const BadSnapshotBlock& bad) {
          if (read.damage.empty()) read.damage = bad.what();
        }
      } else if (until_next(bytes) == bytes.size()) {
        read.unfinished_bytes += bytes.size();
        return read;
      }
    }
    const std::size_t passed = until_next(bytes);
    read.skipped_bytes += passed;
    window.pass(passed);
  }
}

}  // namespace ardoise::knowledge_sources
