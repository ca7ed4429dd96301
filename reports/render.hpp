// Everything a user gets in the output folder, made from the model alone. The analyzer calls write_results() when the
// last program ended and render_report() after MPI_Finalize; `ardoise report profile.json` calls report_again().
//
//   <output>/profile.json     the model                             write_results, at once
//            summary.txt      what was printed                      write_results, at once
//            report.pdf       the report                            render_report, some seconds
//            latex/           report.tex, report.log, figures/ (PDF, and the .dot graphs)
//
// LaTeX and Graphviz run in a private folder (private_folder.hpp), for the output folder may be another user's. Nothing
// that lies there is read but the profile.
#pragma once

#include <string>
#include <vector>

#include "reports/document/sections.hpp"
#include "reports/model.hpp"
#include "reports/result.hpp"

namespace ardoise::reports {

struct RenderOptions {
  std::string output;  // folder; made when it is not there
  ReportLength length = ReportLength::full;
  double graph_timeout_seconds = 20;   // for one Graphviz layout; a graph that takes longer is left out and said so
  double latex_timeout_seconds = 120;  // for one run of LaTeX
  std::string latex = "xelatex";       // program looked up in PATH
  std::string graphviz = "neato";      // likewise
};

struct RenderResult {
  std::string error{};                 // empty: everything asked for was made
  std::string pdf{};                   // path of report.pdf, empty when this call did not make it
  std::vector<std::string> notices{};  // sentences for the user: what to install, what was left out
  [[nodiscard]] bool ok() const { return error.empty(); }
};

// profile.json and summary.txt, each whole or not at all. `summary` receives the text for standard output, even when
// nothing could be written.
[[nodiscard]] Outcome write_results(const Run& run, const std::string& output, std::string& summary);

// latex/ and report.pdf. Without LaTeX: latex/ and a notice that says what to install, no error. When LaTeX fails: an
// error that names its log; a report.pdf from before stays as it was.
[[nodiscard]] RenderResult render_report(const Run& run, const RenderOptions& options);

// What `ardoise report profile.json [--output DIR]` does: reads, writes summary.txt, renders. An empty options.output
// means the profile's own folder. The profile itself is only read.
[[nodiscard]] RenderResult report_again(const std::string& profile_json, RenderOptions options, std::string& summary);

}  // namespace ardoise::reports
