// Reads one process's record of races: header, blocks, and the data that a process that died had not yet put into
// blocks. Bytes come from outside and are checked; a truncated record is used up to its last whole block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "instrument/format/race_format.hpp"
#include "instrument/format/race_tokens.hpp"

namespace ardoise::instrument {

class RaceFile {
 public:
  // Both spans outlive this object. `open`: the bytes of the .open file, if there is one.
  RaceFile(std::span<const std::byte> file_untrusted, std::optional<std::span<const std::byte>> open_untrusted);

  // "": the file is usable; otherwise a clause without subject: "is cut off in its header".
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] const RaceFileHeader& header() const { return header_; }
  [[nodiscard]] const std::string& program() const { return program_; }
  [[nodiscard]] const std::string& build_id() const { return build_id_; }
  [[nodiscard]] const std::string& mpi_library() const { return mpi_library_; }
  // Empty: the process did not reach MPI_Finalize.
  [[nodiscard]] const std::optional<RaceEnd>& end() const { return end_; }
  // "": all blocks are whole; otherwise a clause about the first damaged one. All blocks before it are usable.
  [[nodiscard]] const std::string& damage() const { return damage_; }
  // "": all decisions up to its end, or up to the death of the process, can be read; otherwise a clause as above. Reads
  // them all.
  [[nodiscard]] std::string fault_inside() const;
  // Number of the last stream: streams of threads are 1 ... last_stream().
  [[nodiscard]] std::uint32_t last_stream() const {
    return streams_.empty() ? 0 : static_cast<std::uint32_t>(streams_.size()) - 1;
  }

 private:
  friend class RaceStream;
  struct Piece {
    std::span<const std::byte> packed;
    std::uint32_t bytes;
  };
  struct Stream {
    std::vector<Piece> pieces;
    std::span<const std::byte> open;
    std::uint32_t repeats = 0;
  };
  bool read_header(std::span<const std::byte> bytes);
  void read_blocks(std::span<const std::byte> rest);
  void read_open(std::span<const std::byte> slots);
  Stream* stream(std::uint32_t number);

  RaceFileHeader header_;
  std::string program_, build_id_, mpi_library_, error_, damage_;
  std::optional<RaceEnd> end_;
  bool has_open_;
  std::vector<Stream> streams_;
};

// The decisions of a stream, from its start. Refers to the file.
class RaceStream final : private RaceBytes {
 public:
  RaceStream(const RaceFile& file, std::uint32_t number);
  RaceStream(const RaceStream&) = delete;
  RaceStream& operator=(const RaceStream&) = delete;

  // nullptr: the stream ended, or is_sound() is false. Valid until the next call.
  [[nodiscard]] const RaceEntry* next() { return decoder_.next(); }
  [[nodiscard]] std::uint64_t skip_repeats() { return decoder_.skip_repeats(); }
  [[nodiscard]] const std::vector<RaceKey>& keys() const { return decoder_.keys(); }
  [[nodiscard]] bool is_sound() const { return sound_ && decoder_.is_sound(); }

 private:
  [[nodiscard]] std::span<const std::byte> next_piece() override;

  const RaceFile::Stream* stream_ = nullptr;  // nullptr: the file has no stream with this number
  std::size_t piece_ = 0;
  std::vector<std::byte> unpacked_;
  bool sound_ = true;
  RaceDecoder decoder_;
};

}  // namespace ardoise::instrument
