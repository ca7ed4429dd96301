// See summary.hpp. Each part of a program's summary is one function; an empty part leaves no trace.
#include "reports/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/efficiency.hpp"
#include "reports/extensions.hpp"
#include "reports/findings.hpp"
#include "reports/sample_view.hpp"
#include "reports/text_table.hpp"
#include "reports/units.hpp"
#include "reports/utf8.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kFindings = 4, kCalls = 6, kSites = 5, kEdges = 3, kFiles = 3, kExtensionRows = 4,
                      kHotFunctions = 4;
constexpr double kLeastShare = 0.01;  // of a hot function: smaller ones are for the report

std::string clean(const std::string& text, std::size_t columns) { return shortened(printable(text), columns); }

std::string heading(const Application& a) {
  const std::string name = clean(a.name.empty() ? "program" : a.name, 40);
  std::string line = fmt::format("── {} ", name);
  const std::size_t used = display_width(line);
  for (std::size_t i = used; i < kWidth; ++i) line += "─";
  return line + "\n";
}

std::string overview(const Application& a) {
  const Facts facts(a);
  std::string out = counted(a.ranks, "rank");
  if (a.hosts.size() > 1) out += fmt::format(" on {}", counted(a.hosts.size(), "host"));
  if (a.threads > 1) out += fmt::format(", up to {} threads", a.threads);
  out += fmt::format(" · wall {}", human_seconds(a.wall_seconds));
  if (facts.rank_seconds > 0) {
    out += fmt::format(" · MPI {} · file I/O {}", human_share(facts.share(facts.mpi_seconds)),
                       human_share(facts.share(facts.io_seconds)));
  }
  if (facts.efficiency.known && a.ranks > 1) {
    out += fmt::format(" · load balance {:.2f} · parallel efficiency {:.2f}", facts.efficiency.load_balance,
                       facts.efficiency.parallel);
  }
  return wrapped(out, "  ", kWidth);
}

std::string findings(const Application& a) {
  std::string out;
  std::vector<Finding> all = findings_of(a);
  std::erase_if(all, [](const Finding& f) { return f.id == "hot_function"; });  // the table of hot functions says it
  for (std::size_t i = 0; i < std::min(all.size(), kFindings); ++i) {
    const char* mark = all[i].severity == Severity::high     ? "  !! "
                       : all[i].severity == Severity::medium ? "  !  "
                                                             : "  ·  ";
    out += wrapped(all[i].advice.empty() ? all[i].text : all[i].text + " → " + all[i].advice, mark, kWidth);
  }
  if (all.size() > kFindings) out += fmt::format("  ·  {} more in the report.\n", all.size() - kFindings);
  return out;
}

std::string calls(const Application& a) {
  const Facts facts(a);
  std::vector<const FunctionProfile*> list;
  for (const FunctionProfile& f : a.mpi) list.push_back(&f);
  for (const FunctionProfile& f : a.posix) list.push_back(&f);
  std::stable_sort(list.begin(), list.end(), [](auto x, auto y) { return x->seconds > y->seconds; });
  if (list.size() > kCalls) list.resize(kCalls);
  if (list.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  for (const FunctionProfile* f : list) {
    const bool moves = f->bytes != 0 && f->calls != 0;
    rows.push_back({f->function, human_count(static_cast<double>(f->calls)), human_seconds(f->seconds),
                    human_share(facts.share(f->seconds)),
                    human_seconds(f->calls == 0 ? 0 : f->seconds / static_cast<double>(f->calls)),
                    human_seconds(f->max_seconds), moves ? human_bytes(static_cast<double>(f->bytes)) : "",
                    moves ? human_bytes(static_cast<double>(f->bytes) / static_cast<double>(f->calls)) : ""});
  }
  return "\n" + text_table({{"call", false, 28},
                            {"calls", true},
                            {"time", true},
                            {"share", true},
                            {"mean", true},
                            {"longest", true},
                            {"bytes", true},
                            {"per call", true}},
                           rows, "  ");
}

std::string hot_functions(const Application& a) {
  const SampleProfile& s = a.samples;
  if (!(s.self > 0)) return {};
  const auto amount = [&](double v) { return s.unit == "seconds" ? human_seconds(v) : human_count(v); };
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < s.functions.size() && rows.size() < kHotFunctions; ++i) {
    const SampledFunction& f = s.functions[i];
    if (!(f.self > 0) || f.self < kLeastShare * s.self) break;
    rows.push_back({name_and_place(s, i), amount(f.self), "± " + amount(f.self_error), human_share(f.self / s.self),
                    amount(f.total)});
  }
  if (rows.empty()) return {};
  // Shares of CPU time are not those of the wall clock in the tables beneath.
  const std::string what = s.clock == "wall" ? "" : s.clock == "cpu" ? " CPU time" : " " + clean(s.clock, 20);
  return "\n" + text_table({{"hot function (sampled" + what + ")", false, 48},
                            {"self", true},
                            {"99 %", true},
                            {"share", true},
                            {"total", true}},
                           rows, "  ");
}

std::string sites(const Application& a) {
  if (a.call_sites.empty()) return {};
  const Facts facts(a);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < std::min(a.call_sites.size(), kSites); ++i) {
    const CallSite& s = a.call_sites[i];
    rows.push_back({name_of(s), s.function, human_count(static_cast<double>(s.calls)), human_seconds(s.seconds),
                    human_share(facts.share(s.seconds))});
  }
  return "\n" +
         text_table({{"called from", false, 48}, {"call", false, 22}, {"calls", true}, {"time", true}, {"share", true}},
                    rows, "  ");
}

std::string edges(const Application& a) {
  if (a.edges.empty()) return {};
  std::vector<const Edge*> list;
  for (const Edge& e : a.edges) list.push_back(&e);
  const std::size_t shown = std::min(list.size(), kEdges);
  std::partial_sort(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(shown), list.end(),
                    [](const Edge* x, const Edge* y) {
                      return x->bytes != y->bytes ? x->bytes > y->bytes
                                                  : std::pair(x->source, x->target) < std::pair(y->source, y->target);
                    });
  std::string text = fmt::format("Heaviest of {}:", counted(list.size(), "connection"));
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("{} rank {} → {}: {} in {}", i == 0 ? "" : " ·", list[i]->source, list[i]->target,
                        human_bytes(static_cast<double>(list[i]->bytes)), counted(list[i]->messages, "message"));
  }
  return "\n" + wrapped(text, "  ", kWidth);
}

std::string files(const Application& a) {
  std::string text;
  for (std::size_t i = 0; i < std::min(a.files.size(), kFiles); ++i) {
    const FileProfile& f = a.files[i];
    text += fmt::format("{} {} {} read, {} written, {}", i == 0 ? "Files:" : " ·", clean(base_name(f.path), 30),
                        human_bytes(static_cast<double>(f.bytes_read)),
                        human_bytes(static_cast<double>(f.bytes_written)), human_seconds(f.seconds));
  }
  return text.empty() ? "" : wrapped(text, "  ", kWidth);
}

std::string quality(const Application& a) {
  const Quality& q = a.quality;
  const Facts facts(a);
  std::uint64_t recorded = 0, dropped = 0, lost = 0;
  for (const Ledger& l : q.ledger) {
    lost += l.lost;
    if (l.record_class == "samples") continue;  // dropped on purpose when the rate falls
    recorded += l.recorded;
    dropped += l.dropped;
  }
  std::string text = fmt::format("Measured: {} recorded, {} dropped, {} lost; {} of {} complete",
                                 counted(recorded, "event"), with_separators(dropped), with_separators(lost),
                                 with_separators(q.ranks_complete), counted(a.ranks, "rank"));
  text += fmt::format("; the tool cost about {} ({}, an estimate)", human_share(facts.share(q.overhead_seconds)),
                      human_seconds(q.overhead_seconds));
  if (q.blocked_seconds > 0) text += fmt::format(", {} of it blocked", human_seconds(q.blocked_seconds));
  text += ".";
  for (std::size_t i = 0; i < std::min<std::size_t>(q.notices.size(), 2); ++i) text += " " + clean(q.notices[i], 160);
  return wrapped(text, "  ", kWidth);
}

std::string extensions(const Application& a) {
  std::string out;
  for (const ExtensionTable& table : extension_tables(a.extensions)) {
    out += "\n  " + clean(table.title, 90) + "\n";
    std::vector<TextColumn> columns;
    for (std::size_t i = 0; i < std::min<std::size_t>(table.columns.size(), 6); ++i) {
      columns.push_back({clean(table.columns[i], 24), table.numeric[i], 24});
    }
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < std::min(table.rows.size(), kExtensionRows); ++i) rows.push_back(table.rows[i]);
    out += text_table(columns, rows, "  ");
    if (table.rows.size() > kExtensionRows)
      out += fmt::format("  {} more in the report.\n", counted(table.rows.size() - kExtensionRows, "row"));
  }
  return out;
}

}  // namespace

std::string summary_text(const Run& run) {
  std::string out =
      fmt::format("Ardoise {}: {}", clean(run.tool_version, 20), counted(run.applications.size(), "program"));
  std::uint64_t ranks = 0;
  for (const Application& a : run.applications) ranks += a.ranks;
  out += fmt::format(", {}", counted(ranks, "rank"));
  if (run.analyzer_ranks != 0) out += fmt::format(", {}", counted(run.analyzer_ranks, "analyzer"));
  if (!run.started.empty()) out += " · " + clean(run.started, 30);
  out += "\n";
  for (const std::string& notice : run.notices) out += wrapped(clean(notice, 400), "Note: ", kWidth);
  if (run.applications.empty()) out += "No program delivered any data.\n";
  for (const Application& a : run.applications) {
    out += "\n" + heading(a) + overview(a);
    if (!a.command.empty()) out += "  " + clean(a.command, kWidth - 2) + "\n";
    out += "\n" + findings(a) + hot_functions(a) + calls(a) + sites(a) + edges(a) + files(a) + extensions(a) + "\n" +
           quality(a);
  }
  return out;
}

}  // namespace ardoise::reports
