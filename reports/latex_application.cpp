// The chapter of one application; each section is one function, a section without data says so in one sentence.
#include <fmt/format.h>

#include <algorithm>

#include "reports/efficiency.hpp"
#include "reports/extensions.hpp"
#include "reports/findings.hpp"
#include "reports/latex_report.hpp"
#include "reports/latex_text.hpp"
#include "reports/units.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kSites = 40, kEdges = 15, kFiles = 25, kCommunicators = 15, kExtensionRows = 60;
// Call sites beyond the first few are shown when their share of the time is worth a line.
constexpr std::size_t kSitesInAnyCase = 8;
constexpr double kLeastSiteShare = 0.0005;

std::string number(double v, std::string (*format)(double)) { return latex(format(v)); }
double real(std::uint64_t v) { return static_cast<double>(v); }

// Two small pictures in one float.
std::string pair(const Figure& a, const Figure& b, const std::string& caption) {
  if (a.file.empty() || b.file.empty()) return latex_figure(a) + latex_figure(b);
  return fmt::format(
      "\\begin{{figurehere}}\\includegraphics[width={0:.2f}\\linewidth]{{figures/{1}}}\\hfill"
      "\\includegraphics[width={0:.2f}\\linewidth]{{figures/{2}}}\\captionof{{figure}}{{{3}}}\\end{{figurehere}}\n",
      a.width, a.file, b.file, latex(caption));
}

// "… and 12 more" below a table that was cut.
std::string rest(std::size_t all, std::size_t shown, const std::string& what) {
  return all > shown ? fmt::format("{{\\small\\itshape {} more {} in profile.json.}}\\par\n",
                                   with_separators(all - shown), what)
                     : "";
}

std::string overview(const Application& a, const ApplicationFigures& figures) {
  const Facts facts(a);
  const Efficiency& e = facts.efficiency;
  std::string out =
      "\\section{Overview}\n{\\small\\begin{tabular}{@{}L{34mm}L{\\dimexpr\\linewidth-34mm-4\\tabcolsep}@{}}\n";
  const auto fact = [&out](const char* name, const std::string& value) {
    out += fmt::format("\\fact{{{}}}{{{}}}\n", name, value);
  };
  if (!a.command.empty()) fact("Command", latex_code(a.command));
  if (!a.working_directory.empty()) fact("Folder", latex_code(a.working_directory, 200));
  fact("Ranks", latex(counted(a.ranks, "rank") + (a.hosts.empty() ? "" : " on " + counted(a.hosts.size(), "host")) +
                      (a.threads > 1 ? fmt::format(", up to {} recording threads", a.threads) : "")));
  if (!a.hosts.empty())
    fact("Hosts",
         latex_code(a.hosts.front(), 60) + (a.hosts.size() > 1 ? " \\U{2026} " + latex_code(a.hosts.back(), 60) : ""));
  if (!a.thread_level.empty()) fact("Thread level", latex_code(a.thread_level, 60));
  fact("Wall time", latex(fmt::format("{}, from MPI_Init to MPI_Finalize of the longest rank; MPI_Init itself {}; "
                                      "started {} after the first program",
                                      human_seconds(a.wall_seconds), human_seconds(a.init_seconds),
                                      human_seconds(a.start_seconds))));
  if (facts.rank_seconds > 0) {
    fact("Time of all ranks",
         latex(fmt::format("{}: MPI {} ({}), file I/O {} ({})", human_seconds(facts.rank_seconds),
                           human_seconds(facts.mpi_seconds), human_share(facts.share(facts.mpi_seconds)),
                           human_seconds(facts.io_seconds), human_share(facts.share(facts.io_seconds)))));
  }
  if (e.known && a.ranks > 1) {
    fact("Efficiency", latex(fmt::format("parallel {:.2f} = load balance {:.2f} × communication {:.2f}", e.parallel,
                                         e.load_balance, e.communication)));
  }
  out += "\\end{tabular}}\\par\\vspace{3mm}\n" + latex_findings(a, 100, true);
  if (e.known && a.ranks > 1) {
    out +=
        "{\\small Useful time is time outside MPI. Load balance is its mean over its maximum, communication efficiency "
        "its maximum over the wall "
        "time (both as POP defines them); above 0.8 is regarded as acceptable.}\\par\n";
  }
  return out + latex_figure(figures.ranks);
}

std::string functions(const std::vector<FunctionProfile>& list, const Facts& facts, bool posix) {
  std::vector<std::vector<std::string>> rows;
  for (const FunctionProfile& f : list) {
    const bool moves = f.bytes != 0 && f.calls != 0;
    std::vector<std::string> row{latex_code(f.function, 60),
                                 number(real(f.calls), human_count),
                                 number(f.seconds, human_seconds),
                                 number(facts.share(f.seconds), human_share),
                                 number(f.calls == 0 ? 0 : f.seconds / real(f.calls), human_seconds),
                                 number(f.min_seconds, human_seconds),
                                 number(f.max_seconds, human_seconds)};
    if (posix) {
      row.push_back(f.bytes_received != 0 ? number(real(f.bytes_received), human_bytes) : "");
      row.push_back(f.bytes_sent != 0 ? number(real(f.bytes_sent), human_bytes) : "");
    } else {
      row.push_back(moves ? number(real(f.bytes), human_bytes) : "");
      row.push_back(moves ? number(real(f.bytes) / real(f.calls), human_bytes) : "");
    }
    rows.push_back(std::move(row));
  }
  return latex_table("L{35mm}rrrrrrrr",
                     {posix ? "Function" : "MPI function", "Calls", "Time", "Share", "Mean", "Shortest", "Longest",
                      posix ? "Read" : "Bytes", posix ? "Written" : "per call"},
                     rows);
}

std::string mpi_profile(const Application& a, const ApplicationFigures& figures) {
  std::string out = "\\need{9}\\section{MPI profile}\n";
  if (a.mpi.empty()) return out + "No MPI call was recorded.\n";
  out +=
      "{\\small Time is summed over ranks and threads; share is of the time of all ranks. Bytes are what a call sent, "
      "or what it received where it sent nothing.}\\par\n";
  return out + functions(a.mpi, Facts(a), false) + latex_figure(figures.sizes);
}

std::string call_sites(const Application& a) {
  std::string out = "\\need{9}\\section{Call sites}\n";
  if (a.call_sites.empty()) return out + "No call site was recorded.\n";
  const Facts facts(a);
  std::vector<std::vector<std::string>> rows;
  std::size_t shown = 0;
  for (; shown < std::min(kSites, a.call_sites.size()); ++shown) {
    const CallSite& s = a.call_sites[shown];
    if (shown >= kSitesInAnyCase && facts.share(s.seconds) < kLeastSiteShare) break;
    const std::string place = s.source_file.empty() ? fmt::format("{}+{:#x}", base_name(s.module), s.offset)
                                                    : fmt::format("{}:{}", base_name(s.source_file), s.line);
    const std::string symbol = s.symbol.empty() ? "" : latex_code(s.symbol, 160) + "\\newline ";
    rows.push_back({symbol + "{\\footnotesize\\color{note}" + latex_code(place, 120) + "}", latex_code(s.function, 60),
                    number(real(s.calls), human_count), number(s.seconds, human_seconds),
                    number(facts.share(s.seconds), human_share), with_separators(s.ranks)});
  }
  return out + latex_table("L{66mm}L{34mm}rrrr", {"Called from", "Function", "Calls", "Time", "Share", "Ranks"}, rows) +
         rest(a.call_sites.size(), shown, "call sites");
}

std::string heaviest_edges(const Application& a) {
  std::vector<const Edge*> list;
  for (const Edge& e : a.edges) list.push_back(&e);
  const std::size_t shown = std::min(kEdges, list.size());
  std::partial_sort(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(shown), list.end(),
                    [](const Edge* x, const Edge* y) {
                      return x->bytes != y->bytes ? x->bytes > y->bytes
                                                  : std::pair(x->source, x->target) < std::pair(y->source, y->target);
                    });
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < shown; ++i) {
    const Edge& e = *list[i];
    rows.push_back({with_separators(e.source), with_separators(e.target), number(real(e.messages), human_count),
                    number(real(e.bytes), human_bytes),
                    number(e.messages == 0 ? 0 : real(e.bytes) / real(e.messages), human_bytes),
                    number(e.seconds, human_seconds)});
  }
  return "\\need{9}\\section{Heaviest connections}\n" +
         latex_table("rrrrrr", {"From rank", "To rank", "Messages", "Bytes", "per message", "Time"}, rows) +
         rest(list.size(), shown, "connections");
}

std::string communication(const Application& a, const ApplicationFigures& f) {
  std::string out =
      fmt::format("\\need{{{}}}\\section{{Communication}}\n", a.edges.empty() ? 8 : 38);  // with the matrix
  if (a.edges.empty()) {
    out += "No message from one rank to another was recorded.\n";
  } else {
    out += fmt::format("Point-to-point, one-sided and neighbourhood messages on {}, counted once, at the sender.\n",
                       counted(a.edges.size(), "connection"));
    out += latex_figure(f.matrix_bytes) +
           pair(f.matrix_messages, f.matrix_seconds, "The same matrix by messages and by time in the sending calls.");
    if (f.graphs.size() == 3)
      out += latex_figure(f.graphs[0]) +
             pair(f.graphs[1], f.graphs[2], "The same graph by messages and by time in the sending calls.");
    out += heaviest_edges(a);
  }
  if (a.communicators.empty()) return out;
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < std::min(kCommunicators, a.communicators.size()); ++i) {
    const Communicator& c = a.communicators[i];
    rows.push_back(
        {c.name.empty() ? "unnamed" : latex_code(c.name, 100), with_separators(c.size), with_separators(c.count)});
  }
  return out + "\\need{7}\\section{Communicators}\n" + latex_table("L{90mm}rr", {"Name", "Ranks", "How many"}, rows) +
         rest(a.communicators.size(), kCommunicators, "communicators");
}

std::string density(const ApplicationFigures& f) {
  if (f.density.empty()) return {};
  std::string out =
      "\\need{46}\\section{Density maps}\nEach map has one cell a rank; where a map is not of one colour, ranks do "
      "different things.\n";
  for (const Figure& page : f.density) out += latex_figure(page);
  return out;
}

std::string io(const Application& a) {
  std::string out = "\\need{14}\\section{File I/O}\n";
  if (a.posix.empty()) return out + "No POSIX I/O call of the program was recorded; MPI-IO is in the MPI profile.\n";
  out += "{\\small POSIX calls of the program itself; what MPI or this tool does inside is left out.}\\par\n" +
         functions(a.posix, Facts(a), true);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < std::min(kFiles, a.files.size()); ++i) {
    const FileProfile& f = a.files[i];
    rows.push_back({latex_code(f.path, 160), with_separators(f.ranks), number(real(f.opens), human_count),
                    number(real(f.calls), human_count), number(real(f.bytes_read), human_bytes),
                    number(real(f.bytes_written), human_bytes), number(f.seconds, human_seconds)});
  }
  if (!rows.empty())
    out += latex_table("L{66mm}rrrrrr", {"File", "Ranks", "Opens", "Calls", "Read", "Written", "Time"}, rows) +
           rest(a.files.size(), kFiles, "files");
  return out;
}

std::string extensions(const Application& a) {
  std::string out;
  for (const ExtensionTable& table : extension_tables(a.extensions)) {
    out += fmt::format("\\need{{7}}\\section{{\\texorpdfstring{{{}}}{{{}}}}}\n{{\\small From the plug-in {}.}}\\par\n",
                       latex(table.title.substr(0, 200)), latex_bookmark(table.title), latex_code(table.plugin, 80));
    const std::size_t columns = std::min<std::size_t>(table.columns.size(), 8);
    std::string spec;
    std::vector<std::string> heads;
    for (std::size_t c = 0; c < columns; ++c) {
      spec += fmt::format("{}{{\\dimexpr{:.3f}\\linewidth-2\\tabcolsep}}", table.numeric[c] ? "R" : "L",
                          1.0 / static_cast<double>(columns));
      heads.push_back(latex(table.columns[c]));
    }
    std::vector<std::vector<std::string>> rows;
    for (std::size_t r = 0; r < std::min(kExtensionRows, table.rows.size()); ++r) {
      std::vector<std::string>& row = rows.emplace_back();
      for (std::size_t c = 0; c < columns; ++c) row.push_back(latex(table.rows[r][c].substr(0, 1000)));
    }
    out += latex_table(spec, heads, rows) + rest(table.rows.size(), kExtensionRows, "rows");
  }
  return out;
}

}  // namespace

std::string latex_application(const Application& a, const ApplicationFigures& f) {
  std::string out = latex_chapter(a.name.empty() ? "program" : a.name);
  out += overview(a, f) + latex_samples(a, f) + mpi_profile(a, f) + call_sites(a) + communication(a, f) + density(f);
  if (!f.temporal.file.empty()) out += "\\need{44}\\section{Over time}\n" + latex_figure(f.temporal);
  return out + io(a) + extensions(a);
}

ApplicationFigures draw_figures(const Application& app, FigureFolder& folder) {
  ApplicationFigures f;
  f.ranks = draw_rank_times(app, folder);
  f.sizes = draw_message_sizes(app, folder);
  f.temporal = draw_temporal(app, folder);
  f.matrix_bytes = draw_matrix(app, Weight::bytes, false, folder);
  f.matrix_messages = draw_matrix(app, Weight::calls, true, folder);
  f.matrix_seconds = draw_matrix(app, Weight::seconds, true, folder);
  f.graphs = draw_graphs(app, folder);
  f.density = draw_density(app, folder);
  f.flame = draw_flame(app, folder);
  f.functions_over_time = draw_functions_over_time(app, folder);
  f.sampling_rate = draw_sampling_rate(app, folder);
  return f;
}

}  // namespace ardoise::reports
