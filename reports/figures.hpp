// The figures of the report, each one PDF file. Used by the LaTeX chapters. A figure whose data are not there is not
// drawn: the function then returns an empty Figure.
#pragma once

#include <string>
#include <vector>

#include "reports/graph_layout.hpp"
#include "reports/model.hpp"

namespace ardoise::reports {

struct Figure {
  std::string file;     // name in the figures folder, "" when there was nothing to draw
  std::string caption;  // plain text
  double width = 0;     // of the page, 0 … 1
};

// Collects what goes wrong while figures are drawn; the first error ends the report.
struct FigureFolder {
  std::string path;    // existing folder
  std::string prefix;  // "app0_": file names of one application
  double graph_timeout_seconds = 20;
  std::string graphviz = "neato";
  std::string error;
  std::vector<std::string> notices;
  [[nodiscard]] std::string file(const std::string& name) const { return path + "/" + prefix + name; }
};

// Which weight of an edge or of a cell.
enum class Weight { calls, bytes, seconds };

[[nodiscard]] Figure draw_rank_times(const Application& app, FigureFolder& folder);
[[nodiscard]] Figure draw_message_sizes(const Application& app, FigureFolder& folder);
// The communication matrix; above kMaxMatrixCells ranks cells are blocks of ranks. `small`: for two side by side.
[[nodiscard]] Figure draw_matrix(const Application& app, Weight weight, bool small, FigureFolder& folder);
// One picture for each weight, on one layout; also writes the .dot file. Above kMaxGraphNodes ranks nodes are blocks,
// and of more than kMaxGraphEdges edges only the heaviest are drawn.
[[nodiscard]] std::vector<Figure> draw_graphs(const Application& app, FigureFolder& folder);
// Pages of maps, some functions on each: calls, time, bytes.
[[nodiscard]] std::vector<Figure> draw_density(const Application& app, FigureFolder& folder);
[[nodiscard]] Figure draw_temporal(const Application& app, FigureFolder& folder);

// Of the sampled profile (Application::samples).
[[nodiscard]] Figure draw_flame(const Application& app, FigureFolder& folder);
// The functions that matter most, over time.
[[nodiscard]] Figure draw_functions_over_time(const Application& app, FigureFolder& folder);
// Rate of sampling of the threads and free memory, over time, with the cause of each change.
[[nodiscard]] Figure draw_sampling_rate(const Application& app, FigureFolder& folder);

inline constexpr std::uint32_t kMaxMatrixCells = 1024, kMaxGraphNodes = 128, kGraphBlocks = 32, kMaxGraphEdges = 400;

}  // namespace ardoise::reports
