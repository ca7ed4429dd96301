#include "knowledge_sources/otf2/reader/record_framing.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <system_error>
#include <vector>

namespace ardoise::knowledge_sources {
namespace {

constexpr std::size_t kHeaderBytes = 18;
constexpr std::uint8_t kEndOfChunk = 0, kEndOfFile = 2, kChunkHeader = 3, kTimeStamp = 5, kAttributeList = 6;
constexpr std::uint8_t kLittle = 0x42, kBig = 0x23;

// Enter, Leave, MpiIsendComplete, MpiIrecvRequest, MpiRequestTest, MpiRequestCancelled, OmpFork, OmpTaskCreate,
// OmpTaskSwitch, OmpTaskComplete
bool is_only_a_number(std::uint8_t type) {
  return type == 12 || type == 13 || type == 16 || type == 17 || type == 20 || type == 21 || type == 24 ||
         (type >= 28 && type <= 30);
}

struct WalkedChunk {
  std::uint64_t records = 0;
  enum class End : std::uint8_t { kChunk, kFile, kCut } end = End::kCut;
};

class ChunkWalk {
 public:
  ChunkWalk(const std::vector<std::uint8_t>& bytes, FramedFile kind) : bytes_(bytes), kind_(kind) {}

  [[nodiscard]] WalkedChunk walk() {
    WalkedChunk walked;
    at_ = kHeaderBytes;
    while (at_ < bytes_.size()) {
      if (kind_ == FramedFile::kEventFile && bytes_[at_] == kTimeStamp) {
        at_ += 9;
        continue;
      }
      const std::uint8_t type = bytes_[at_++];
      if (type == kEndOfChunk || type == kEndOfFile) {
        walked.end = type == kEndOfFile ? WalkedChunk::End::kFile : WalkedChunk::End::kChunk;
        return walked;
      }
      if (!skip(kind_ == FramedFile::kEventFile && is_only_a_number(type))) return walked;
      if (kind_ == FramedFile::kDefinitionFile || type != kAttributeList) ++walked.records;
    }
    // A chunk that is full to its last byte has no end of chunk; OTF2 does not write such chunks.
    return walked;
  }

 private:
  // False: it extends beyond the bytes.
  [[nodiscard]] bool skip(bool is_number) {
    if (at_ >= bytes_.size()) return false;
    std::uint64_t length = bytes_[at_++];
    if (length == 0xff && is_number) length = 0;
    if (length == 0xff) {
      if (bytes_.size() - at_ < 8) return false;
      length = 0;
      for (std::size_t i = 0; i < 8; ++i) {
        const std::size_t place = bytes_[1] == kBig ? 7 - i : i;
        length |= std::uint64_t{bytes_[at_ + i]} << (8 * place);
      }
      at_ += 8;
    }
    if (length > bytes_.size() - at_) return false;
    at_ += static_cast<std::size_t>(length);
    return true;
  }

  const std::vector<std::uint8_t>& bytes_;
  FramedFile kind_;
  std::size_t at_ = 0;
};

bool is_header(const std::vector<std::uint8_t>& bytes) {
  return bytes.size() >= kHeaderBytes && bytes[0] == kChunkHeader && (bytes[1] == kLittle || bytes[1] == kBig);
}

bool read_chunk(std::ifstream& in, std::uint64_t at, std::uint64_t size, std::vector<std::uint8_t>& bytes) {
  bytes.resize(static_cast<std::size_t>(size));
  in.seekg(static_cast<std::streamoff>(at));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  return static_cast<bool>(in);
}

}  // namespace

RecordFraming framing_of(const std::filesystem::path& file, FramedFile kind, std::uint64_t chunk_bytes) {
  RecordFraming framing;
  std::error_code fault;
  const std::uint64_t size = std::filesystem::file_size(file, fault);
  if (fault) return framing;
  framing.exists = true;
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    framing.fault = "cannot be opened";
    return framing;
  }
  const std::uint64_t chunks = (size + chunk_bytes - 1) / chunk_bytes;
  std::vector<std::uint8_t> bytes;
  // The last chunk first: if it has an end, the others are assumed complete.
  if (kind == FramedFile::kEventFile && chunks > 1) {
    const std::uint64_t at = (chunks - 1) * chunk_bytes;
    if (!read_chunk(in, at, size - at, bytes)) {
      framing.fault = "cannot be read";
      return framing;
    }
    if (is_header(bytes) && ChunkWalk(bytes, kind).walk().end == WalkedChunk::End::kFile) {
      framing.is_complete = true;
      return framing;
    }
  }
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::uint64_t at = chunk * chunk_bytes;
    if (!read_chunk(in, at, std::min(chunk_bytes, size - at), bytes)) {
      framing.fault = "cannot be read";
      return framing;
    }
    if (!is_header(bytes)) {
      framing.fault = fmt::format("is damaged at byte {}, where a chunk should begin", at);
      return framing;
    }
    const WalkedChunk walked = ChunkWalk(bytes, kind).walk();
    framing.records += walked.records;
    if (walked.end == WalkedChunk::End::kFile) {
      framing.is_complete = true;
      return framing;
    }
    if (walked.end == WalkedChunk::End::kChunk) continue;
    if (chunk + 1 < chunks) {
      framing.fault = fmt::format("is damaged in the {} bytes from {} on", chunk_bytes, at);
      return framing;
    }
  }
  framing.fault = size == 0 ? std::string("is empty") : std::string("is truncated");
  return framing;
}

}  // namespace ardoise::knowledge_sources
