// What is in a trace: `ardoise trace info`.
#pragma once

#include <string>

#include "knowledge_sources/otf2/reader/archive_reader.hpp"

namespace ardoise::launcher {

// Reads all events, with several threads. A text of many lines; faults: what is wrong with its files.
[[nodiscard]] std::string trace_info(const knowledge_sources::ArchiveReader& archive,
                                     knowledge_sources::ArchiveFaults& faults);

}  // namespace ardoise::launcher
