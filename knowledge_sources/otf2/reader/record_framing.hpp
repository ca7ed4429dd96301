// How far the records of a file of OTF2 go. OTF2 itself does not notice where a file was cut off: it goes on with what
// its memory holds from before. This reads the lengths of records, not what is in them.
//
//   file    chunks of the same size, the last one as long as it must be
//   chunk   3, endianness (0x42 little, 0x23 big), number of the last event before it, the same or 0, records, zeros
//   record  in event files 5 and a time of 8 bytes where it differs; type; length (1 byte, or 255 and 8 bytes);
//   content.
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
  bool is_complete = false;   // it ends with an end of file
  std::uint64_t records = 0;  // whole ones, where it is not complete: so many can be read; attribute lists do not count
  std::string fault;          // what is wrong, or "": "is cut off after 17 records"
};

// Of a complete file of events only the last chunk is read.
[[nodiscard]] RecordFraming framing_of(const std::filesystem::path& file, FramedFile kind, std::uint64_t chunk_bytes);

}  // namespace ardoise::knowledge_sources
