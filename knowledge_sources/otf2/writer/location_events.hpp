// Reads the events of one location of a part of a trace: an archive without definitions (trace_part.hpp).
#pragma once

#include <otf2/OTF2_EvtReaderCallbacks.h>

#include <cstdint>
#include <filesystem>

namespace ardoise::knowledge_sources {

// callbacks: get `data`. False: it cannot be read, or a callback has interrupted it.
[[nodiscard]] bool read_location_events(const std::filesystem::path& part, std::uint64_t location,
                                        const OTF2_EvtReaderCallbacks* callbacks, void* data);

}  // namespace ardoise::knowledge_sources
