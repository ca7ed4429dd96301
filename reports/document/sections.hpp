// From the model to the document: one function for each section. A new section is one file with such a function,
// declared here and listed in sections.cpp.
#pragma once

#include "reports/document/document.hpp"
#include "reports/figures/figures.hpp"
#include "reports/model.hpp"

namespace ardoise::reports {

// brief: the cover, and of each program the overview and the tables of what takes time.
enum class ReportLength { brief, full };

// The whole: cover, a chapter for each program, a chapter on the quality of the measurement.
[[nodiscard]] Document document_of(const Run& run, ReportLength length = ReportLength::full);

[[nodiscard]] Section cover(const Run& run);
// Those that the cover shows, the most important first.
[[nodiscard]] std::vector<std::pair<const Application*, Finding>> findings_on_cover(const Run& run);
// The figure that shows the most important finding best goes from its chapter to the cover.
void move_best_figure(const Run& run, Document& document);
[[nodiscard]] Section measurement_quality(const Run& run);
// Messages between programs that share a world.
[[nodiscard]] Section between_programs(const Run& run);
// "ranks 4 to 11 of the 12 of one MPI_COMM_WORLD, with ocean"; "" for a program that has a world of its own.
[[nodiscard]] std::string place_in_world(const Run& run, const Application& app);

// Sections of a program's chapter. One that has nothing to say has no blocks.
[[nodiscard]] Section overview(const Run& run, const Application& app);
// Of a program that did not come to MPI_Finalize.
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
// Of non-blocking operations.
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
// Of ranks, over time.
[[nodiscard]] Section memory(const Application& app);
// Peaks of ranks and what the host has; "" not known.
[[nodiscard]] std::string memory_in_words(const Application& app);
[[nodiscard]] Section extensions(const Application& app);
// Only in the summary: the report has measurement_quality() for all programs.
[[nodiscard]] Section measured(const Application& app);

// In the unit of the sampled profile, and as a share of all that was sampled.
[[nodiscard]] Number amount(const SampleProfile& samples, double value);
[[nodiscard]] Number share_of(const SampleProfile& samples, double value);

}  // namespace ardoise::reports
