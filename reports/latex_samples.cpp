// The sections of an application's chapter that stem from samples of its call stacks: hot functions and lines, flame
// graph, callers and callees, over time, by rank and thread, counters. See latex_report.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "reports/findings.hpp"
#include "reports/latex_report.hpp"
#include "reports/latex_text.hpp"
#include "reports/sample_view.hpp"
#include "reports/units.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kFunctions = 20, kLines = 15, kCallTables = 6, kPartners = 4, kClusters = 8, kThreads = 16;
constexpr double kMattering = 0.95;

using Rows = std::vector<std::vector<std::string>>;

// A value in the unit of the profile.
std::string amount(const SampleProfile& s, double v) {
  return latex(s.unit == "seconds" ? human_seconds(v) : human_count(v));
}
std::string share(const SampleProfile& s, double v) { return latex(human_share(s.self > 0 ? v / s.self : 0)); }

std::string function_cell(const SampleProfile& s, std::size_t function, std::size_t width) {
  const SampledFunction& f = s.functions[function];
  const std::string place = !is_code(f)                     ? ""
                            : place_of(s, function).empty() ? base_name(f.module)
                                                            : place_of(s, function);
  return latex_code(short_name(f), width) +
         (place.empty() || f.symbol.empty() ? ""
                                            : "\\newline {\\footnotesize\\color{note}" + latex_code(place, 80) + "}");
}

// What is known of the time in the kernel, which is not sampled itself.
std::string kernel_time(const SampleProfile& s) {
  if (s.clock != "cpu") return {};
  if (s.kernel_of_calls > 0) {
    return fmt::format(
        " {} of it is time in the kernel that was given to the MPI or I/O call before it, which is an estimate; "
        "what other system calls use counts where the program is interrupted next.",
        share(s, s.kernel_of_calls));
  }
  return " What system calls use counts where the program is interrupted next, so that code after MPI calls gets part "
         "of theirs where processes share processors.";
}

std::string hot_functions(const SampleProfile& s) {
  Rows rows;
  const std::vector<double> mpi = mpi_beneath(s);
  double sum = 0;
  std::size_t shown = 0;
  for (; shown < std::min(kFunctions, s.functions.size()) && sum < kMattering * s.self; ++shown) {
    const SampledFunction& f = s.functions[shown];
    if (!(f.self > 0)) break;
    sum += f.self;
    rows.push_back({function_cell(s, shown, 110), amount(s, f.self), latex("± ") + amount(s, f.self_error),
                    share(s, f.self), amount(s, f.total),
                    is_code(f) && mpi[shown] > 0 ? latex(human_seconds(mpi[shown])) : "", amount(s, f.rank_min),
                    amount(s, f.rank_max), f.rank_mean > 0 ? fmt::format("{:.2f}", f.rank_max / f.rank_mean) : ""});
  }
  std::string out =
      "{\\small Sampled: sums of weights of " + latex(human_count(static_cast<double>(s.samples))) + " samples of " +
      (s.clock == "wall"  ? std::string("wall clock time")
       : s.clock == "cpu" ? std::string("CPU time")
                          : latex(s.clock)) +
      fmt::format(", over ranks and threads; ± is the half width of the {:.0f}\\,\\% confidence interval. ",
                  s.confidence * 100) +
      "Self is in the function, total with what it called; MPI is the exact time in MPI calls beneath it; Least and "
      "Most are of "
      "the ranks, Imb. is Most over their mean." +
      kernel_time(s) + "}\\par\n";
  out +=
      latex_table("L{47mm}rrrrrrrr", {"Function", "Self", "", "Share", "Total", "MPI", "Least", "Most", "Imb."}, rows);
  std::size_t left = 0;
  for (std::size_t i = shown; i < s.functions.size(); ++i) left += s.functions[i].self > 0 ? 1 : 0;
  if (left != 0) {
    out += fmt::format("{{\\small\\itshape {}, {} of it, in profile.json.}}\\par\n",
                       latex(counted(left, "more function")), share(s, s.self - sum));
  }
  return out;
}

std::string hot_lines(const SampleProfile& s) {
  if (s.lines.empty()) return "{\\small No line of the source is known: the program was built without -g.}\\par\n";
  Rows rows;
  for (std::size_t i = 0; i < std::min(kLines, s.lines.size()); ++i) {
    const SampledLine& l = s.lines[i];
    if (l.self < 0.005 * s.self && i >= 5) break;
    rows.push_back({latex_code(fmt::format("{}:{}", base_name(l.source_file), l.line), 70),
                    latex_code(short_name(s.functions[l.function]), 90), amount(s, l.self),
                    latex("± ") + amount(s, l.self_error), share(s, l.self)});
  }
  return latex_table("L{46mm}L{66mm}rrr", {"Line", "in function", "Self", "", "Share"}, rows);
}

std::string partners(const SampleProfile& s, const std::vector<CallShare>& list, double all) {
  std::string out;
  for (std::size_t i = 0; i < std::min(kPartners, list.size()); ++i) {
    const std::string name =
        list[i].function == kNoParent ? "(the outermost)" : short_name(s.functions[list[i].function]);
    out += (i == 0 ? "" : "\\newline ") + latex_code(name, 60) + "\\hfill " +
           latex(human_share(all > 0 ? list[i].total / all : 0));
  }
  if (list.size() > kPartners) out += fmt::format("\\newline {{\\itshape {} more}}", list.size() - kPartners);
  return out;
}

// For the hot functions of the program who called them, and what they call.
std::string calls(const SampleProfile& s) {
  const std::vector<double> totals = node_totals(s.tree, node_values(s));
  Rows rows;
  for (std::uint32_t f = 0; f < s.functions.size() && rows.size() < kCallTables; ++f) {
    const SampledFunction& function = s.functions[f];
    if (function.symbol.empty() || function.symbol[0] == '(' || function.kind == "tool" ||
        function.self < 0.01 * s.self)
      continue;
    const auto callers = callers_of(s, totals, f), callees = callees_of(s, totals, f);
    double all = 0;
    for (const CallShare& c : callers) all += c.total;
    rows.push_back({latex_code(short_name(function), 80), partners(s, callers, all), partners(s, callees, all)});
  }
  if (rows.empty()) return {};
  return "\\need{9}\\section{Callers and callees}\n{\\small Shares are of the function's total time.}\\par\n" +
         latex_table("L{42mm}L{56mm}L{56mm}", {"Function", "is called from", "and calls"}, rows);
}

std::string clusters(const Application& a) {
  const SampleProfile& s = a.samples;
  if (s.clusters.empty()) return {};
  std::string out = "\\need{8}\\section{What ranks do differently}\n";
  if (s.clusters.size() == 1) {
    return out + fmt::format("All ranks spend their time alike: none differs from rank {} in more than {} of it.\n",
                             s.clusters[0].leader, latex(human_share(s.cluster_distance)));
  }
  out += fmt::format(
      "{{\\small Ranks whose shares of time by function differ from a leading rank's in at most {} of it make a group "
      "(leader clustering, by half the sum of differences).}}\\par\n",
      latex(human_share(s.cluster_distance)));
  std::vector<std::vector<std::uint32_t>> members(s.clusters.size());
  for (std::uint32_t rank = 0; rank < s.cluster_of_rank.size(); ++rank)
    members[s.cluster_of_rank[rank]].push_back(rank);
  Rows rows;
  for (std::size_t c = 0; c < std::min(kClusters, s.clusters.size()); ++c) {
    const RankCluster& cluster = s.clusters[c];
    // The functions in which it differs most from the greatest one; of that one simply the greatest.
    std::vector<std::size_t> order(cluster.mean_share.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto weight = [&](std::size_t i) {
      return c == 0 ? cluster.mean_share[i] : std::abs(cluster.mean_share[i] - s.clusters[0].mean_share[i]);
    };
    std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return weight(i) > weight(j); });
    std::string text;
    for (std::size_t k = 0; k < std::min<std::size_t>(3, order.size()) && weight(order[k]) >= 0.01; ++k) {
      const std::size_t i = order[k];
      text += (text.empty() ? "" : "\\newline ") + latex_code(short_name(s.functions[s.per_rank.functions[i]]), 60) +
              "\\hfill " + latex(human_share(cluster.mean_share[i]));
      if (c != 0) text += latex(fmt::format(" (not {})", human_share(s.clusters[0].mean_share[i])));
    }
    rows.push_back({with_separators(cluster.ranks), latex(rank_ranges(members[c], 8)), text});
  }
  out += latex_table("rL{52mm}L{92mm}", {"Ranks", "which", "where they spend their time"}, rows);
  if (s.clusters.size() > kClusters)
    out += fmt::format("{{\\small\\itshape {} more groups in profile.json.}}\\par\n", s.clusters.size() - kClusters);
  return out;
}

std::string threads(const SampleProfile& s) {
  struct Sum {
    double least = HUGE_VAL, all = 0, most = 0;
    std::uint32_t ranks = 0;
  };
  std::map<std::uint32_t, Sum> sums;
  for (std::size_t i = 0; i < s.threads.rank.size(); ++i) {
    Sum& sum = sums[s.threads.thread[i]];
    const double v = s.threads.self[i];
    sum.least = std::min(sum.least, v);
    sum.most = std::max(sum.most, v);
    sum.all += v;
    ++sum.ranks;
  }
  if (sums.size() < 2) return {};
  Rows rows;
  for (const auto& [thread, sum] : sums) {
    if (rows.size() == kThreads) break;
    rows.push_back({with_separators(thread), with_separators(sum.ranks), amount(s, sum.all), amount(s, sum.least),
                    amount(s, sum.all / sum.ranks), amount(s, sum.most)});
  }
  std::string out = "\\need{8}\\section{Threads}\n" +
                    latex_table("rrrrrr", {"Thread", "in ranks", "Sampled", "Least", "Mean", "Most"}, rows);
  if (sums.size() > kThreads)
    out += fmt::format("{{\\small\\itshape {} more threads in profile.json.}}\\par\n", sums.size() - kThreads);
  return out;
}

std::size_t counter(const SampleProfile& s, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto place =
        std::find_if(s.counters.begin(), s.counters.end(), [&](const std::string& c) { return c == name; });
    if (place != s.counters.end()) return static_cast<std::size_t>(place - s.counters.begin());
  }
  return s.counters.size();
}

std::string counters(const SampleProfile& s) {
  if (s.counters.empty()) return {};
  const std::size_t cycles = counter(s, {"cycles", "cpu-cycles", "PAPI_TOT_CYC"}),
                    instructions = counter(s, {"instructions", "PAPI_TOT_INS"});
  const bool ipc = cycles < s.counters.size() && instructions < s.counters.size();
  std::vector<std::string> heads{"Function"};
  std::string spec = "L{44mm}";
  for (std::size_t c = 0; c < std::min<std::size_t>(s.counters.size(), 6); ++c) {
    heads.push_back(latex_code(s.counters[c], 24));
    spec += "r";
    if (s.unit == "seconds" && s.counters.size() <= 3) {
      heads.push_back("per s");
      spec += "r";
    }
  }
  if (ipc) {
    heads.push_back("IPC");
    spec += "r";
  }
  Rows rows;
  for (std::size_t i = 0; i < std::min<std::size_t>(12, s.functions.size()); ++i) {
    const SampledFunction& f = s.functions[i];
    if (!(f.self > 0)) break;
    std::vector<std::string> row{latex_code(short_name(f), 70)};
    for (std::size_t c = 0; c < std::min<std::size_t>(s.counters.size(), 6); ++c) {
      row.push_back(latex(human_count(f.counters[c])));
      if (s.unit == "seconds" && s.counters.size() <= 3) row.push_back(latex(human_count(f.counters[c] / f.self)));
    }
    if (ipc)
      row.push_back(f.counters[cycles] > 0 ? fmt::format("{:.2f}", f.counters[instructions] / f.counters[cycles]) : "");
    rows.push_back(std::move(row));
  }
  return "\\need{9}\\section{Counters}\n{\\small Read with every sample, summed by the function that it fell into: "
         "estimates.}\\par\n" +
         latex_table(spec, heads, rows);
}

}  // namespace

std::string latex_samples(const Application& a, const ApplicationFigures& f) {
  const SampleProfile& s = a.samples;
  if (s.unit.empty()) return {};
  std::string out = "\\need{14}\\section{Hot functions}\n";
  if (!(s.self > 0)) return out + "No sample of the program's call stacks arrived.\n";
  out += hot_functions(s);
  if (!f.flame.file.empty()) out += latex_figure(f.flame);
  out += "\\need{9}\\section{Hot lines}\n" + hot_lines(s) + calls(s);
  if (!f.functions_over_time.file.empty()) {
    out += "\\need{16}\\section{Functions over time}\n" + latex_figure(f.functions_over_time);
  }
  return out + clusters(a) + threads(s) + counters(s);
}

}  // namespace ardoise::reports
