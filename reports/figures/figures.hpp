// The figures of the report, made from the model. Used by the sections of the document. A figure whose data are not
// there is an empty Figure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/figures/figure.hpp"
#include "reports/model.hpp"

namespace ardoise::reports {

// Which weight of an edge or of a cell.
enum class Weight { calls, bytes, seconds };

// How one is shown.
struct WeightStyle {
  const char *file_name, *title, *what;
  std::string (*format)(double);
  double (*of)(const Edge&);
};
[[nodiscard]] const WeightStyle& style_of(Weight weight);

// How a rank of the program is called: by its rank in the world.
[[nodiscard]] inline std::string world_label(const Application& app, double rank) {
  return std::to_string(app.world_rank(static_cast<std::uint32_t>(rank)));
}

[[nodiscard]] Figure rank_times_figure(const Application& app);
[[nodiscard]] Figure message_sizes_figure(const Application& app);
// The communication matrix; above kMaxMatrixCells ranks cells are blocks of ranks. `small`: for two side by side.
[[nodiscard]] Figure matrix_figure(const Application& app, Weight weight, bool small);
// By bytes, messages and time, on one layout; drawing them also writes the .dot file. Above kMaxGraphNodes ranks nodes
// are blocks, and of more than kMaxGraphEdges edges only the heaviest are drawn.
[[nodiscard]] std::vector<Figure> graph_figures(const Application& app, bool small);
// Some functions on each: calls, time, bytes. Functions that are alike on all ranks are left out.
[[nodiscard]] std::vector<Figure> density_figures(const Application& app);
[[nodiscard]] Figure memory_figure(const Application& app);
[[nodiscard]] Figure temporal_figure(const Application& app);
// Of Application::snapshots: what the time of each round of a series was spent on.
[[nodiscard]] Figure series_figure(const Application& app, std::size_t series);
// Time, bytes and number of its costliest calls; nothing where they do not change.
[[nodiscard]] Figure series_lines_figure(const Application& app, std::size_t series);
// Which ranks take longer in which of them; nothing where they are much alike.
[[nodiscard]] Figure series_map_figure(const Application& app, std::size_t series);
// Likewise: which ranks wait in which rounds; where little is waited, none.
[[nodiscard]] Figure series_waiting_map_figure(const Application& app, std::size_t series);
// Ranks in two metrics at some parts of the series, with their clusters; nothing where these are one that stays.
[[nodiscard]] Figure rank_moves_figure(const Application& app, std::size_t series);
// Useful time, waiting and the rest of MPI, over time.
[[nodiscard]] Figure waiting_over_time_figure(const Application& app);

// Of the sampled profile (Application::samples).
[[nodiscard]] Figure flame_figure(const Application& app);
// The functions that matter most, over time.
[[nodiscard]] Figure functions_over_time_figure(const Application& app);
// Nothing where no rate changed. Rate of sampling of the threads and free memory, over time, with the cause of each
// change.
[[nodiscard]] Figure sampling_rate_figure(const Application& app);

inline constexpr std::uint32_t kMaxMatrixCells = 1024, kMaxGraphNodes = 128, kGraphBlocks = 32, kMaxGraphEdges = 400;

}  // namespace ardoise::reports
