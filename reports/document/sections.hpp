// From the model to the document: one function for each section. A new section is one file with such a function,
// declared here and listed in sections.cpp.
#pragma once

#include "reports/document/document.hpp"
#include "reports/figures/figures.hpp"
#include "reports/model.hpp"

namespace ardoise::reports {

// brief: the cover and, for each program, the overview and the tables of time.
enum class ReportLength { brief, full };

// The whole report: cover, a chapter for each program, a chapter on the quality of the measurement.
[[nodiscard]] Document document_of(const Run& run, ReportLength length = ReportLength::full);

// Findings of a program in the summary; of all programs on the report's first page, and in the summary of several.
inline constexpr std::size_t kSummaryFindings = 3;
struct RunFindings {
  explicit RunFindings(const Run& run);
  std::vector<std::vector<Finding>> of_program;  // all, in the order of the programs
  struct OnCover {
    std::size_t program;
    Finding finding;
  };
  std::vector<OnCover> on_cover;  // the most important first
};

[[nodiscard]] Section cover(const Run& run, const RunFindings& findings);
// Moves the figure that shows the most important finding from its chapter to the cover.
void move_best_figure(const Run& run, const RunFindings& findings, Document& document);
[[nodiscard]] Section measurement_quality(const Run& run);
// Messages between programs that share a world.
[[nodiscard]] Section between_programs(const Run& run);
// "ranks 4 to 11 of the 12 in an MPI_COMM_WORLD shared with ocean"; "" for a program with a world of its own.
[[nodiscard]] std::string place_in_world(const Run& run, const Application& app);

// Sections of a program's chapter. A section without content has no blocks.
[[nodiscard]] Section overview(const Run& run, const Application& app, const RunFindings& findings);
// For a program that ended without MPI_Finalize, or still runs.
[[nodiscard]] Section ending(const Application& app);
[[nodiscard]] Section hot_functions(const Application& app);
[[nodiscard]] Section hot_lines(const Application& app);
[[nodiscard]] Section callers_and_callees(const Application& app);
[[nodiscard]] Section functions_over_time(const Application& app);
[[nodiscard]] Section rank_groups(const Application& app);
[[nodiscard]] Section threads(const Application& app);
[[nodiscard]] Section counters(const Application& app);
[[nodiscard]] Section mpi_profile(const Application& app);
[[nodiscard]] Section call_sites(const Application& app);
// Non-blocking operations.
[[nodiscard]] Section overlap(const Application& app);
// The profile over time: iterations of the main loop, marks of the program, intervals.
[[nodiscard]] Section profile_over_time(const Application& app);
[[nodiscard]] Section waiting(const Application& app);
[[nodiscard]] Section communication(const Application& app);
[[nodiscard]] Section heaviest_connections(const Application& app);
[[nodiscard]] Section communicators(const Application& app);
[[nodiscard]] Section density_maps(const Application& app);
[[nodiscard]] Section over_time(const Application& app);
[[nodiscard]] Section file_io(const Application& app);
// Memory of ranks over time.
[[nodiscard]] Section memory(const Application& app);
// Peak memory of the ranks and memory of the host; "": unknown.
[[nodiscard]] std::string memory_in_words(const Application& app);
[[nodiscard]] Section extensions(const Application& app);
// Only in the summary: the report has measurement_quality() for all programs.
[[nodiscard]] Section measured(const Application& app);

// A sampled value in the unit of the profile, and as a share of the profile's total.
[[nodiscard]] Number amount(const SampleProfile& samples, double value);
[[nodiscard]] Number share_of(const SampleProfile& samples, double value);

}  // namespace ardoise::reports
