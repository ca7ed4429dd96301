#include "instrument/format/race_file.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <array>
#include <cstring>
#include <string_view>

namespace ardoise::instrument {
namespace {

constexpr std::uint32_t kMaxStreams = 1u << 20, kMaxHeaderText = 1u << 16;

// Copied, since the bytes may be unaligned.
template <class T>
bool read(std::span<const std::byte> bytes, T& value) {
  if (bytes.size() < sizeof value) return false;
  std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof value);
  return true;
}

}  // namespace

RaceFile::RaceFile(std::span<const std::byte> file_untrusted, std::optional<std::span<const std::byte>> open_untrusted)
    : has_open_(open_untrusted.has_value()) {
  if (!read_header(file_untrusted)) return;
  read_blocks(file_untrusted.subspan(sizeof(RaceFileHeader) + header_.text_bytes));
  if (!end_ && open_untrusted) read_open(*open_untrusted);
}

bool RaceFile::read_header(std::span<const std::byte> bytes) {
  const auto fail = [this](std::string why) { return error_ = std::move(why), false; };
  if (!read(bytes, header_)) return fail("is cut off in its header");
  if (header_.magic == __builtin_bswap64(kRaceMagic)) return fail("was written on a machine of the other byte order");
  if (header_.magic != kRaceMagic) return fail("is no record of races");
  if (header_.version != kRaceVersion)
    return fail(fmt::format("has version {} of the format, and this Ardoise reads {}", header_.version, kRaceVersion));
  bytes = bytes.subspan(sizeof header_);
  if (header_.text_bytes > kMaxHeaderText || header_.text_bytes > bytes.size()) return fail("is cut off in its header");
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), header_.text_bytes);
  for (std::string* const part : {&program_, &build_id_, &mpi_library_}) {
    const auto end = text.find('\0');
    if (end == std::string_view::npos) return fail("has no names in its header");
    *part = text.substr(0, end);
    text.remove_prefix(end + 1);
  }
  return true;
}

RaceFile::Stream* RaceFile::stream(std::uint32_t number) {
  if (number >= kMaxStreams) return nullptr;
  if (number >= streams_.size()) streams_.resize(number + 1);
  return &streams_[number];
}

void RaceFile::read_blocks(std::span<const std::byte> rest) {
  for (std::size_t number = 0; !rest.empty() && !end_; ++number) {
    RaceBlock block;
    if (!read(rest, block) || block.packed > rest.size() - sizeof block) {
      damage_ = fmt::format("is cut off in its block {}", number);
      return;
    }
    const auto packed = rest.subspan(sizeof block, block.packed);
    rest = rest.subspan(sizeof block + block.packed);
    if (block.mark == kRaceBlockMark && block.stream == kRaceEnd) {
      RaceEnd end;
      if (!read(packed, end)) break;
      end_ = end;
      return;
    }
    Stream* const into = block.mark == kRaceBlockMark ? stream(block.stream) : nullptr;
    if (into == nullptr || block.bytes == 0 || block.bytes > kMaxRaceBlock || block.sequence != into->pieces.size()) {
      damage_ = fmt::format("is damaged in its block {}", number);
      return;
    }
    into->pieces.push_back({packed, block.bytes});
  }
}

void RaceFile::read_open(std::span<const std::byte> slots) {
  // A process that died while writing its last block has that block here.
  if (damage_.starts_with("is cut off")) damage_.clear();
  for (; slots.size() >= kRaceSlotBytes; slots = slots.subspan(kRaceSlotBytes)) {
    std::array<std::uint32_t, 4> words{};
    std::uint64_t state = 0;
    std::memcpy(words.data(), slots.data(), sizeof words);
    std::memcpy(&state, slots.data() + offsetof(RaceSlot, state), sizeof state);
    const auto bytes = static_cast<std::uint32_t>(state);
    if (words[0] != kRaceSlotMark || bytes > RaceSlot::kCapacity()) continue;
    Stream* const into = stream(words[1]);
    if (into == nullptr || words[2] != into->pieces.size()) continue;
    into->open = slots.subspan(sizeof(RaceSlot), bytes);
    into->repeats = static_cast<std::uint32_t>(state >> 32);
  }
}

std::string RaceFile::fault_inside() const {
  if (!damage_.empty()) return damage_;
  if (!end_ && !has_open_) return "is cut off: it has no end";
  std::uint64_t decisions = 0;
  for (std::uint32_t number = 0; number < streams_.size(); ++number) {
    RaceStream stream(*this, number);
    while (stream.next() != nullptr) {
      const std::uint64_t more = stream.skip_repeats();
      if (number != 0) decisions += 1 + more;
    }
    if (stream.is_sound()) continue;
    return number == 0 ? "is damaged in the outcomes of non-blocking receives"
                       : fmt::format("is damaged in the decisions of thread {}", number - 1);
  }
  if (end_ && end_->why == RaceEndReason::kFinalized && last_stream() > end_->streams)
    return fmt::format("is damaged: it has {} threads of {}", last_stream(), end_->streams);
  if (end_ && end_->why == RaceEndReason::kFinalized && end_->decisions != decisions)
    return fmt::format("is damaged: it has {} of {} decisions", decisions, end_->decisions);
  return "";
}

RaceStream::RaceStream(const RaceFile& file, std::uint32_t number) : decoder_(*this) {
  if (number < file.streams_.size()) stream_ = &file.streams_[number];
  if (stream_ != nullptr) decoder_.add_repeats(stream_->repeats);
}

std::span<const std::byte> RaceStream::next_piece() {
  if (stream_ == nullptr || !sound_ || piece_ > stream_->pieces.size()) return {};
  if (piece_ == stream_->pieces.size()) return ++piece_, stream_->open;
  const RaceFile::Piece& piece = stream_->pieces[piece_++];
  unpacked_.resize(piece.bytes);
  const std::size_t got = ZSTD_decompress(unpacked_.data(), unpacked_.size(), piece.packed.data(), piece.packed.size());
  if (ZSTD_isError(got) != 0 || got != unpacked_.size()) return sound_ = false, std::span<const std::byte>{};
  return unpacked_;
}

}  // namespace ardoise::instrument
