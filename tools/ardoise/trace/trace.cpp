#include "tools/ardoise/trace/trace.hpp"

#include <fmt/format.h>

#include <exception>
#include <iostream>
#include <string>

#include "knowledge_sources/otf2/reader/guarded_reading.hpp"
#include "knowledge_sources/otf2/reader/time_order.hpp"
#include "reports/text/units.hpp"
#include "reports/text/utf8.hpp"
#include "tools/ardoise/common/exit_status.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/trace/races/trace_races.hpp"
#include "tools/ardoise/trace/trace_check.hpp"
#include "tools/ardoise/trace/trace_info.hpp"

namespace ardoise::launcher {
namespace {

using knowledge_sources::ArchiveReader;
using reports::printable;

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

}  // namespace

int with_archive(const std::string& path, const std::function<int(const ArchiveReader&)>& work) {
  const auto end = knowledge_sources::read_guarded([&] {
    try {
      return work(ArchiveReader(path));
    } catch (const knowledge_sources::UnreadableArchive& error) {
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

int trace(const CommandLine& line) {
  const std::string action = line.word_of("ACTION", "info|check|races");
  if (line.is_on("csv") && action != "races") throw UsageError("--csv is for races.");
  return with_archive(line.words[1], [&](const ArchiveReader& archive) {
    return action == "info" ? info(archive) : action == "check" ? check(archive) : races(archive, line.is_on("csv"));
  });
}

}  // namespace ardoise::launcher
