// Figures of the sampled profile over time; see figures.hpp. The flame graph is in flame_figure.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reports/figures/canvas.hpp"
#include "reports/figures/figures.hpp"
#include "reports/figures/time_axis.hpp"
#include "reports/findings/sample_view.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kBands = 7;  // functions with a band of their own

struct Cause {
  const char* name;
  const char* meaning;
  Rgb colour;
};
constexpr std::array<Cause, 6> kCauses{{{"memory", "no memory was free", {0.75, 0.20, 0.15}},
                                        {"stream", "the stream was full", {0.85, 0.55, 0.24}},
                                        {"cost", "sampling cost too much", {0.42, 0.24, 0.42}},
                                        {"rise", "the pressure ended", {0.25, 0.55, 0.30}},
                                        {"event", "the event's rate changed", {0.27, 0.52, 0.58}},
                                        {"user", "requested by the user", {0.16, 0.23, 0.36}}}};

// "0, 4, 8 …"
std::string every_rank(const Application& app, std::uint32_t step) {
  return fmt::format("{}, {}, {} …", app.world_rank(0), app.world_rank(step), app.world_rank(2 * step));
}

std::string human_hertz(double hertz) {
  if (hertz >= 999.5) return fmt::format("{:.3g} kHz", hertz / 1e3);
  return fmt::format("{:.3g} Hz", hertz);
}

}  // namespace

Figure functions_over_time_figure(const Application& app) {
  const SampleTimeline& t = app.samples.timeline;
  const double most = t.all.empty() ? 0 : *std::max_element(t.all.begin(), t.all.end());
  if (!(most > 0) || t.bins < 2) return {};
  const std::size_t bands = std::min(kBands, t.functions.size());
  const double h = 80, y0 = 30, seconds = t.bin_seconds * static_cast<double>(t.bins);
  const auto draw = [=, &app, &t](Canvas& canvas, FigureFolder&) {
    double x = legend_entry(canvas, kTimeLeft, 8, kComputation, "others"), row = 8;
    for (std::size_t i = 0; i < bands; ++i) {
      const std::string name = printable(short_name(app.samples.functions[t.functions[i]]));
      if (x + 22 + canvas.text_width(shortened(name, 24)) > kTimeWidth) {
        x = kTimeLeft;
        row += 11;
        if (row > 20) break;
      }
      x = legend_entry(canvas, x, row, kClassColours[i], name);
    }
    std::vector<double> below(t.bins, 0.0);
    const auto begin = [&](std::size_t b) { return static_cast<double>(b) / t.bins; };
    for (std::size_t i = 0; i <= bands; ++i) {
      // The last band is the rest. Bins without samples stay empty.
      const auto share = [&](std::size_t b) {
        if (!(t.all[b] > 0)) return 0.0;
        return i == bands ? 1 - below[b] : t.self[i * t.bins + b] / t.all[b];
      };
      stacked_band(canvas, y0, h, below, begin, share, i == bands ? kComputation : kClassColours[i]);
    }
    canvas.box(kTimeLeft, y0, kTimePlot, h);
    percent_axis(canvas, y0, h);
    time_axis(canvas, y0 + h, seconds);
  };
  std::string caption = "Functions over time since MPI_Init: their shares of the samples, an estimate";
  caption += t.rank_step > 1 ? fmt::format(", of ranks {}.", every_rank(app, t.rank_step)) : ".";
  return {"functions_over_time", caption, 1.0, kTimeWidth, y0 + h + 16, draw};
}

Figure sampling_rate_figure(const Application& app) {
  const auto& changes = app.samples.rate_changes;
  double low = HUGE_VAL, high = 0, end = app.wall_seconds;
  std::uint32_t most_free = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const RateChange*>> threads;
  for (const RateChange& c : changes) {
    if (!(c.hertz > 0)) continue;
    threads[{c.rank, c.thread}].push_back(&c);
    low = std::min(low, c.hertz);
    high = std::max(high, c.hertz);
    end = std::max(end, c.seconds);
    most_free = std::max(most_free, c.free_bins);
  }
  const bool changed = std::any_of(threads.begin(), threads.end(), [](const auto& t) { return t.second.size() > 1; });
  if (!changed || !(end > 0)) return {};
  const double h = 60, y0 = 20, memory = most_free == 0 ? 0 : 30, gap = most_free == 0 ? 0 : 20;
  const auto draw = [=, &changes](Canvas& canvas, FigureFolder&) {
    const double bottom = std::log2(low) - 0.5, top = std::log2(high) + 0.5;
    const auto y_of = [&](double hertz) { return y0 + h * (1 - (std::log2(hertz) - bottom) / (top - bottom)); };
    const auto x_of = [&](double seconds) { return kTimeLeft + kTimePlot * std::min(seconds / end, 1.0); };

    double x = kTimeLeft;
    for (const Cause& cause : kCauses) {
      if (std::none_of(changes.begin(), changes.end(), [&](const RateChange& c) { return c.cause == cause.name; }))
        continue;
      canvas.circle(x + 4, 5.5, 2, cause.colour);
      canvas.text(x + 9, 8, cause.meaning);
      x += 22 + canvas.text_width(cause.meaning);
    }
    for (double octave = std::ceil(bottom); octave <= top; octave += std::max(1.0, std::ceil((top - bottom) / 6))) {
      const double hertz = high / std::exp2(std::round(std::log2(high) - octave)), y = y_of(hertz);
      if (y < y0 || y > y0 + h) continue;
      canvas.line(kTimeLeft, y, kTimeLeft + kTimePlot, y, 0.3, {0.85, 0.86, 0.88});
      canvas.text(kTimeLeft - 5, y + 2.5, human_hertz(hertz), Align::right, 6.5);
    }
    const double y1 = y0 + h + gap;
    for (const auto& [thread, list] : threads) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        const RateChange& c = *list[i];
        const double until = i + 1 < list.size() ? list[i + 1]->seconds : end;
        canvas.line(x_of(c.seconds), y_of(c.hertz), x_of(until), y_of(c.hertz), 0.9, {0.17, 0.23, 0.29});
        if (i + 1 < list.size())
          canvas.line(x_of(until), y_of(c.hertz), x_of(until), y_of(list[i + 1]->hertz), 0.5, {0.17, 0.23, 0.29});
      }
      for (const RateChange* c : list) {
        const auto cause =
            std::find_if(kCauses.begin(), kCauses.end(), [&](const Cause& k) { return c->cause == k.name; });
        if (cause != kCauses.end()) canvas.circle(x_of(c->seconds), y_of(c->hertz), 1.8, cause->colour);
        if (most_free != 0) {
          const double free = memory * c->free_bins / most_free, at = x_of(c->seconds);
          canvas.line(at, y1 + memory, at, y1 + memory - free, 0.8, {0.55, 0.65, 0.72});
          canvas.circle(at, y1 + memory - free, 1.2, {0.27, 0.52, 0.58});
        }
      }
    }
    canvas.box(kTimeLeft, y0, kTimePlot, h);
    if (most_free != 0) {
      canvas.text(kTimeLeft, y1 - 4, "free bins of the event buffer at each change", Align::left, 7, true);
      canvas.box(kTimeLeft, y1, kTimePlot, memory);
      canvas.text(kTimeLeft - 5, y1 + 5, std::to_string(most_free), Align::right, 6.5);
      canvas.text(kTimeLeft - 5, y1 + memory, "0", Align::right, 6.5);
    }
    time_axis(canvas, y1 + memory, end);
  };
  std::string caption = fmt::format("Sampling rate over time, a line for each of {}, and the cause of each change.",
                                    counted(threads.size(), "thread"));
  if (app.samples.rate_changes_left_out != 0) {
    const std::uint32_t step = app.samples.timeline.rank_step;
    caption += fmt::format(" {} not shown: {}a rank shows its first and last 128 changes.",
                           counted(app.samples.rate_changes_left_out, "more change"),
                           step > 1 ? fmt::format("only ranks {} are shown, ", every_rank(app, step)) : "");
  }
  return {"sampling_rate", caption, 1.0, kTimeWidth, y0 + h + gap + memory + 16, draw};
}

}  // namespace ardoise::reports
