// A figure as part of a document. Its content is chosen when it is made from the model; it is drawn when an emitter
// needs its file. Refers to the model, which must outlive it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ardoise::reports {

class Canvas;

// The folder for drawn figures, with the first error, which ends the report.
struct FigureFolder {
  std::string path;    // existing folder
  std::string prefix;  // of file names: "app0_"
  double graph_timeout_seconds = 20;
  std::string graphviz = "neato";
  std::string error;
  std::vector<std::string> notices;
  [[nodiscard]] std::string name(const std::string& of) const { return prefix + of; }
  [[nodiscard]] std::string file(const std::string& of) const { return path + "/" + name(of); }
};

struct Figure {
  std::string id{};                                    // unique in its chapter: part of its file's name
  std::string caption{};                               // plain text
  double page_share = 1;                               // of the width of the page
  double width = 0, height = 0;                        // of the canvas, in points
  std::function<void(Canvas&, FigureFolder&)> draw{};  // null: an empty figure
  explicit operator bool() const { return draw != nullptr; }
};

// Draws the figure as a PDF in the folder; returns the file name.
[[nodiscard]] std::string draw_pdf(const Figure& figure, FigureFolder& folder);

}  // namespace ardoise::reports
