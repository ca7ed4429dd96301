// Files and programs around the renderers; see render.hpp.
#include "reports/render.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "reports/atomic_file.hpp"
#include "reports/child_process.hpp"
#include "reports/document/sections.hpp"
#include "reports/latex/latex_document.hpp"
#include "reports/model_json.hpp"
#include "reports/text/text_document.hpp"

namespace ardoise::reports {

namespace {

constexpr const char* kInstallLatex =
    "sudo apt-get install --no-install-recommends texlive-xetex texlive-latex-recommended texlive-fonts-recommended "
    "lmodern fonts-dejavu-core";

// Below it, LaTeX can be believed to have failed for want of space.
constexpr std::uintmax_t kLeastSpace = std::uintmax_t{1} << 20;

// One run; `pdf` false is the first, which only finds out page numbers.
ChildResult run_latex(const RenderOptions& options, const std::string& folder, bool pdf) {
  std::vector<std::string> command{options.latex, "-interaction=batchmode", "-halt-on-error", "-no-shell-escape"};
  if (!pdf && std::filesystem::path(options.latex).filename() == "xelatex") command.emplace_back("-no-pdf");
  command.emplace_back("report.tex");
  return run_child(command, {folder, options.latex_timeout_seconds});
}

// What LaTeX complained about first, `: "..."`; empty when its log does not say.
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

void make_pdf(const RenderOptions& options, const std::string& folder, RenderResult& result) {
  const std::filesystem::path made = folder + "/report.pdf", wanted = options.output + "/report.pdf";
  std::error_code ignored;
  std::filesystem::remove(made, ignored);
  ChildResult run = run_latex(options, folder, false);
  if (run.ok()) run = run_latex(options, folder, true);
  if (run.end == ChildResult::End::not_found) {
    result.notices.push_back(fmt::format(
        "No report.pdf: {} is not installed. Install it with\n  {}\nand run: ardoise report {}/profile.json",
        options.latex, kInstallLatex, options.output));
    return;
  }
  if (run.ok() && std::filesystem::exists(made, ignored)) {
    std::error_code error;
    std::filesystem::rename(made, wanted, error);
    if (error) {
      result.error =
          fmt::format("Cannot write {}: {}; choose another folder with --output.", wanted.string(), error.message());
    } else {
      result.pdf = wanted.string();
    }
    return;
  }
  if (run.end == ChildResult::End::interrupted) {
    result.error =
        fmt::format("The report was interrupted; to make it, run: ardoise report {}/profile.json", options.output);
    return;
  }
  if (std::error_code unknown; std::filesystem::space(folder, unknown).available < kLeastSpace && !unknown) {
    result.error = fmt::format(
        "No new report.pdf: the disk of {0} is full; free some space there and run: ardoise "
        "report {0}/profile.json",
        options.output);
    return;
  }
  const std::string why = run.end == ChildResult::End::timed_out
                              ? fmt::format("took more than {:.0f} s", options.latex_timeout_seconds)
                          : run.end == ChildResult::End::failed_to_start
                              ? "could not be started"
                              : fmt::format("failed with status {}{}", run.status, first_latex_error(folder));
  result.error = fmt::format("No new report.pdf: {0} {1}; see {2}/report.log, and check that these are installed: {3}",
                             options.latex, why, folder, kInstallLatex);
}

std::string folder_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

}  // namespace

Outcome write_results(const Run& run, const std::string& output, std::string& summary) {
  summary = summary_text(document_of(run));
  if (Outcome made = make_folder(output); !made) return made;
  // One that can't be written must not keep the other from being there.
  const Outcome json = write_profile_json(run, output + "/profile.json"),
                text = write_file(output + "/summary.txt", summary);
  return json ? text : json;
}

RenderResult render_report(const Run& run, const RenderOptions& options) {
  const std::string folder = options.output + "/latex";
  if (const Outcome made = make_folder(folder + "/figures"); !made) return {.error = made.error};
  FigureFolder figures{folder + "/figures", "", options.graph_timeout_seconds, options.graphviz, {}, {}};
  const std::string latex = latex_document(document_of(run, options.length), figures);
  RenderResult result{.error = figures.error, .notices = figures.notices};
  if (!result.ok()) return result;
  if (const Outcome written = write_file(folder + "/report.tex", latex); !written) {
    result.error = written.error;
    return result;
  }
  make_pdf(options, folder, result);
  return result;
}

RenderResult report_again(const std::string& profile_json, RenderOptions options, std::string& summary) {
  const Result<Run> run = read_profile_json(profile_json);
  if (!run) return {.error = run.error};
  if (options.output.empty()) options.output = folder_of(profile_json);
  summary = summary_text(document_of(*run.value));
  Outcome written = make_folder(options.output);
  if (written) written = write_file(options.output + "/summary.txt", summary);
  if (!written) return {.error = written.error};
  return render_report(*run.value, options);
}

}  // namespace ardoise::reports
