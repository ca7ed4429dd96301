// The chapter that says how far the numbers can be trusted.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "reports/findings.hpp"
#include "reports/latex_report.hpp"
#include "reports/latex_text.hpp"
#include "reports/units.hpp"

namespace ardoise::reports {

namespace {

std::string ledger(const Run& run) {
  std::vector<std::vector<std::string>> rows;
  for (const Application& a : run.applications) {
    for (const Ledger& l : a.quality.ledger) {
      rows.push_back({latex_code(a.name, 60), latex_code(l.record_class, 20), with_separators(l.recorded),
                      with_separators(l.received), with_separators(l.dropped),
                      l.lost == 0 ? "0" : "\\textcolor{high}{\\bfseries " + with_separators(l.lost) + "}"});
    }
  }
  if (rows.empty()) return "No program delivered a ledger.\n";
  return "What the programs recorded must be what the analyzer received plus what they declared dropped; lost is the "
         "difference.\n" +
         latex_table("L{50mm}lrrrr", {"Program", "Class", "Recorded", "Received", "Dropped", "Lost"}, rows);
}

std::string overhead(const Run& run) {
  std::vector<std::vector<std::string>> rows;
  for (const Application& a : run.applications) {
    const Quality& q = a.quality;
    const Facts facts(a);
    rows.push_back(
        {latex_code(a.name, 60), latex(human_seconds(q.record_cost_seconds)), latex(human_seconds(q.blocked_seconds)),
         latex(human_seconds(q.overhead_seconds)), latex(human_share(facts.share(q.overhead_seconds))),
         fmt::format("{} / {}", with_separators(q.ranks_complete), with_separators(a.ranks)), with_separators(q.packs),
         latex(human_bytes(static_cast<double>(q.pack_bytes))), with_separators(q.bad_packs)});
  }
  if (rows.empty()) return {};
  return "Overhead is an estimate: recorded calls times the measured cost of one, plus what sampling cost, plus the "
         "time "
         "the ranks were blocked because no buffer was free. "
         "Its share is of the time of all ranks.\n" +
         latex_table("L{36mm}rrrrrrrr",
                     {"Program", "per call", "Blocked", "Overhead", "Share", "Complete", "Packs", "Volume", "Bad"},
                     rows);
}

std::string sampling(const Run& run, const std::vector<ApplicationFigures>& figures) {
  std::vector<std::vector<std::string>> rows;
  std::string pictures;
  for (std::size_t i = 0; i < run.applications.size(); ++i) {
    const Application& a = run.applications[i];
    const SampleProfile& s = a.samples;
    if (s.unit.empty()) continue;
    const auto sum = [](const auto& list) {
      return std::accumulate(list.begin(), list.end(), typename std::decay_t<decltype(list)>::value_type{});
    };
    const double wall = sum(s.threads.wall_seconds), cost = sum(s.threads.cost_seconds);
    rows.push_back({latex_code(a.name, 60), with_separators(s.threads.rank.size()),
                    latex(human_count(static_cast<double>(sum(s.threads.taken)))),
                    latex(human_count(static_cast<double>(sum(s.threads.discarded)))),
                    latex(human_count(static_cast<double>(s.samples))),
                    latex(human_count(static_cast<double>(sum(s.threads.partial)))),
                    latex(human_count(static_cast<double>(sum(s.threads.inside_tool)))),
                    latex(wall > 0 ? human_share(cost / wall) : "–"),
                    latex(wall > 0 && s.clock == "wall" ? fmt::format("{:.1f} %", 100 * s.self / wall) : "–")});
    if (i < figures.size() && !figures[i].sampling_rate.file.empty()) {
      Figure figure = figures[i].sampling_rate;
      figure.caption = in_sentence(a.name) + ": " + figure.caption;
      pictures += latex_figure(figure);
    }
  }
  if (rows.empty()) return {};
  return "\\need{8}\\section{Sampling}\nTaken samples are discarded when the rate has been lowered; those that arrived "
         "stand "
         "for them. Incomplete: the call stack could not be followed to its begin. Lost: inside this tool, or where no "
         "sample can "
         "be taken. Cost is the share of the threads' time that sampling took; weights are what the samples stand for, "
         "of the "
         "threads' wall time.\n" +
         latex_table("L{32mm}rrrrrrrr",
                     {"Program", "Threads", "Taken", "Discarded", "Arrived", "Incomplete", "Lost", "Cost", "Weights"},
                     rows) +
         pictures;
}

bool is_python(const Application& a) {
  return std::any_of(a.samples.functions.begin(), a.samples.functions.end(), [](const SampledFunction& f) {
    const std::string name = base_name(f.module);
    return name.starts_with("python") || name.starts_with("libpython");
  });
}

std::string clocks(const Run& run) {
  std::vector<std::vector<std::string>> rows;
  for (const Application& a : run.applications) {
    rows.push_back({latex_code(a.name, 60), latex(a.quality.clock.empty() ? "not known" : a.quality.clock),
                    latex(human_seconds(a.quality.clock_error_seconds))});
  }
  return rows.empty() ? "" : latex_table("L{50mm}L{70mm}r", {"Program", "Clock", "Error bound"}, rows);
}

std::string not_seen(const Run& run) {
  std::string items;
  const auto item = [&items](const std::string& text) { items += "\\item " + text + "\n"; };
  for (const std::string& notice : run.notices) item(latex(notice));
  for (const Application& a : run.applications) {
    for (const std::string& notice : a.quality.notices) item(latex_code(a.name, 40) + ": " + latex(notice));
    if (a.quality.unresolved_call_sites != 0) {
      item(latex_code(a.name, 40) + ": " + counted(a.quality.unresolved_call_sites, "call site") +
           " could not be resolved to a source line (built without -g, or stripped).");
    }
  }
  if (std::any_of(run.applications.begin(), run.applications.end(), is_python)) {
    item("Of Python programs the functions are those of the interpreter and of compiled modules, not of the script.");
  }
  item("Before MPI\\_Init and after MPI\\_Finalize nothing is timed; wall time and shares leave that out.");
  item("What MPI or this tool calls internally is not counted; neither are calls in child processes.");
  return "\\begin{itemize}\\setlength\\itemsep{0pt}\n" + items + "\\end{itemize}\n";
}

}  // namespace

std::string latex_quality(const Run& run, const std::vector<ApplicationFigures>& figures) {
  return latex_chapter("Measurement quality") + "\\section{Ledger}\n" + ledger(run) + "\\section{Overhead}\n" +
         overhead(run) + sampling(run, figures) + "\\section{Clock}\n" + clocks(run) +
         "\\section{What was not seen}\n" + not_seen(run);
}

}  // namespace ardoise::reports
