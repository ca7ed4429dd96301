#include "analyzer/results/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <vector>

#include "analyzer/output_folder/live_process.hpp"
#include "analyzer/output_folder/own_files.hpp"
#include "analyzer/output_folder/safe_state_files.hpp"
#include "analyzer/results/trace_markers.hpp"
#include "reports/atomic_file.hpp"
#include "reports/document/sections.hpp"
#include "reports/losses/host_threads.hpp"
#include "reports/render.hpp"
#include "reports/text/text_document.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::analyzer {

namespace {
std::string& own_name() {
  static std::string name = "ardoise-analyzer";
  return name;
}
}  // namespace

void set_own_name(const std::string& name) { own_name() = name; }

void say(const std::string& sentence) {
  // One write, so that lines of several ranks do not mix. Names in it may contain anything.
  std::cerr << fmt::format("{}: {}\n", own_name(), reports::printable(sentence)) << std::flush;
}

void leave_state(std::string_view state, const Options& options) {
  if (options.status_file.empty()) return;
  if (const auto written = reports::write_file(options.status_file, fmt::format("{}\n", state)); !written)
    say(written.error);
}

int exit_status(int status, const Options& options) {
  leave_state(std::to_string(status), options);
  return options.status_file.empty() ? status : 0;
}

namespace {

void mark_running(reports::Run& run) {
  run.running = true;
  for (reports::Application& application : run.applications) {
    const bool runs = application.quality.ranks_complete < application.ranks && application.ending.ends.empty();
    if (runs) application.ending.moment_seconds = application.wall_seconds;
    application.waiting.unreceived.clear();  // they may have arrived
    // Times without samples: samples come late.
    std::erase_if(application.waiting.causes, [](const reports::WaitCause& cause) { return cause.kind == "other"; });
  }
}

}  // namespace

int write_report(const AnalyzerRun& analyzed, const RunFacts& facts, const Options& options,
                 knowledge_sources::TraceArchive* trace) {
  int status = kDone;
  for (const auto& complaint : analyzed.complaints()) {
    say(complaint);
    status = kIncomplete;
  }
  try {
    reports::Run run;
    run.tool_version = ARDOISE_VERSION;
    run.command = options.command;
    run.settings = options.settings;
    run.ended_by = options.ended_by;
    run.universe_ranks = facts.universe_ranks;
    run.analyzer_ranks = facts.analyzer_ranks;
    run.analyzer_workers = facts.analyzer_workers;
    run.notices = facts.notices;
    analyzed.contribute(run);
    reports::count_other_threads(run);
    if (facts.running) mark_running(run);
    for (reports::Application& application : run.applications) {
      application.quality.analyzers_lost = facts.analyzers_lost;
      if (std::ranges::find(application.hosts, host_name()) != application.hosts.end())
        application.quality.analyzer_cpu_seconds = facts.analyzer_cpu_seconds;
      application.ending.memory_kills = facts.memory_kills;
    }
    knowledge_sources::TraceArchive::Finished traces;
    if (trace != nullptr) traces = trace->finish(trace_markers(run));
    for (const auto& notice : traces.notices) {
      say(notice);
      run.notices.push_back(notice);
    }
    run.analysis_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - facts.programs_ended).count();

    if (facts.running && !options.keep) {
      std::cout << reports::summary_text(reports::document_of(run)) << std::flush;
      return status;
    }
    // The launch has ended in the meantime, and the final profile exists.
    if (facts.running && safe_state_files(options.output, kFirstStatePrefix).empty()) return status;
    if (const std::string fault = fault_of_folder(options.output); !fault.empty()) {
      say(fmt::format("there is no report: the folder '{}' on {} {}.", options.output, host_name(), fault));
      return kIncomplete;
    }
    if (const auto made = reports::make_own_folder(options.output); !made) {
      say(made.error);
      return kIncomplete;
    }
    std::string summary;
    const auto written = reports::write_results(run, options.output, summary);
    if (!options.quiet) std::cout << summary << std::flush;
    for (const auto& archive : traces.archives) {
      if (!options.quiet) say(fmt::format("the trace is {}.", archive));
    }
    if (!written) {
      say(written.error);
      return kIncomplete;
    }
    if (!options.render) return status;
    const auto rendered = reports::render_report(
        run, {.output = options.output,
              .length = options.short_report ? reports::ReportLength::brief : reports::ReportLength::full});
    for (const auto& notice : rendered.notices) say(notice);
    if (!rendered.ok()) {
      say(rendered.error);
      return kIncomplete;
    }
    if (!options.quiet && !rendered.pdf.empty()) say(fmt::format("the report is {}.", rendered.pdf));
  } catch (const std::exception& error) {
    say(fmt::format("the report could not be made: {}.", error.what()));
    return kIncomplete;
  }
  return status;
}

}  // namespace ardoise::analyzer
