// MPI and POSIX calls by function, call sites, files. See sections.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/document/sections.hpp"
#include "reports/findings/file_view.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kSites = 40, kFiles = 25, kSummaryCalls = 6, kSummarySites = 5, kOverlapSites = 10,
                      kSummaryFiles = 3;
// Call sites beyond the first kSitesInAnyCase need this share of the time; likewise functions.
constexpr std::size_t kSitesInAnyCase = 5;
constexpr double kLeastSiteShare = 0.0005;
constexpr std::size_t kFunctionsInAnyCase = 8;
constexpr double kLeastFunctionShare = 0.001;
constexpr std::size_t kSiteWidth = 44, kCallers = 3;
constexpr double kLeastPartOfSite = 0.02;

Number mean_seconds(const FunctionProfile& f) {
  return seconds(f.calls == 0 ? 0 : f.seconds / static_cast<double>(f.calls));
}
Cell moved(const FunctionProfile& f) { return f.bytes != 0 && f.calls != 0 ? Cell{bytes(f.bytes)} : Cell{}; }
Cell moved_per_call(const FunctionProfile& f) {
  return f.bytes != 0 && f.calls != 0 ? Cell{bytes(static_cast<double>(f.bytes) / static_cast<double>(f.calls))}
                                      : Cell{};
}

// Adds the callers of the calling function below its name, if there are several or it has no name.
Cell with_callers(const Application& a, const CallSite& site, Cell cell) {
  const auto callers = callers_of(a.samples, site);
  double all = 0;
  for (const CallShare& c : callers) all += c.total;
  for (std::size_t i = 0; i < callers.size() && i < kCallers; ++i) {
    const auto [function, total] = callers[i];
    if (total < kLeastPartOfSite * all) break;
    Line line{
        {{"  called by "},
         function == kNoParent ? Span{"(none: outermost)"} : symbol(short_name(a.samples.functions[function]), 60)},
        human_share(total / all)};
    cell.lines.push_back(std::move(line));
  }
  return cell;
}

// The MPI and POSIX calls with most time.
void add_summary_of_calls(const Application& a, std::vector<Block>& to) {
  const Facts facts(a);
  std::vector<const FunctionProfile*> list;
  for (const FunctionProfile& f : a.mpi) list.push_back(&f);
  for (const FunctionProfile& f : a.posix) list.push_back(&f);
  std::stable_sort(list.begin(), list.end(), [](auto x, auto y) { return x->seconds > y->seconds; });
  if (list.size() > kSummaryCalls) list.resize(kSummaryCalls);
  if (list.empty()) return;
  Table table{"", {left("call", 28), "calls", "time", "share", "mean", "longest", "bytes", "per call"}, {}};
  for (const FunctionProfile* f : list) {
    table.rows.push_back({code(f->function), count(f->calls), seconds(f->seconds), share(facts.share(f->seconds)),
                          mean_seconds(*f), seconds(f->max_seconds), moved(*f), moved_per_call(*f)});
  }
  to.push_back(std::move(table));
}

Table function_table(const std::vector<FunctionProfile>& functions, const Application& a, bool posix) {
  const Facts facts(a);
  Table table{"",
              {left(posix ? "Function" : "MPI function", 24), "Calls", "Time", "Share", "Mean", "Shortest", "Longest",
               posix ? "Read" : "Bytes", posix ? "Written" : "per call"},
              {}};
  for (const FunctionProfile& f : functions) {
    if (table.rows.size() >= kFunctionsInAnyCase && facts.share(f.seconds) < kLeastFunctionShare) break;
    table.rows.push_back({code(f.function), count(f.calls), seconds(f.seconds), share(facts.share(f.seconds)),
                          mean_seconds(f), seconds(f.min_seconds), seconds(f.max_seconds),
                          !posix                  ? moved(f)
                          : f.bytes_received != 0 ? Cell{bytes(f.bytes_received)}
                                                  : Cell{},
                          !posix              ? moved_per_call(f)
                          : f.bytes_sent != 0 ? Cell{bytes(f.bytes_sent)}
                                              : Cell{}});
  }
  return table;
}

}  // namespace

Section mpi_profile(const Application& a) {
  Section section{.title = "MPI profile"};
  add_summary_of_calls(a, section.summary);
  if (a.mpi.empty()) {
    section.blocks.push_back(Paragraph{"No MPI call was recorded."});
    return section;
  }
  section.blocks = {
      note(
          "Time is summed over ranks and threads. Share is the part of the time of all ranks. Bytes are bytes sent, or "
          "bytes received by calls that send none."),
      function_table(a.mpi, a, false)};
  add_rest(section.blocks, a.mpi.size(), std::get<Table>(section.blocks.back()).rows.size(), "functions", "calls");
  add_figure(section, message_sizes_figure(a), "message sizes (at most two different sizes)");
  return section;
}

Section call_sites(const Application& a) {
  Section section{.title = "Call sites"};
  if (a.call_sites.empty()) {
    section.blocks.push_back(Paragraph{"No call site was recorded."});
    return section;
  }
  const Facts facts(a);
  Table table{"", {left("Called from", kSiteWidth), left("Function", 22), "Calls", "Time", "Share", "Ranks"}, {}};
  Table summary{"", {left("called from", 48), left("call", 22), "calls", "time", "share"}, {}};
  for (const CallSite& s : a.call_sites) {
    if (table.rows.size() == kSites) break;
    if (table.rows.size() >= kSitesInAnyCase && facts.share(s.seconds) < kLeastSiteShare) break;
    const std::string where = s.source_file.empty() ? fmt::format("{}+{:#x}", base_name(s.module), s.offset)
                                                    : fmt::format("{}:{}", base_name(s.source_file), s.line);
    table.rows.push_back({with_callers(a, s, name_over_place(s.symbol, where, kSiteWidth, 160)), code(s.function),
                          count(s.calls), seconds(s.seconds), share(facts.share(s.seconds)), exact(s.ranks)});
    if (summary.rows.size() < kSummarySites) {
      summary.rows.push_back({symbol(name_of(s), 48), code(s.function), count(s.calls), seconds(s.seconds),
                              share(facts.share(s.seconds))});
    }
  }
  section.summary.push_back(std::move(summary));
  const std::size_t shown = table.rows.size();
  section.blocks.push_back(std::move(table));
  add_rest(section.blocks, a.call_sites.size(), shown, "call sites", "sites");
  return section;
}

Section overlap(const Application& a) {
  Section section{.title = "Overlap"};
  std::map<std::pair<std::string, std::string>, CallSite> sums;  // by calling and called function
  for (const CallSite& s : a.call_sites) {
    if (s.operations == 0) continue;
    const auto [place, added] = sums.try_emplace({s.symbol, s.function}, s);
    if (added) continue;
    place->second.operations += s.operations;
    place->second.flight_seconds += s.flight_seconds;
    place->second.waited_seconds += s.waited_seconds;
  }
  std::vector<const CallSite*> sites;
  for (const auto& [key, sum] : sums) sites.push_back(&sum);
  if (sites.empty()) return section;
  std::stable_sort(sites.begin(), sites.end(), [](auto x, auto y) { return x->waited_seconds > y->waited_seconds; });
  Table table{"",
              {left("Started in", kSiteWidth),
               left("by", 18),
               "Operations",
               {"mean in progress", true, 8},
               {"of it waited", true, 8},
               "Overlap"},
              {}};
  for (const CallSite* s : sites) {
    if (table.rows.size() == kOverlapSites) break;
    const auto n = static_cast<double>(s->operations);
    table.rows.push_back({symbol(s->symbol.empty() ? name_of(*s) : without_parameters(s->symbol), 80),
                          code(s->function), count(s->operations), seconds(s->flight_seconds / n),
                          seconds(s->waited_seconds / n),
                          share(s->flight_seconds > 0 ? 1 - s->waited_seconds / s->flight_seconds : 0)});
  }
  const std::size_t shown = table.rows.size();
  section.blocks = {
      note(
          "A non-blocking operation is in progress from its starting call to the end of its completing call. Waited is "
          "the time in the completing call. Overlap is the share before that call, in which the rank could do other "
          "work."),
      std::move(table)};
  add_rest(section.blocks, sites.size(), shown, "functions");
  return section;
}

Section file_io(const Application& a) {
  Section section{.title = "File I/O"};
  std::string text;
  for (std::size_t i = 0; i < std::min(a.files.size(), kSummaryFiles); ++i) {
    const FileProfile& f = a.files[i];
    text += fmt::format("{} {} {} read, {} written, {}", i == 0 ? "Files:" : " ·", code(base_name(f.path), 30).text,
                        shown(bytes(f.bytes_read)), shown(bytes(f.bytes_written)), human_seconds(f.seconds));
  }
  if (!text.empty()) section.summary.push_back(Paragraph{text});
  if (a.posix.empty()) {
    section.left_out.push_back("file I/O (no POSIX call was recorded; MPI-IO is in the MPI profile)");
    return section;
  }
  section.blocks = {note("POSIX calls of the program, without calls made by MPI or by this tool."),
                    function_table(a.posix, a, true)};
  add_rest(section.blocks, a.posix.size(), std::get<Table>(section.blocks.back()).rows.size(), "functions", "calls");
  const auto used_by = [&](std::uint32_t ranks) {
    return std::ranges::count_if(a.files, [&](const auto& f) { return f.ranks == ranks && !sums_several_files(f); });
  };
  if (a.ranks > 1 && a.files.size() > 1) {
    section.blocks.push_back(Paragraph{
        fmt::format("{}{} of {} are used by one rank each, {} by all ranks. Order refers to the accesses of each rank.",
                    std::ranges::any_of(a.files, sums_several_files) ? "At least " : "", used_by(1),
                    number_of_files(a.files), used_by(a.ranks))});
  }
  Table table{"",
              {left("File", 28), "Ranks", "Opens", "Calls", "Read", "Written", "Time", left("Order", 11),
               left("Usual size", 13)},
              {}};
  for (std::size_t i = 0; i < std::min(kFiles, a.files.size()); ++i) {
    const FileProfile& f = a.files[i];
    table.rows.push_back({code(f.path, 160), exact(f.ranks), count(f.opens), count(f.calls),
                          f.bytes_read != 0 ? Cell{bytes(f.bytes_read)} : Cell{},
                          f.bytes_written != 0 ? Cell{bytes(f.bytes_written)} : Cell{}, seconds(f.seconds),
                          access_order(f), usual_size(f)});
  }
  if (!table.rows.empty()) section.blocks.push_back(std::move(table));
  add_rest(section.blocks, a.files.size(), kFiles, "files", "files");
  return section;
}

}  // namespace ardoise::reports
