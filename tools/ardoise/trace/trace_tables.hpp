// Tables of a trace as CSV: `ardoise export --format csv --table events|messages|calls`.
#pragma once

#include <string>

#include "knowledge_sources/otf2/reader/archive_reader.hpp"
#include "tools/ardoise/common/export_output.hpp"

namespace ardoise::launcher {

// Result of an export: counts, and the errors of the archive.
struct ExportedTrace {
  std::uint64_t rows = 0;
  std::uint64_t left_out = 0;  // messages without the other end; calls without a leave event
  knowledge_sources::ArchiveFaults faults;
};

// Rows are ordered by location, then time; rows of messages, by the time when both ends are found.
[[nodiscard]] ExportedTrace write_event_table(const knowledge_sources::ArchiveReader& archive, ExportOutput& out);
[[nodiscard]] ExportedTrace write_message_table(const knowledge_sources::ArchiveReader& archive, ExportOutput& out);
[[nodiscard]] ExportedTrace write_call_table(const knowledge_sources::ArchiveReader& archive, ExportOutput& out);

}  // namespace ardoise::launcher
