#include "tools/ardoise/trace/export.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "reports/atomic_file.hpp"
#include "reports/model_json.hpp"
#include "reports/stack_export.hpp"
#include "reports/text/units.hpp"
#include "tools/ardoise/common/exit_status.hpp"
#include "tools/ardoise/common/export_output.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/report/finish_report.hpp"
#include "tools/ardoise/report/input.hpp"
#include "tools/ardoise/report/report.hpp"
#include "tools/ardoise/trace/perfetto/trace_perfetto.hpp"
#include "tools/ardoise/trace/trace.hpp"
#include "tools/ardoise/trace/trace_tables.hpp"

namespace ardoise::launcher {
namespace {

using knowledge_sources::ArchiveReader;

struct ExportRequest {
  std::string path, format, table, output;  // output "-": standard output
};

int export_stacks(const ExportRequest& request, const std::string& program) {
  if (kind_of_input(request.path) != InputKind::kProfile)
    throw UsageError(
        fmt::format("'{}' is no profile; make one of it with ardoise report, and export that.", request.path));
  const auto run = reports::read_profile_json(profile_in(request.path));
  if (!run) return say("{}", run.error), kFailedStatus;
  const bool folded = request.format == "folded";
  const auto text = reports::export_stacks(*run.value, program,
                                           folded ? reports::StackFormat::folded : reports::StackFormat::speedscope);
  if (!text) return say("{}", text.error), kFailedStatus;
  if (request.output == "-") return print(*text.value) ? 0 : kFailedStatus;
  if (const auto written = reports::write_file(request.output, *text.value, reports::Special::kUsed); !written)
    return say("{}", written.error), kFailedStatus;
  say("the call stacks are '{}', {}.", request.output,
      folded ? "folded, values in microseconds (or events), summed over ranks and threads"
             : "for https://www.speedscope.app, weights summed over ranks and threads");
  return 0;
}

ExportedTrace write_trace(const ArchiveReader& archive, const ExportRequest& request, ExportOutput& out) {
  if (request.format == "perfetto") return write_perfetto(archive, out);
  if (request.table == "events") return write_event_table(archive, out);
  if (request.table == "calls") return write_call_table(archive, out);
  return write_message_table(archive, out);
}

int export_trace(const ExportRequest& request) {
  ExportOutput out(request.output);
  const int status = with_archive(request.path, [&](const ArchiveReader& archive) {
    const ExportedTrace exported = write_trace(archive, request, out);
    out.flush();
    for (const std::string& sentence : exported.faults.sentences()) say("{}", sentence);
    if (exported.left_out != 0 && request.table == "messages")
      say("Ends of messages without the other end in the trace are left out: {}.",
          reports::with_separators(exported.left_out));
    if (exported.left_out != 0 && request.table != "messages")
      say("{} never left.", reports::counted(exported.left_out, "region", "is", "are"));
    if (!out.failed()) return 0;
    say("{}", out.commit());
    return kFailedStatus;
  });
  if (status != 0) return status;
  if (const std::string fault = out.commit(); !fault.empty()) return say("{}", fault), kFailedStatus;
  return 0;
}

}  // namespace

int export_for_tools(const CommandLine& line) {
  const ExportRequest request{line.words.front(), line.text("format"), line.text("table"),
                              line.is_given("output") ? line.text("output") : "-"};
  const bool to_otf2 = request.format == "otf2",
             of_profile = request.format == "folded" || request.format == "speedscope";
  const auto only_for = [&](const char* name, bool is_meant, const char* formats) {
    if (line.is_given(name) && !is_meant) throw UsageError(fmt::format("--{} is for --format {}.", name, formats));
  };
  only_for("program", of_profile, "folded and speedscope");
  only_for("table", request.format == "csv", "csv");
  only_for("trace", to_otf2, "otf2");
  if (to_otf2) {
    if (kind_of_input(request.path) != InputKind::kCapture)
      throw UsageError(
          fmt::format("--format otf2 makes a trace of captured packs (--capture), and '{}' has none.", request.path));
    if (request.output == "-") throw UsageError("--format otf2 writes a folder; name it with --output.");
    return analyze_again(line.words, request.output, {"--no-report", "--trace", line.text("trace")});
  }
  if (line.words.size() > 1) throw UsageError("only captured packs (--format otf2) may have several paths.");
  if (of_profile) return export_stacks(request, line.text("program"));
  if (request.format == "csv" && request.table.empty())
    throw UsageError("--format csv needs --table events, messages or calls.");
  if (request.format == "perfetto" && request.output == "-" && ::isatty(STDOUT_FILENO) == 1)
    throw UsageError("--format perfetto is nothing for a terminal; give a file with -o.");
  return export_trace(request);
}

}  // namespace ardoise::launcher
