// Takes what OTF2 reads of global definitions and markers.
#pragma once

#include <otf2/OTF2_Reader.h>

#include <cstdint>

#include "knowledge_sources/otf2/reader/archive_definitions.hpp"

namespace ardoise::knowledge_sources {

// Strings have a turn of their own: others may refer to those that come after them.
enum class DefinitionTurn : std::uint8_t { kStrings, kOthers };

// Reads up to `count` records. Returns how many were read; what is wrong stands in the faults.
std::uint64_t read_global_definitions(OTF2_Reader* reader, DefinitionTurn turn, std::uint64_t count,
                                      ArchiveDefinitions& definitions);
// What OTF2 complains about, or "".
[[nodiscard]] std::string read_markers(OTF2_Reader* reader, std::uint64_t count, ArchiveDefinitions& definitions);

}  // namespace ardoise::knowledge_sources
