// Files and programs around the renderers; see render.hpp.
#include "reports/render.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "reports/atomic_file.hpp"
#include "reports/child_process.hpp"
#include "reports/document/sections.hpp"
#include "reports/folder_writer.hpp"
#include "reports/latex/latex_document.hpp"
#include "reports/model_json.hpp"
#include "reports/private_folder.hpp"
#include "reports/text/text_document.hpp"

namespace ardoise::reports {

namespace {

constexpr const char* kInstallLatex =
    "sudo apt-get install --no-install-recommends texlive-xetex texlive-latex-recommended texlive-fonts-recommended "
    "lmodern fonts-dejavu-core";

// With less free space, a failure of LaTeX is attributed to the full disk.
constexpr std::uintmax_t kLeastSpace = std::uintmax_t{1} << 20;

// One run. `pdf` false: the first one, which only determines page numbers. Names in the document are escaped; besides,
// LaTeX may read and write only in the folder and run no programs.
ChildResult run_latex(const RenderOptions& options, const std::string& folder, bool pdf) {
  std::vector<std::string> command{options.latex, "-interaction=batchmode", "-halt-on-error", "-no-shell-escape"};
  if (!pdf && std::filesystem::path(options.latex).filename() == "xelatex") command.emplace_back("-no-pdf");
  command.emplace_back("report.tex");
  return run_child(command, {folder, options.latex_timeout_seconds, {"openin_any=p", "openout_any=p"}});
}

// The first error in LaTeX's log, `: "..."`; "": none found.
std::string first_latex_error(const std::string& folder) {
  std::ifstream log(folder + "/report.log");
  for (std::string line; std::getline(log, line);) {
    if (!line.starts_with("! ")) continue;
    // The log breaks lines at 79 characters.
    if (std::string rest; line.size() == 79 && std::getline(log, rest)) line += rest;
    return fmt::format(": \"{}\"", line.substr(2));
  }
  return "";
}

// The document and its figures, in `made`.
void make_sources(const Run& run, const RenderOptions& options, const PrivateFolder& made, RenderResult& result) {
  const std::string figures_path = made.path() + "/figures", tex = made.path() + "/report.tex";
  if (::mkdir(figures_path.c_str(), 0777) != 0) {
    result.error = cannot_make(figures_path, std::strerror(errno));
    return;
  }
  FigureFolder figures{figures_path, "", options.graph_timeout_seconds, options.graphviz, {}, {}};
  const std::string latex = latex_document(document_of(run, options.length), figures);
  result.notices = figures.notices;
  result.error = figures.error;
  std::ofstream file(tex, std::ios::binary);
  if (!(file << latex << std::flush) && result.ok()) result.error = cannot_make(tex, std::strerror(errno));
}

// Reports why there is no report.pdf.
void explain(const ChildResult& run, const RenderOptions& options, const PrivateFolder& made, RenderResult& result) {
  if (run.end == ChildResult::End::not_found) {
    result.notices.push_back(
        fmt::format("No report.pdf: {} is not installed. Install it ({}), and run: ardoise report {}/profile.json",
                    options.latex, kInstallLatex, options.output));
    return;
  }
  if (run.end == ChildResult::End::interrupted) {
    result.error =
        fmt::format("The report was interrupted; to make it, run: ardoise report {}/profile.json", options.output);
    return;
  }
  if (std::error_code unknown; std::filesystem::space(made.path(), unknown).available < kLeastSpace && !unknown) {
    result.error = fmt::format("No new report.pdf. {}", cannot_make(made.path(), "the disk is full"));
    return;
  }
  const std::string why = run.end == ChildResult::End::timed_out
                              ? fmt::format("took more than {:.0f} s", options.latex_timeout_seconds)
                          : run.end == ChildResult::End::failed_to_start
                              ? "could not be started"
                              : fmt::format("failed with status {}{}", run.status, first_latex_error(made.path()));
  result.error =
      fmt::format("No new report.pdf: {0} {1}; see {2}/latex/report.log, and check that these are installed: {3}",
                  options.latex, why, options.output, kInstallLatex);
}

// Copies latex/ and report.pdf to the output folder.
void place(const std::string& made, bool has_pdf, const RenderOptions& options, RenderResult& result) {
  std::error_code ignored;
  FolderWriter output(options.output), latex = output.folder("latex"), figures = latex.folder("figures");
  Outcome placed = latex.copy(made + "/report.tex", "report.tex");
  if (placed && std::filesystem::exists(made + "/report.log", ignored))
    placed = latex.copy(made + "/report.log", "report.log");
  if (placed) placed = figures.copy_all(made + "/figures");
  if (placed && has_pdf) placed = output.copy(made + "/report.pdf", "report.pdf");
  if (!placed && result.ok()) result.error = placed.error;
  if (placed && has_pdf) result.pdf = (std::filesystem::path(options.output) / "report.pdf").string();
}

std::string folder_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

}  // namespace

Outcome write_results(const Run& run, const std::string& output, std::string& summary) {
  summary = summary_text(document_of(run));
  if (Outcome made = make_own_folder(output); !made) return made;
  // A failure of one file must not prevent the other.
  const Outcome json = write_profile_json(run, output + "/profile.json"),
                text = write_file(output + "/summary.txt", summary);
  return json ? text : json;
}

RenderResult render_report(const Run& run, const RenderOptions& options) {
  if (const Outcome folder = make_own_folder(options.output); !folder) return {.error = folder.error};
  const PrivateFolder made;
  RenderResult result{.error = made.error()};
  if (result.ok()) make_sources(run, options, made, result);
  if (!result.ok()) return result;
  ChildResult latex = run_latex(options, made.path(), false);
  if (latex.ok()) latex = run_latex(options, made.path(), true);
  std::error_code ignored;
  const bool has_pdf = latex.ok() && std::filesystem::exists(made.path() + "/report.pdf", ignored);
  if (!has_pdf) explain(latex, options, made, result);
  place(made.path(), has_pdf, options, result);
  return result;
}

RenderResult report_again(const std::string& profile_json, RenderOptions options, std::string& summary) {
  const Result<Run> run = read_profile_json(profile_json);
  if (!run) return {.error = run.error};
  if (options.output.empty()) options.output = folder_of(profile_json);
  summary = summary_text(document_of(*run.value));
  Outcome written = make_own_folder(options.output);
  if (written) written = write_file(options.output + "/summary.txt", summary);
  if (!written || !options.render) return {.error = written.error};
  return render_report(*run.value, options);
}

}  // namespace ardoise::reports
