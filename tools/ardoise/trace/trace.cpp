// See trace.hpp.
#include "tools/ardoise/trace/trace.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge_sources/otf2/reader/guarded_reading.hpp"
#include "knowledge_sources/otf2/reader/time_order.hpp"
#include "reports/text/units.hpp"
#include "reports/text/utf8.hpp"
#include "tools/ardoise/common/exit_status.hpp"
#include "tools/ardoise/common/export_output.hpp"
#include "tools/ardoise/common/installation.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/common/options.hpp"
#include "tools/ardoise/common/process.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/trace/perfetto/trace_perfetto.hpp"
#include "tools/ardoise/trace/races/trace_races.hpp"
#include "tools/ardoise/trace/trace_analyze.hpp"
#include "tools/ardoise/trace/trace_check.hpp"
#include "tools/ardoise/trace/trace_info.hpp"
#include "tools/ardoise/trace/trace_tables.hpp"

namespace ardoise::launcher {
namespace {

using knowledge_sources::ArchiveReader;
using knowledge_sources::UnreadableArchive;
using reports::printable;

// In a process of its own: OTF2 can crash on a damaged archive.
int with_archive(const std::string& path, const std::function<int(const ArchiveReader&)>& work) {
  const auto end = knowledge_sources::read_guarded([&] {
    try {
      return work(ArchiveReader(path));
    } catch (const UnreadableArchive& error) {
      say("{}", error.what());
    } catch (const std::bad_alloc&) {
      say("'{}' does not fit into memory.", path);
    } catch (const std::exception& error) {
      say("{}", error.what());
    }
    return kFailedStatus;
  });
  if (end.crash.empty()) return end.status;
  say("'{}' is damaged: OTF2 {}.", path, end.crash);
  return kFailedStatus;
}

int info(const ArchiveReader& archive) {
  knowledge_sources::ArchiveFaults faults;
  const std::string text = trace_info(archive, faults);
  if (!print(text)) return kFailedStatus;
  for (const std::string& sentence : faults.sentences()) say("{}", sentence);
  return 0;
}

int check(const ArchiveReader& archive) {
  TraceCheck check(archive.definitions());
  knowledge_sources::ArchiveFaults faults = archive.definitions().faults;
  faults.merge(knowledge_sources::read_in_order(archive, check));
  check.finish();
  faults.merge(check.faults());
  std::string text;
  for (const auto& [kind, fault] : faults.by_kind()) {
    text += fmt::format("{}: {}\n", reports::with_separators(fault.count), printable(kind));
    for (const std::string& example : fault.examples) text += fmt::format("    {}\n", printable(example));
    if (!fault.examples.empty() && fault.count > fault.examples.size()) text += "    …\n";
  }
  for (const std::string& remark : check.remarks()) text += fmt::format("Note: {}.\n", printable(remark));
  const auto& anchor = archive.anchor();
  if (anchor.is_selection() && !faults.empty())
    text += fmt::format("Note: the trace is a selection ({}), without the other ends of some messages.\n",
                        printable(anchor.description));
  for (const auto& [name, value] : anchor.properties) {
    if (name.starts_with("ARDOISE::") && name != "ARDOISE::PROGRAM")
      text += fmt::format("Note: the trace states {} = {}.\n", printable(name), printable(value));
  }
  const std::string read =
      fmt::format("{}, {}, {}", reports::counted(check.events(), "event"),
                  reports::counted(check.messages(), "message"), reports::counted(check.collectives(), "collective"));
  text += faults.empty() ? fmt::format("Nothing is wrong in {}.\n", read)
                         : fmt::format("{} kind{} of faults in {}.\n", faults.by_kind().size(),
                                       faults.by_kind().size() == 1 ? "" : "s", read);
  if (!print(text)) return kFailedStatus;
  return faults.empty() ? 0 : kFaultyTraceStatus;
}

int races(const ArchiveReader& archive, bool as_csv) {
  TraceRaces races(archive.definitions());
  if (!races.has_arguments()) {
    say("'{}' does not have the arguments of calls: which receives had wildcards is not known. Record it with "
        "ardoise --trace all,attributes=arguments.",
        archive.anchor().file.string());
    return kFailedStatus;
  }
  knowledge_sources::ArchiveFaults faults = archive.definitions().faults;
  faults.merge(knowledge_sources::read_in_order(archive, races));
  races.finish();
  std::string notes = races.notes();
  const auto& anchor = archive.anchor();
  if (anchor.is_selection())
    notes += fmt::format("Note: the trace is a selection ({}): more may race than is found, or less.\n",
                         printable(anchor.description));
  if (!print(as_csv ? races.csv() : races.text() + notes)) return kFailedStatus;
  if (as_csv) std::cerr << reports::printable_lines(notes) << std::flush;
  for (const std::string& sentence : faults.sentences()) say("{}", sentence);
  return races.racing() == 0 ? 0 : kFaultyTraceStatus;
}

struct ExportRequest {
  std::string path, format, table, output;
};

ExportedTrace export_all(const ArchiveReader& archive, const ExportRequest& request, ExportOutput& out) {
  if (request.format == "perfetto") return write_perfetto(archive, out);
  if (request.table == "events") return write_event_table(archive, out);
  if (request.table == "calls") return write_call_table(archive, out);
  return write_message_table(archive, out);
}

int export_trace(const ExportRequest& request) {
  ExportOutput out(request.output);
  const int status = with_archive(request.path, [&](const ArchiveReader& archive) {
    const ExportedTrace exported = export_all(archive, request, out);
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

// What `ardoise-analyzer --replay` makes, found here too; `ardoise report` renders it.
int from_capture(const std::vector<std::string>& captures, const std::string& output, const std::string& trace) {
  std::vector<std::string> words{find_installation().analyzer, "--no-report", "--replay"};
  words.insert(words.end(), captures.begin(), captures.end());
  for (const std::string& word : {std::string("--trace"), trace, std::string("--output"), output})
    words.push_back(word);
  return run_and_wait(words).status;
}

}  // namespace

int trace(int argc, char** argv) {
  CLI::App app{"Examines and analyses traces in OTF2, whoever wrote them, and makes them of captured packs.",
               "ardoise trace"};
  app.require_subcommand(1);
  std::string path, output, selection = "all";
  std::vector<std::string> captures;
  const char* const of_trace = "traces.otf2, its folder, or the folder of a report";
  auto* const info_command = app.add_subcommand("info", "prints the contents of a trace");
  info_command->add_option("trace", path, of_trace)->required();
  auto* const check_command =
      app.add_subcommand("check", "prints the faults of a trace; exit status 3 if there are any");
  check_command->add_option("trace", path, of_trace)->required();
  auto* const races_command =
      app.add_subcommand("races",
                         "prints which receives could have had another message; exit status 3 when one could; needs a "
                         "trace with attributes=arguments");
  std::string races_format = "text";
  races_command->add_option("trace", path, of_trace)->required();
  races_command->add_option("--format", races_format, "text, or csv (a row for each call site) [text]")
      ->check(CLI::IsMember({"text", "csv"}));
  auto* const capture_command =
      app.add_subcommand("from-capture", "makes a report with a trace of captured packs (--capture)");
  capture_command->add_option("captures", captures, "files of packs, or folders with them")->required();
  capture_command->add_option("-o,--output", output, "folder of the report")->required();
  capture_command->add_option("--trace", selection, "what goes into the trace, as of ardoise [all]");
  TraceAnalysis analysis{.result = TraceResult::kReport, .trace = "", .output = "trace-report"};
  const auto add_analysis = [&](const char* name, const char* words, TraceResult result) {
    auto* const command = app.add_subcommand(name, words);
    command->add_option("trace", analysis.trace, of_trace)->required();
    command->add_option("-o,--output", analysis.output, "folder of the results [trace-report]");
    command->callback([&analysis, result] { analysis.result = result; });
    return command;
  };
  const auto* const report_command = add_analysis(
      "report", "makes the report of a trace, as if its program had run under ardoise", TraceResult::kReport);
  const auto* const profile_command =
      add_analysis("profile", "likewise, without the PDF: profile.json and the summary", TraceResult::kProfile);
  auto* const snapshots_command =
      add_analysis("snapshots", "makes files of snapshots of a trace, for ardoise snapshots", TraceResult::kSnapshots);
  snapshots_command->add_option("--every", analysis.every, "time between two of them, as of --snapshot-every [100ms]");
  ExportRequest request;
  auto* const export_command = app.add_subcommand("export", "writes a trace for other tools");
  export_command->add_option("trace", request.path, of_trace)->required();
  export_command->add_option("--format", request.format, "csv (data frames) or perfetto (ui.perfetto.dev)")
      ->required()
      ->check(CLI::IsMember({"csv", "perfetto"}));
  export_command->add_option("--table", request.table, "csv: events, messages or calls")
      ->check(CLI::IsMember({"events", "messages", "calls"}));
  export_command->add_option("-o,--output", request.output, "file to write [standard output]");
  if (const auto status = parse_or_end(app, argc, argv)) return *status;
  if (*report_command || *profile_command || *snapshots_command) return analyze_trace(analysis);
  if (*export_command) {
    if ((request.format == "csv") == request.table.empty())
      throw UsageError("--format csv needs --table events, messages or calls; --format perfetto has no tables.");
    if (request.output.empty()) request.output = "-";
    if (request.format == "perfetto" && request.output == "-" && ::isatty(STDOUT_FILENO) == 1)
      throw UsageError("--format perfetto is nothing for a terminal; give a file with -o.");
    return export_trace(request);
  }
  if (*capture_command) return from_capture(captures, output, selection);
  if (*races_command)
    return with_archive(path, [&](const ArchiveReader& archive) { return races(archive, races_format == "csv"); });
  return with_archive(path, *info_command ? info : check);
}

}  // namespace ardoise::launcher
