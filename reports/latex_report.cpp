// The document, its cover, and the building blocks of all parts; see latex_report.hpp.
#include "reports/latex_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/efficiency.hpp"
#include "reports/findings.hpp"
#include "reports/latex_text.hpp"
#include "reports/units.hpp"
#include "reports/utf8.hpp"

namespace ardoise::reports {

std::string latex_chapter(const std::string& title) {
  const std::string text = latex(shortened(printable(title), 48));
  return fmt::format("\\chapter{{\\texorpdfstring{{{}}}{{{}}}}}\\markboth{{{}}}{{{}}}\n", text, latex_bookmark(title),
                     text, text);
}

std::string latex_findings(const Application& app, std::size_t most, bool advice) {
  std::string out;
  const std::vector<Finding> all = findings_of(app);
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
    out += fmt::format("\\finding{{{}}}{{{}}}{{{}}}\n", to_string(all[i].severity), latex(all[i].text),
                       advice ? latex(all[i].advice) : "");
  }
  if (all.size() > most) out += fmt::format("\\finding{{note}}{{{} more in the chapter.}}{{}}\n", all.size() - most);
  return out;
}

std::string latex_table(const std::string& spec, const std::vector<std::string>& heads,
                        const std::vector<std::vector<std::string>>& rows) {
  std::string out = "{\\small\\begin{longtable}{@{\\extracolsep{\\fill}}" + spec + "@{}}\n\\toprule ";
  for (std::size_t i = 0; i < heads.size(); ++i) out += (i == 0 ? "\\head{" : "&\\head{") + heads[i] + "}";
  out += "\\\\ \\midrule\\endhead\\bottomrule\\endfoot\n";
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) out += (i == 0 ? "" : "&") + row[i];
    out += "\\\\\n";
  }
  return out + "\\end{longtable}}\n";
}

std::string latex_figure(const Figure& f) {
  return f.file.empty() ? ""
                        : fmt::format(
                              "\\begin{{figurehere}}\\includegraphics[width={:.2f}\\linewidth]{{figures/"
                              "{}}}\\captionof{{figure}}{{{}}}\\end{{figurehere}}\n",
                              f.width, f.file, latex(f.caption));
}

std::string latex_cover(const Run& run) {
  std::string out =
      "\\thispagestyle{empty}\\noindent\\colorbox{slate}{\\begin{minipage}{\\dimexpr\\linewidth-2\\fboxsep}\\vspace{"
      "7mm}\\hspace*{4mm}"
      "{\\sffamily\\bfseries\\Huge\\color{white}Ardoise}\\hfill{\\sffamily\\color{white}performance "
      "report}\\hspace*{4mm}\\vspace{6mm}\\end{minipage}}\n"
      "\\par\\vspace{3mm}\n{\\small\\begin{tabular}{@{}L{24mm}L{\\dimexpr\\linewidth-24mm-4\\tabcolsep}@{}}\n";
  if (!run.command.empty()) out += fmt::format("\\fact{{Launched}}{{{}}}\n", latex_code(run.command, 300));
  if (!run.started.empty()) out += fmt::format("\\fact{{Started}}{{{}}}\n", latex(run.started));
  out += fmt::format("\\fact{{Analysis}}{{{} of {}; finished {} after the last program; ardoise {}}}\n",
                     counted(run.analyzer_ranks, "analyzer"), counted(std::max(1U, run.analyzer_workers), "worker"),
                     latex(human_seconds(run.analysis_seconds)), latex(run.tool_version));
  for (std::size_t i = 0; i < std::min<std::size_t>(run.notices.size(), 3); ++i)
    out += fmt::format("\\fact{{Note}}{{{}}}\n", latex(run.notices[i]));
  out += "\\end{tabular}}\\par\\vspace{2mm}\n";
  std::vector<std::vector<std::string>> rows;
  for (const Application& a : run.applications) {
    const Facts facts(a);
    const bool parallel = facts.efficiency.known && a.ranks > 1;
    rows.push_back({latex_code(a.name, 60), with_separators(a.ranks), latex(human_seconds(a.wall_seconds)),
                    latex(human_share(facts.share(facts.mpi_seconds))),
                    latex(human_share(facts.share(facts.io_seconds))),
                    parallel ? fmt::format("{:.2f}", facts.efficiency.load_balance) : latex("–"),
                    parallel ? fmt::format("{:.2f}", facts.efficiency.communication) : latex("–"),
                    parallel ? fmt::format("{:.2f}", facts.efficiency.parallel) : latex("–")});
  }
  out += rows.empty()
             ? "No program delivered any data.\n"
             : latex_table("L{42mm}rrrrrrr",
                           {"Program", "Ranks", "Wall time", "MPI", "File I/O", "Load bal.", "Comm. eff.", "Par. eff."},
                           rows);
  const std::size_t most = run.applications.size() <= 2 ? 5 : run.applications.size() <= 4 ? 4 : 2;
  for (const Application& a : run.applications) {
    out += fmt::format(
        "\\par\\vspace{{3mm}}\\pagebreak[1]{{\\sffamily\\bfseries\\large\\color{{slate}}{}}}\\par\\nopagebreak\\vspace{"
        "{1mm}}\n",
        latex(shortened(printable(a.name.empty() ? "program" : a.name), 60)));
    out += latex_findings(a, most, false);
  }
  out +=
      "\\par\\vspace{4mm}\\need{6}{\\sffamily\\bfseries\\large\\color{slate}Contents}\\par\\makeatletter\\@starttoc{"
      "toc}"
      "\\makeatother\n";
  return out;
}

std::string latex_report(const Run& run, const std::vector<ApplicationFigures>& figures) {
  std::string out = latex_preamble();
  out += latex_cover(run);
  for (std::size_t i = 0; i < run.applications.size(); ++i) out += latex_application(run.applications[i], figures[i]);
  return out + latex_quality(run, figures) + "\\end{document}\n";
}

}  // namespace ardoise::reports
