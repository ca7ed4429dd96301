// Sampled call stacks: functions, flame graph, lines. See sections.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "reports/document/sections.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kHotFunctions = 20, kHotLines = 10, kSummaryFunctions = 4, kNameWidth = 30;
constexpr double kShownShare = 0.95;         // of what was sampled
constexpr double kLeastSummaryShare = 0.01;  // of a function; the report also shows smaller ones

std::string clock_name(const SampleProfile& s) { return s.clock == "cpu" ? "CPU time" : code(s.clock, 20).text; }

Text error(const SampleProfile& s, double value) { return "± " + shown(amount(s, value)); }

Cell function_cell(const SampleProfile& s, std::size_t function) {
  const SampledFunction& f = s.functions[function];
  const std::string known = place_of(s, function);
  const bool has_place = is_code(f) && !f.symbol.empty();
  return name_over_place(short_name(f), has_place ? (known.empty() ? base_name(f.module) : known) : "", kNameWidth,
                         110);
}

// A sentence on time in the kernel, which is not sampled.
std::string kernel_time(const SampleProfile& s) {
  if (s.clock != "cpu") return {};
  if (s.kernel > 0) {
    return fmt::format(
        " {} of it was spent in the kernel, which is not sampled: (kernel) is below the function that used it, or has "
        "no caller if MPI or I/O calls may have used it.",
        shown(share_of(s, s.kernel)));
  }
  return " CPU time of system calls counts for the code at the next interrupt: if processes share processors, code "
         "after MPI calls gets a part of the time of these calls.";
}

void add_summary(const SampleProfile& s, std::vector<Block>& to) {
  // The heading names CPU time: the tables below show shares of wall time.
  Table table{"",
              {{"hot function (sampled " + clock_name(s) + ")", false, 48},
               "self",
               fmt::format("half width at {:.0f} %", s.confidence * 100).c_str(),
               "share",
               "total"},
              {}};
  for (std::size_t i = 0; i < s.functions.size() && table.rows.size() < kSummaryFunctions; ++i) {
    const SampledFunction& f = s.functions[i];
    if (!(f.self > 0) || f.self < kLeastSummaryShare * s.self) break;
    table.rows.push_back({symbol(name_and_place(s, i), 48), amount(s, f.self), error(s, f.self_error),
                          share_of(s, f.self), amount(s, f.total)});
  }
  if (!table.rows.empty()) to.push_back(std::move(table));
}

}  // namespace

Number amount(const SampleProfile& s, double value) {
  return {value, s.unit == "seconds" ? Unit::seconds : Unit::count};
}
Number share_of(const SampleProfile& s, double value) { return share(s.self > 0 ? value / s.self : 0); }

Section hot_functions(const Application& a) {
  const SampleProfile& s = a.samples;
  Section section{.title = "Hot functions", .together = 14};
  if (s.unit.empty()) return section;
  if (!(s.self > 0)) {
    section.blocks.push_back(Paragraph{"No sample of the program's call stacks arrived."});
    return section;
  }
  add_summary(s, section.summary);
  section.blocks.push_back(note(fmt::format(
      "Estimates from {} samples of {}, summed over ranks and threads, with the half width of the {:.0f} % confidence "
      "interval. Self is time in the function itself, total includes its callees. MPI is the exact time in MPI calls "
      "below the function. Least, most and mean refer to ranks.{}",
      shown(count(s.samples)), clock_name(s), s.confidence * 100, kernel_time(s))));
  const std::string percent = fmt::format("{:.0f} %", s.confidence * 100);
  Table table{"",
              {left("Function", kNameWidth),
               "Self",
               {"half width at " + percent, true, 10},
               "Share",
               "Total",
               "MPI",
               "Least",
               "Most",
               {"most over mean", true, 6}},
              {}};
  const std::vector<double> mpi = mpi_beneath(s);
  double sum = 0;
  std::size_t shown_functions = 0;
  for (; shown_functions < std::min(kHotFunctions, s.functions.size()) && sum < kShownShare * s.self;
       ++shown_functions) {
    const SampledFunction& f = s.functions[shown_functions];
    if (!(f.self > 0)) break;
    sum += f.self;
    table.rows.push_back({function_cell(s, shown_functions), amount(s, f.self), error(s, f.self_error),
                          share_of(s, f.self), amount(s, f.total),
                          is_code(f) && mpi[shown_functions] > 0 ? Cell{seconds(mpi[shown_functions])} : Cell{},
                          amount(s, f.rank_min), amount(s, f.rank_max),
                          f.rank_mean > 0 ? Cell{ratio(f.rank_max / f.rank_mean)} : Cell{}});
  }
  section.blocks.push_back(std::move(table));
  const auto not_shown =
      static_cast<std::size_t>(std::count_if(s.functions.begin() + static_cast<std::ptrdiff_t>(shown_functions),
                                             s.functions.end(), [](const auto& f) { return f.self > 0; }));
  if (not_shown != 0) {
    section.blocks.push_back(remark({{fmt::format("{}, {} of the sampled total: ", counted(not_shown, "more function"),
                                                  shown(share_of(s, s.self - sum)))},
                                     code("ardoise show profile.json functions")}));
  }
  add_figure(section.blocks, flame_figure(a));
  return section;
}

Section hot_lines(const Application& a) {
  const SampleProfile& s = a.samples;
  Section section{.title = "Hot lines"};
  if (!(s.self > 0)) return section;
  if (s.lines.empty()) {
    section.left_out.push_back("hot lines (the program was built without -g)");
    return section;
  }
  Table table{"",
              {left("Line", 31),
               left("in function", 44),
               "Self",
               {fmt::format("half width at {:.0f} %", s.confidence * 100), true, 11},
               "Share"},
              {}};
  for (std::size_t i = 0; i < std::min(kHotLines, s.lines.size()); ++i) {
    const SampledLine& l = s.lines[i];
    if (l.self < 0.01 * s.self && i >= 5) break;
    table.rows.push_back({code(fmt::format("{}:{}", base_name(l.source_file), l.line), 70),
                          symbol(short_name(s.functions[l.function]), 90), amount(s, l.self), error(s, l.self_error),
                          share_of(s, l.self)});
  }
  section.blocks.push_back(std::move(table));
  return section;
}

}  // namespace ardoise::reports
