// Converts a trace for https://ui.perfetto.dev and Perfetto's trace_processor: `ardoise export --format perfetto`.
#pragma once

#include "knowledge_sources/otf2/reader/archive_reader.hpp"
#include "tools/ardoise/common/export_output.hpp"
#include "tools/ardoise/trace/trace_tables.hpp"

namespace ardoise::launcher {

// Result: rows are packets, left_out are regions without a leave event.
[[nodiscard]] ExportedTrace write_perfetto(const knowledge_sources::ArchiveReader& archive, ExportOutput& out);

}  // namespace ardoise::launcher
