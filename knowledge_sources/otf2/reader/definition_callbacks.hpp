// Converts OTF2's global definitions and markers.
#pragma once

#include <otf2/OTF2_Reader.h>

#include <cstdint>

#include "knowledge_sources/otf2/reader/archive_definitions.hpp"

namespace ardoise::knowledge_sources {

// Strings have a pass of their own: definitions may refer to later strings.
enum class DefinitionTurn : std::uint8_t { kStrings, kOthers };

// Reads up to `count` records. Returns the number read; errors are added to the faults.
std::uint64_t read_global_definitions(OTF2_Reader* reader, DefinitionTurn turn, std::uint64_t count,
                                      ArchiveDefinitions& definitions);
// OTF2's complaint, or "".
[[nodiscard]] std::string read_markers(OTF2_Reader* reader, std::uint64_t count, ArchiveDefinitions& definitions);

}  // namespace ardoise::knowledge_sources
