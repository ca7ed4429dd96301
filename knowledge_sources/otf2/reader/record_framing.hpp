// Counts the complete records of an OTF2 file. OTF2 itself does not detect a truncated file: it continues with old
// content of its memory. This reads the lengths of records only.
//
//   file    chunks of the same size, the last one as long as needed
//   chunk   3, endianness (0x42 little, 0x23 big), number of the last event before it, the same or 0, records, zeros
//   record  in event files 5 and a time of 8 bytes if it differs; type; length (1 byte, or 255 and 8 bytes); content.
//           Some kinds of event are only a compressed number: length, or 255 for none; bytes
//   2       end of file
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace ardoise::knowledge_sources {

enum class FramedFile : std::uint8_t { kDefinitionFile, kEventFile };

struct RecordFraming {
  bool exists = false;
  bool is_complete = false;   // it has an end of file
  std::uint64_t records = 0;  // readable records, if it is incomplete; attribute lists do not count
  std::string fault;          // the error, or "": "is truncated after 17 records"
};

// Only the last chunk of a complete event file is read.
[[nodiscard]] RecordFraming framing_of(const std::filesystem::path& file, FramedFile kind, std::uint64_t chunk_bytes);

}  // namespace ardoise::knowledge_sources
