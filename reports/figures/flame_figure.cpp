// The flame graph: a box is a function in its calling context, as wide as its time, above its caller. See figures.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "reports/figures/canvas.hpp"
#include "reports/figures/figures.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/text/units.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::reports {

namespace {

constexpr double kFlameWidth = 460, kRow = 11.5, kNarrowest = 0.6;  // points; narrower boxes are merged
constexpr std::size_t kDeepest = 42;                                // rows on a page
constexpr Rgb kMpiColour{0.27, 0.42, 0.62}, kToolColour{0.72, 0.72, 0.74}, kMergedColour{0.88, 0.88, 0.88};
// Light, so that labels are readable. A function has one colour everywhere.
constexpr std::array<Rgb, 6> kCodeColours{{{0.96, 0.80, 0.55},
                                           {0.93, 0.70, 0.49},
                                           {0.97, 0.86, 0.66},
                                           {0.90, 0.76, 0.60},
                                           {0.95, 0.73, 0.60},
                                           {0.92, 0.83, 0.58}}};

Rgb colour_of(const SampledFunction& f) {
  if (f.kind == "mpi" || f.kind == "posix") return kMpiColour;
  if (f.kind == "tool" || f.symbol.empty() || f.symbol[0] == '(') return kToolColour;
  return kCodeColours[std::hash<std::string>{}(f.symbol) % kCodeColours.size()];
}

struct Box {
  double x, width;
  std::size_t row;
  std::uint32_t node;  // kNoParent: merged nodes
};

struct FlameLayout {
  std::vector<Box> boxes;
  std::size_t rows = 0, merged = 0, cut = 0;
  double merged_value = 0, cut_value = 0;
};

// Children side by side above their parent, the widest first. Parents precede children, so one pass suffices.
FlameLayout lay_out(const CallTree& tree, const std::vector<double>& totals, double scale) {
  FlameLayout out;
  const std::size_t nodes = tree.parent.size();
  std::vector<std::vector<std::uint32_t>> children(nodes + 1);  // the last: the roots
  for (std::uint32_t i = 0; i < nodes; ++i) {
    if (totals[i] > 0) children[tree.parent[i] == kNoParent ? nodes : tree.parent[i]].push_back(i);
  }
  std::vector<Box> open{{0, 0, 0, kNoParent}};
  for (std::size_t next = 0; next < open.size(); ++next) {
    const Box parent = open[next];
    auto& list = children[next == 0 ? nodes : parent.node];
    if (list.empty()) continue;
    const std::size_t row = next == 0 ? 0 : parent.row + 1;
    if (row >= kDeepest) {
      ++out.cut;
      for (const std::uint32_t i : list) out.cut_value += totals[i];
      continue;
    }
    std::stable_sort(list.begin(), list.end(), [&](auto a, auto b) { return totals[a] > totals[b]; });
    double x = parent.x, merged = 0;
    for (const std::uint32_t i : list) {
      const double width = totals[i] * scale;
      if (width < kNarrowest) {
        merged += width;
        ++out.merged;
        out.merged_value += totals[i];
        continue;
      }
      open.push_back({x, width, row, i});
      x += width;
      out.rows = std::max(out.rows, row + 1);
    }
    if (merged >= kNarrowest) out.boxes.push_back({x, merged, row, kNoParent});
  }
  out.boxes.insert(out.boxes.end(), open.begin() + 1, open.end());
  return out;
}

// The name shortened to fit; "" if there is too little room.
std::string fitting(Canvas& canvas, const std::string& name, double room, double size) {
  if (room < 12) return {};
  if (canvas.text_width(name, size) <= room) return name;
  std::size_t columns = std::min<std::size_t>(display_width(name), static_cast<std::size_t>(room / size * 2.4) + 1);
  for (; columns >= 4; --columns) {
    const std::string text = shortened(name, columns);
    if (canvas.text_width(text, size) <= room) return text;
  }
  return {};
}

}  // namespace

Figure flame_figure(const Application& app) {
  const SampleProfile& s = app.samples;
  const std::vector<double> totals = node_totals(s.tree, s.tree.self);
  double all = 0;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if (s.tree.parent[i] == kNoParent) all += totals[i];
  }
  if (!(all > 0)) return {};
  const FlameLayout layout = lay_out(s.tree, totals, kFlameWidth / all);
  const double base = 4 + kRow * static_cast<double>(layout.rows + 1);  // the lowest row is the program
  const auto draw = [=, &app, &s](Canvas& canvas, FigureFolder&) {
    canvas.fill(0, base - kRow + 0.5, kFlameWidth, kRow - 1, {0.17, 0.23, 0.29});
    canvas.text(4, base - 3.2,
                shortened(app.name, 60) + fmt::format(": {}", s.unit == "seconds"
                                                                  ? human_seconds(all) + " of all ranks and threads"
                                                                  : human_count(all) + " " + s.clock),
                Align::left, 7, true, {1, 1, 1});
    for (const Box& box : layout.boxes) {
      const double y = base - kRow * static_cast<double>(box.row + 2) + 0.5;
      const double gap = box.width > 2 ? 0.6 : 0;
      if (box.node == kNoParent) {
        canvas.fill(box.x, y, box.width - gap, kRow - 1, kMergedColour);
        continue;
      }
      const SampledFunction& f = s.functions[s.tree.function[box.node]];
      canvas.fill(box.x, y, box.width - gap, kRow - 1, colour_of(f));
      const std::string label = fitting(canvas, printable(short_name(f)), box.width - 5, 6.5);
      const bool dark = f.kind == "mpi" || f.kind == "posix";
      if (!label.empty()) {
        canvas.text(box.x + 2, y + kRow - 4, label, Align::left, 6.5, false,
                    dark ? Rgb{1, 1, 1} : Rgb{0.13, 0.15, 0.18});
      }
    }
    double x = 0;
    for (const auto& [colour, name] :
         {std::pair(kCodeColours[0], "the program's functions"), std::pair(kMpiColour, "MPI and I/O calls"),
          std::pair(kToolColour, "without symbols, unknown, or this tool"),
          std::pair(kMergedColour, "merged: too narrow to draw")}) {
      canvas.fill(x, base + 6, 8, 7, colour);
      canvas.text(x + 11, base + 12, name, Align::left, 7);
      x += 26 + canvas.text_width(name, 7);
    }
  };
  std::string caption =
      "Flame graph: a box is a function in one calling context, above its caller. Its width is the time in the "
      "function "
      "and its callees, summed over ranks and threads. Boxes are sorted by time spent, not by when they ran.";
  if (layout.merged != 0) {
    caption += fmt::format(" {} too narrow to draw ({} of the time) {} merged into grey boxes.",
                           counted(layout.merged, "function"), human_share(layout.merged_value / all),
                           layout.merged == 1 ? "is" : "are");
  }
  if (layout.cut != 0) {
    caption += fmt::format(" {} deeper than {} calls {} cut off there ({} of the time).", counted(layout.cut, "stack"),
                           kDeepest, layout.cut == 1 ? "is" : "are", human_share(layout.cut_value / all));
  }
  return {"flame", caption, 1.0, kFlameWidth, base + 16, draw};
}

}  // namespace ardoise::reports
