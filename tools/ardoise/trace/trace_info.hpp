// `ardoise trace info`: describes the contents of a trace.
#pragma once

#include <string>

#include "knowledge_sources/otf2/reader/archive_reader.hpp"

namespace ardoise::launcher {

// Reads all events with several threads. Returns a text of several lines. faults: gets the errors of the files.
[[nodiscard]] std::string trace_info(const knowledge_sources::ArchiveReader& archive,
                                     knowledge_sources::ArchiveFaults& faults);

}  // namespace ardoise::launcher
