// `ardoise trace`: describes and checks a trace in OTF2, written by any tool.
#pragma once

#include <functional>
#include <string>

#include "knowledge_sources/otf2/reader/archive_reader.hpp"
#include "tools/ardoise/common/command_line.hpp"

namespace ardoise::launcher {

// Runs `work` on an archive in a separate process, because OTF2 can crash on a damaged one. Returns its status, or
// prints the error.
[[nodiscard]] int with_archive(const std::string& path,
                               const std::function<int(const knowledge_sources::ArchiveReader&)>& work);

// Returns the exit status. Throws UsageError.
[[nodiscard]] int trace(const CommandLine& line);

}  // namespace ardoise::launcher
