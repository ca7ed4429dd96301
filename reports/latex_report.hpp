// report.tex: cover, one chapter an application, one on measurement quality. Each part is a function of the model (and
// of the figures that were drawn) that returns LaTeX; render.cpp puts files and LaTeX itself around it.
#pragma once

#include <string>
#include <vector>

#include "reports/figures.hpp"
#include "reports/model.hpp"

namespace ardoise::reports {

// All figures of one application.
struct ApplicationFigures {
  Figure ranks, sizes, temporal, matrix_bytes, matrix_messages, matrix_seconds;
  Figure flame, functions_over_time, sampling_rate;
  std::vector<Figure> graphs, density;
};
[[nodiscard]] ApplicationFigures draw_figures(const Application& app, FigureFolder& folder);

// `figures[i]` belongs to run.applications[i].
[[nodiscard]] std::string latex_report(const Run& run, const std::vector<ApplicationFigures>& figures);

[[nodiscard]] const char* latex_preamble();
[[nodiscard]] std::string latex_cover(const Run& run);
[[nodiscard]] std::string latex_application(const Application& app, const ApplicationFigures& figures);
// The sections of a chapter that stem from samples; empty when nothing was sampled.
[[nodiscard]] std::string latex_samples(const Application& app, const ApplicationFigures& figures);
[[nodiscard]] std::string latex_quality(const Run& run, const std::vector<ApplicationFigures>& figures);

// Building blocks that the parts share.
[[nodiscard]] std::string latex_chapter(const std::string& title);
[[nodiscard]] std::string latex_findings(const Application& app, std::size_t most, bool advice);
[[nodiscard]] std::string latex_figure(const Figure& figure);  // "" when it was not drawn
// A table over pages: `spec` of columns, heads and cells already LaTeX.
[[nodiscard]] std::string latex_table(const std::string& spec, const std::vector<std::string>& heads,
                                      const std::vector<std::vector<std::string>>& rows);

}  // namespace ardoise::reports
