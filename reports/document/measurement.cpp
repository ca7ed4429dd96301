// Reliability of the numbers: a chapter for all programs, and a paragraph in the summary of each. See sections.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "reports/document/sections.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kSummaryNotices = 2;
constexpr std::uint64_t kSamplesForFigure = 1000;  // fewer need no figure of the sampling rate

Section ledger(const Run& run) {
  Section section{.title = "Ledger", .together = 0};
  const char* const missing = run.running ? "Pending" : "Lost";
  Table table{"", {left("Program", 33), left("Class", 0), "Recorded", "Received", "Dropped", missing}, {}};
  for (const Application& a : run.applications) {
    for (const Ledger& l : a.quality.ledger) {
      table.rows.push_back({code(a.name), code(l.record_class, 20), exact(l.recorded), exact(l.received),
                            exact(l.dropped),
                            l.lost == 0 || run.running ? Cell{exact(l.lost)}
                                                       : Cell{Text(Span{with_separators(l.lost), Span::Look::alarm})}});
    }
  }
  if (table.rows.empty()) {
    section.blocks.push_back(Paragraph{"No program delivered a ledger."});
    return section;
  }
  Table packs{"", {left("Program", 33), "Complete ranks", "Packs", "Volume", "Bad"}, {}};
  for (const Application& a : run.applications) {
    const Quality& q = a.quality;
    packs.rows.push_back({code(a.name),
                          Text(fmt::format("{} / {}", with_separators(q.ranks_complete), with_separators(a.ranks))),
                          exact(q.packs), bytes(q.pack_bytes), exact(q.bad_packs)});
  }
  section.blocks = {
      Paragraph{run.running ? "The programs were running: the ranks still held pending records. Records arrive in "
                              "packs."
                            : "Recorded must equal received plus dropped; lost is the difference. Records arrive in "
                              "packs."},
      std::move(table), std::move(packs)};
  return section;
}

Section overhead(const Run& run) {
  Section section{.title = "Overhead", .together = 0};
  if (run.applications.empty()) return section;
  Table table{
      "", {left("Program", 24), "per call", "Recording", "Sending", "(blocked)", "Sampling", "Overhead", "Share"}, {}};
  for (const Application& a : run.applications) {
    const Quality& q = a.quality;
    table.rows.push_back({code(a.name), seconds(q.record_cost_seconds), seconds(q.recording_seconds),
                          seconds(q.sending_seconds), seconds(q.blocked_seconds), seconds(q.sampling_seconds),
                          seconds(q.overhead_seconds), share(Facts(a).share(q.overhead_seconds))});
  }
  section.blocks = {Paragraph{"Overhead is an estimate, summed over all ranks, of three parts: recording (recorded "
                              "calls × measured cost of "
                              "one call), sending with reducing full buffers (blocked: the part in which no buffer was "
                              "free), and sampling. "
                              "Share is the part of the time of all ranks."},
                    std::move(table)};
  return section;
}

Section sampling(const Run& run) {
  Section section{.title = "Sampling", .together = 8};
  std::vector<Block> figures;
  Table table{
      "", {left("Program", 21), "Threads", "Taken", "Discarded", "Arrived", "Incomplete", "Not usable", "Cost"}, {}};
  const auto sum = [](const auto& list) {
    return std::accumulate(list.begin(), list.end(), typename std::decay_t<decltype(list)>::value_type{});
  };
  for (std::size_t i = 0; i < run.applications.size(); ++i) {
    const Application& a = run.applications[i];
    const SampleProfile& s = a.samples;
    if (s.unit.empty()) continue;
    const double wall = sum(s.threads.wall_seconds), cost = sum(s.threads.cost_seconds);
    table.rows.push_back({code(a.name), exact(s.threads.rank.size()), count(sum(s.threads.taken)),
                          count(sum(s.threads.discarded)), count(s.samples), count(sum(s.threads.partial)),
                          count(sum(s.threads.inside_tool)), wall > 0 ? Cell{share(cost / wall)} : Cell{"–"}});
    if (a.samples.samples < kSamplesForFigure) continue;
    if (Figure figure = sampling_rate_figure(a); figure) {
      figure.id += fmt::format("_{}", i);
      figure.caption = in_sentence(a.name) + ": " + figure.caption;
      add_figure(figures, std::move(figure));
    } else {
      section.left_out.push_back(fmt::format("sampling rate of {} (it did not change)", in_sentence(a.name)));
    }
  }
  if (table.rows.empty()) return section;
  section.blocks = {
      Paragraph{
          "When the rate is lowered, taken samples are discarded and the remaining ones get more weight. "
          "Incomplete: the call stack could not be unwound to its outermost function. Not usable: the sample fell "
          "inside this tool or into code that cannot be sampled. Cost is the share of the threads' time that "
          "sampling took."},
      std::move(table)};
  std::move(figures.begin(), figures.end(), std::back_inserter(section.blocks));
  return section;
}

Section clocks(const Run& run) {
  Section section{.title = "Clock", .together = 0};
  if (run.applications.empty()) return section;
  const Quality& first = run.applications.front().quality;
  if (std::all_of(run.applications.begin(), run.applications.end(), [&](const Application& a) {
        return a.quality.clock == first.clock && a.quality.clock_error_seconds == first.clock_error_seconds;
      })) {
    section.blocks.push_back(
        Paragraph{{code(first.clock.empty() ? "unknown" : first.clock, 80),
                   {fmt::format("; its error is at most {}.", human_seconds(first.clock_error_seconds))}}});
    return section;
  }
  Table table{"", {left("Program", 33), left("Clock", 47), "Error bound"}, {}};
  for (const Application& a : run.applications) {
    table.rows.push_back({code(a.name), Text(a.quality.clock.empty() ? "unknown" : a.quality.clock),
                          seconds(a.quality.clock_error_seconds)});
  }
  section.blocks.push_back(std::move(table));
  return section;
}

// The samples show a Python interpreter, but no function of a script.
bool lacks_python_functions(const Application& a) {
  const auto is_interpreter = [](const SampledFunction& f) {
    const std::string name = base_name(f.module);
    return name.starts_with("python") || name.starts_with("libpython");
  };
  const auto is_of_script = [](const SampledFunction& f) {
    return f.source_file.ends_with(".py") || f.symbol == "(import of modules)";
  };
  return std::ranges::any_of(a.samples.functions, is_interpreter) &&
         std::ranges::none_of(a.samples.functions, is_of_script);
}

// Options without their default values.
Section options_of_run(const Run& run) {
  Text text;
  for (const RunSetting& s : run.settings) {
    if (s.set_by == "default") continue;
    if (!text.empty()) text.spans.push_back({", "});
    text.spans.push_back(code(s.name + "=" + s.value));
    text.spans.push_back({" (" + s.set_by + ")"});
  }
  Section section{.title = "Options that were set", .together = 0};
  if (!text.empty()) section.blocks.emplace_back(Paragraph{std::move(text)});
  return section;
}

Section not_measured(const Run& run) {
  Bullets list;
  for (const std::string& notice : run.notices) list.items.emplace_back(notice);
  for (const Application& a : run.applications) {
    for (const std::string& notice : a.quality.notices) list.items.push_back({code(a.name, 40), {": " + notice}});
    if (a.quality.unresolved_call_sites != 0) {
      list.items.push_back({code(a.name, 40),
                            {": " + counted(a.quality.unresolved_call_sites, "call site") +
                             " could not be resolved to a source line (built without -g, or stripped)."}});
    }
  }
  for (const Application& a : run.applications) {
    if (lacks_python_functions(a))
      list.items.push_back({code(a.name, 40),
                            {": samples show only functions of the Python interpreter and of compiled modules; "
                             "functions of the script could not be sampled."}});
  }
  list.items.emplace_back("Wall time and shares exclude time before MPI_Init and after MPI_Finalize.");
  list.items.emplace_back("Calls inside MPI, inside this tool and in child processes are not counted.");
  Section section{.title = "Not measured", .together = 0};
  section.blocks.push_back(std::move(list));
  return section;
}

}  // namespace

Section measurement_quality(const Run& run) {
  Section chapter{.title = "Measurement quality", .id = "quality"};
  chapter.sections = {ledger(run), overhead(run), sampling(run), clocks(run), options_of_run(run), not_measured(run)};
  return chapter;
}

Section measured(const Application& a) {
  const Quality& q = a.quality;
  std::uint64_t recorded = 0, dropped = 0, lost = 0, lost_samples = 0;
  for (const Ledger& l : q.ledger) {
    if (l.record_class == "samples") {  // dropped on purpose when the rate is lowered
      lost_samples += l.lost;
      continue;
    }
    recorded += l.recorded;
    dropped += l.dropped;
    lost += l.lost;
  }
  const bool runs = a.ending.moment_seconds > 0;
  const char* const missing = runs ? "pending" : "lost";
  std::string text = fmt::format(
      "Measured{}: {} recorded, {} dropped, {} {}{}{}; the tool cost about {} of the ranks' time ({}, an estimate)",
      runs ? " so far" : "", counted(recorded, "event"), with_separators(dropped), with_separators(lost), missing,
      lost_samples != 0 ? fmt::format(", {} {}", counted(lost_samples, "sample"), missing) : "",
      runs ? "" : fmt::format("; {} of {} complete", with_separators(q.ranks_complete), counted(a.ranks, "rank")),
      human_share(Facts(a).share(q.overhead_seconds)), human_seconds(q.overhead_seconds));
  if (q.blocked_seconds > 0) text += fmt::format(", {} of it blocked", human_seconds(q.blocked_seconds));
  text += ".";
  for (std::size_t i = 0; i < std::min(q.notices.size(), kSummaryNotices); ++i)
    text += " " + first_sentences(q.notices[i], 300);
  Section section;
  section.summary.push_back(note(text));
  return section;
}

}  // namespace ardoise::reports
