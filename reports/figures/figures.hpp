// The figures of the report, made from the model; used by the sections of the document. A figure without data is empty.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/figures/figure.hpp"
#include "reports/model.hpp"

namespace ardoise::reports {

// The weight of an edge or a cell.
enum class Weight { calls, bytes, seconds };

// The presentation of a weight.
struct WeightStyle {
  const char *file_name, *title, *what;
  std::string (*format)(double);
  double (*of)(const Edge&);
};
[[nodiscard]] const WeightStyle& style_of(Weight weight);

// The label of a rank: its world rank.
[[nodiscard]] inline std::string world_label(const Application& app, double rank) {
  return std::to_string(app.world_rank(static_cast<std::uint32_t>(rank)));
}

[[nodiscard]] Figure rank_times_figure(const Application& app);
[[nodiscard]] Figure message_sizes_figure(const Application& app);
// The communication matrix. Above kMaxMatrixCells ranks, cells are blocks of ranks. `small`: for two side by side.
[[nodiscard]] Figure matrix_figure(const Application& app, Weight weight, bool small);
// The communication graph by bytes, messages and time, with one layout. Drawing also writes the .dot file. Above
// kMaxGraphNodes ranks, nodes are blocks of ranks; at most the kMaxGraphEdges heaviest edges are drawn.
[[nodiscard]] std::vector<Figure> graph_figures(const Application& app, bool small);
// Maps of calls, time and bytes, several functions on each figure. Functions that are equal on all ranks are omitted.
[[nodiscard]] std::vector<Figure> density_figures(const Application& app);
[[nodiscard]] Figure memory_figure(const Application& app);
[[nodiscard]] Figure temporal_figure(const Application& app);
// The time of each round of a series by activity (Application::snapshots).
[[nodiscard]] Figure series_figure(const Application& app, std::size_t series);
// Time, bytes and number of the most expensive calls by round; empty if they do not change.
[[nodiscard]] Figure series_lines_figure(const Application& app, std::size_t series);
// Time outside MPI and I/O by rank and round; empty if ranks and rounds differ little.
[[nodiscard]] Figure series_map_figure(const Application& app, std::size_t series);
// Waiting by rank and round; empty if there is little.
[[nodiscard]] Figure series_waiting_map_figure(const Application& app, std::size_t series);
// Ranks in two metrics in some parts of the series, with their clusters; empty for one cluster that does not move.
[[nodiscard]] Figure rank_moves_figure(const Application& app, std::size_t series);
// Useful time, waiting and the rest of MPI, over time.
[[nodiscard]] Figure waiting_over_time_figure(const Application& app);

// Figures of the sampled profile (Application::samples).
[[nodiscard]] Figure flame_figure(const Application& app);
// The functions with most time, over time.
[[nodiscard]] Figure functions_over_time_figure(const Application& app);
// Sampling rate of the threads and free memory over time, with the cause of each change; empty if no rate changed.
[[nodiscard]] Figure sampling_rate_figure(const Application& app);

inline constexpr std::uint32_t kMaxMatrixCells = 1024, kMaxGraphNodes = 128, kGraphBlocks = 32, kMaxGraphEdges = 400;

}  // namespace ardoise::reports
