// Writes all files of the output folder from the model. The analyzer calls write_results() when the last program has
// ended and render_report() after MPI_Finalize; `ardoise report profile.json` calls report_again().
//
//   <output>/profile.json     the model                             write_results, at once
//            summary.txt      the printed summary                   write_results, at once
//            report.pdf       the report                            render_report, some seconds
//            latex/           report.tex, report.log, figures/ (PDF, and the .dot graphs)
//
// LaTeX and Graphviz run in a private folder (private_folder.hpp), because the output folder may belong to another
// user. Only the profile is read from the output folder.
#pragma once

#include <string>
#include <vector>

#include "reports/document/sections.hpp"
#include "reports/model.hpp"
#include "reports/result.hpp"

namespace ardoise::reports {

struct RenderOptions {
  std::string output;  // folder; created if missing
  bool render = true;  // false: report_again() makes no PDF
  ReportLength length = ReportLength::full;
  double graph_timeout_seconds = 20;   // for one Graphviz layout; after that nodes are drawn on a circle, with a notice
  double latex_timeout_seconds = 120;  // for one run of LaTeX
  std::string latex = "xelatex";       // program looked up in PATH
  std::string graphviz = "neato";      // likewise
};

struct RenderResult {
  std::string error{};                 // "": success
  std::string pdf{};                   // path of report.pdf; "": this call did not make it
  std::vector<std::string> notices{};  // sentences for the user: programs to install, omitted parts
  [[nodiscard]] bool ok() const { return error.empty(); }
};

// Writes profile.json and summary.txt, each whole or not at all. `summary` receives the text for standard output, also
// if writing fails.
[[nodiscard]] Outcome write_results(const Run& run, const std::string& output, std::string& summary);

// Makes latex/ and report.pdf. Without LaTeX: latex/ and a notice on what to install, no error. If LaTeX fails: an
// error that names its log; an older report.pdf stays.
[[nodiscard]] RenderResult render_report(const Run& run, const RenderOptions& options);

// `ardoise report profile.json [--output DIR]`: reads the profile, writes summary.txt, renders. An empty options.output
// is the profile's folder.
[[nodiscard]] RenderResult report_again(const std::string& profile_json, RenderOptions options, std::string& summary);

}  // namespace ardoise::reports
