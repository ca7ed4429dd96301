// `ardoise trace`: what is in a trace in OTF2, and what is wrong in it, whoever wrote it.
#pragma once

#include <functional>
#include <string>

#include "knowledge_sources/otf2/reader/archive_reader.hpp"
#include "tools/ardoise/common/command_line.hpp"

namespace ardoise::launcher {

// Runs `work` on an archive in a process of its own: OTF2 can crash on a damaged one. Returns its status, or says what
// is wrong.
[[nodiscard]] int with_archive(const std::string& path,
                               const std::function<int(const knowledge_sources::ArchiveReader&)>& work);

// Returns the exit status. Throws UsageError.
[[nodiscard]] int trace(const CommandLine& line);

}  // namespace ardoise::launcher
