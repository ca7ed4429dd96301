// Time by rank, calls by message size, and time over the run; see figures.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "reports/figures/canvas.hpp"
#include "reports/figures/figures.hpp"
#include "reports/figures/time_axis.hpp"
#include "reports/findings/efficiency.hpp"
#include "reports/text/units.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::reports {

namespace {

constexpr double kLeastShareOfStrip = 0.02;

// Means over blocks of ranks, so that bars stay visible.
std::vector<double> blocks_of(const std::vector<double>& of_rank, std::size_t per) {
  std::vector<double> out;
  for (std::size_t i = 0; i < of_rank.size(); i += per) {
    const std::size_t end = std::min(i + per, of_rank.size());
    out.push_back(std::accumulate(of_rank.begin() + static_cast<std::ptrdiff_t>(i),
                                  of_rank.begin() + static_cast<std::ptrdiff_t>(end), 0.0) /
                  static_cast<double>(end - i));
  }
  return out;
}

// The smallest size in a bucket of FunctionProfile::calls_by_size.
std::string bucket_label(std::size_t bucket) {
  if (bucket == 0) return "0";
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
  const std::size_t unit = std::min<std::size_t>((bucket - 1) / 10, 3);
  return fmt::format("≥ {:.0f} {}", std::exp2(static_cast<double>(bucket - 1 - 10 * unit)), kUnits[unit]);
}

}  // namespace

Figure rank_times_figure(const Application& app) {
  struct Part {
    const char* name;
    double RankTime::*time;
    Rgb colour;
  };
  // From the bottom up; useful time first.
  static const std::array kParts{Part{"computation", &RankTime::computing, kComputation},
                                 Part{"file I/O", &RankTime::io, kClassColours[3]},
                                 Part{"asleep or blocked", &RankTime::blocked, {0.62, 0.62, 0.62}},
                                 Part{"waiting for a processor", &RankTime::waiting, {0.85, 0.45, 0.35}},
                                 Part{"MPI", &RankTime::mpi, kClassColours[0]}};
  const std::vector<RankTime> times = times_of_ranks(app);
  if (times.empty() || app.ranks < 2) return {};
  const std::size_t per = (times.size() + 511) / 512;
  std::array<std::vector<double>, kParts.size()> parts;
  std::vector<double> all;
  double sum = 0;
  for (const RankTime& time : times) {
    all.push_back(time.wall);
    sum += time.wall;
    for (std::size_t p = 0; p < kParts.size(); ++p) parts[p].push_back(time.*kParts[p].time);
  }
  std::array<bool, kParts.size()> shown{};
  for (std::size_t p = 0; p < kParts.size(); ++p) {
    shown[p] = std::accumulate(parts[p].begin(), parts[p].end(), 0.0) > 0.005 * sum;
    parts[p] = blocks_of(parts[p], per);
  }
  all = blocks_of(all, per);
  const double top = *std::max_element(all.begin(), all.end());
  if (top <= 0) return {};
  std::string caption = "Time of each rank by activity; parts outside MPI and file I/O are estimates.";
  if (per > 1) caption += fmt::format(" Each bar is the mean of {} ranks.", per);
  const double h = app.ranks <= 16 ? 80 : 120, y0 = 18;
  const auto draw = [=, &app](Canvas& canvas, FigureFolder&) {
    double x = kTimeLeft;
    for (std::size_t p = 0; p < kParts.size(); ++p) {
      if (shown[p]) x = legend_entry(canvas, x, 8, kParts[p].colour, kParts[p].name);
    }
    const double bar = kTimePlot / static_cast<double>(all.size()), gap = bar > 4 ? bar * 0.15 : 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double left = kTimeLeft + bar * static_cast<double>(i) + gap / 2, width = bar - gap + (gap == 0 ? 0.2 : 0);
      double bottom = y0 + h;
      for (std::size_t p = 0; p < kParts.size(); ++p) {
        const double height = h * parts[p][i] / top;
        if (height > 0) canvas.fill(left, bottom - height, width, height, kParts[p].colour);
        bottom -= height;
      }
    }
    const double mean = efficiency_of(app).mean_useful, at = y0 + h * (1 - mean / top);
    canvas.line(kTimeLeft, at, kTimeLeft + kTimePlot, at, 0.9, {0.75, 0.2, 0.15});
    const std::string line_name = "mean of useful time";
    const double name_begin = kTimeLeft + kTimePlot - canvas.text_width(line_name);
    canvas.line(name_begin - 17, 5, name_begin - 3, 5, 0.9, {0.75, 0.2, 0.15});
    canvas.text(name_begin, 8, line_name);
    canvas.box(kTimeLeft, y0, kTimePlot, h);
    for (const double tick : round_ticks(top, 4)) {
      canvas.line(kTimeLeft - 3, y0 + h * (1 - tick / top), kTimeLeft, y0 + h * (1 - tick / top));
      canvas.text(kTimeLeft - 5, y0 + h * (1 - tick / top) + 2.5, human_seconds(tick), Align::right, 7);
    }
    for (const double tick : round_ticks(static_cast<double>(app.ranks - 1), 10)) {
      if (tick != std::floor(tick)) continue;
      const double place = kTimeLeft + bar * (std::floor(tick / static_cast<double>(per)) + 0.5);
      canvas.line(place, y0 + h, place, y0 + h + 3);
      canvas.text(place, y0 + h + 10, world_label(app, tick), Align::centre, 7);
    }
    canvas.text(kTimeLeft + kTimePlot / 2, y0 + h + 21, "rank", Align::centre);
  };
  return {"ranks", caption, 1.0, kTimeWidth, y0 + h + 26, draw};
}

Figure message_sizes_figure(const Application& app) {
  std::vector<double> calls;
  for (const FunctionProfile& f : app.mpi) {
    if (f.bytes == 0) continue;
    calls.resize(std::max(calls.size(), f.calls_by_size.size()), 0);
    for (std::size_t i = 0; i < f.calls_by_size.size(); ++i) calls[i] += static_cast<double>(f.calls_by_size[i]);
  }
  const double top = calls.empty() ? 0 : *std::max_element(calls.begin(), calls.end());
  if (std::count_if(calls.begin(), calls.end(), [](double c) { return c > 0; }) < 3) return {};
  const double h = 50, y0 = 6;
  const auto draw = [=](Canvas& canvas, FigureFolder&) {
    const std::size_t first = static_cast<std::size_t>(
        std::find_if(calls.begin(), calls.end(), [](double c) { return c > 0; }) - calls.begin());
    const std::size_t shown = calls.size() - first;
    constexpr double kMargin = 6;  // on both sides
    const double bar = std::min(40.0, (kTimePlot - 2 * kMargin) / static_cast<double>(shown));
    for (std::size_t i = 0; i < shown; ++i) {
      const double x = kTimeLeft + kMargin + bar * static_cast<double>(i), height = h * calls[first + i] / (1.1 * top);
      canvas.fill(x + bar * 0.1, y0 + h - height, bar * 0.8, height, kClassColours[2]);
      if (bar > 32 || i % 2 == 0) canvas.text(x + bar / 2, y0 + h + 9, bucket_label(first + i), Align::centre, 6);
    }
    canvas.line(kTimeLeft, y0 + h, kTimeLeft + kTimePlot, y0 + h);
    canvas.line(kTimeLeft, y0, kTimeLeft, y0 + h);
    for (const double tick : round_ticks(1.1 * top, 4)) {
      const double y = y0 + h * (1 - tick / (1.1 * top));
      canvas.line(kTimeLeft - 3, y, kTimeLeft, y);
      canvas.text(kTimeLeft - 5, y + 2.5,
                  tick >= 1e5 ? fmt::format("{:g} M", tick / 1e6) : with_separators(static_cast<std::uint64_t>(tick)),
                  Align::right, 7);
    }
    canvas.text(kTimeLeft + kTimePlot / 2, y0 + h + 21, "data size of a call (powers of two)", Align::centre);
  };
  return {"sizes", "MPI calls that move data, by size.", 1.0, kTimeWidth, y0 + h + 27, draw};
}

Figure temporal_figure(const Application& app) {
  const TemporalMap& map = app.temporal;
  if (map.share.empty()) return {};
  const std::size_t bins = map.bins, groups = map.groups, classes = map.classes.size();
  const auto share = [=, &map](std::size_t c, std::size_t g, std::size_t b) {
    return static_cast<double>(map.share[(c * groups + g) * bins + b]);
  };
  const auto ranks_in = [&app, &map](std::size_t g) {
    const std::uint64_t first = static_cast<std::uint64_t>(g) * map.ranks_per_group;
    return first >= app.ranks ? 0.0
                              : static_cast<double>(std::min<std::uint64_t>(map.ranks_per_group, app.ranks - first));
  };
  std::vector<std::size_t> used, in_strips;  // classes; indices of `used`
  for (std::size_t c = 0; c < classes; ++c) {
    const auto begin = map.share.begin() + static_cast<std::ptrdiff_t>(c * groups * bins);
    const double sum = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(groups * bins), 0.0);
    if (sum > 0) used.push_back(c);
    // Only classes with some time get a strip.
    if (sum >= kLeastShareOfStrip * static_cast<double>(groups * bins)) in_strips.push_back(used.size() - 1);
  }
  const double seconds = map.bin_seconds * static_cast<double>(bins), h = 80, y0 = 30,
               strip = std::clamp(5.0 * static_cast<double>(groups), 12.0, 62.0);
  const bool strips = groups > 1 && !in_strips.empty();
  const std::size_t columns = std::min<std::size_t>(bins, 600), per = (bins + columns - 1) / columns;
  const auto draw = [=, &app, &map](Canvas& canvas, FigureFolder&) {
    double x = legend_entry(canvas, kTimeLeft, 8, kComputation, "outside MPI and I/O"), row = 8;
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (x > kTimeWidth - 90) {
        x = kTimeLeft;
        row += 11;
      }
      x = legend_entry(canvas, x, row, kClassColours[i % kClassColours.size()], map.classes[used[i]]);
    }
    canvas.fill(kTimeLeft, y0, kTimePlot, h, kComputation);
    std::vector<double> below((bins + per - 1) / per, 0.0);
    const auto begin = [&](std::size_t k) {
      return static_cast<double>(std::min(bins, k * per)) / static_cast<double>(bins);
    };
    for (std::size_t i = 0; i < used.size(); ++i) {
      const auto mean_share = [&](std::size_t k) {
        double sum = 0, weight = 0;
        for (std::size_t b = k * per; b < std::min(bins, (k + 1) * per); ++b) {
          for (std::size_t g = 0; g < groups; ++g) {
            sum += share(used[i], g, b) * ranks_in(g);
            weight += ranks_in(g);
          }
        }
        return weight > 0 ? sum / weight : 0;
      };
      stacked_band(canvas, y0, h, below, begin, mean_share, kClassColours[i % kClassColours.size()]);
    }
    canvas.box(kTimeLeft, y0, kTimePlot, h);
    percent_axis(canvas, y0, h);
    time_axis(canvas, y0 + h, seconds);

    double y = y0 + h + 34;
    for (std::size_t n = 0; strips && n < in_strips.size(); ++n) {
      const std::size_t i = in_strips[n];
      Grid grid(bins, groups);
      for (std::size_t g = 0; g < groups; ++g) {
        for (std::size_t b = 0; b < bins; ++b) {
          if (share(used[i], g, b) > 0) grid.at(b, g) = share(used[i], g, b);
        }
      }
      const Scale scale(0, Scale::over(grid.values, false).high(), false);
      canvas.text(kTimeLeft, y - 3, shortened(map.classes[used[i]], 40), Align::left, 7.5, true);
      canvas.flat_legend(kTimeWidth - 8 - 110, y - 15, 110, scale, human_share);
      canvas.cells(kTimeLeft, y, kTimePlot, strip, reduced(grid, 1024), scale);
      canvas.box(kTimeLeft, y, kTimePlot, strip);
      canvas.text(kTimeLeft - 5, y + 6, fmt::format("rank {}", app.first_rank), Align::right, 6.5);
      canvas.text(kTimeLeft - 5, y + strip - 1, std::to_string(app.world_rank(app.ranks - 1)), Align::right, 6.5);
      y += strip + 22;
    }
    if (strips) time_axis(canvas, y - 22, seconds);
  };
  std::string caption = "Shares of the ranks' time by class of calls, over time since MPI_Init, for all ranks together";
  caption += strips ? fmt::format(" and, below, for each group of {} (top: the lowest ranks; white: none).",
                                  counted(map.ranks_per_group, "rank"))
                    : ".";
  const double height = y0 + h + 26 + (strips ? (strip + 22) * static_cast<double>(in_strips.size()) + 18 : 0);
  return {"temporal", caption, 1.0, kTimeWidth, height, draw};
}

}  // namespace ardoise::reports
