// Facts shared by the rules, and the order of findings; see findings.hpp.
#include "reports/findings/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <numeric>

#include "reports/findings/extra_work.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/text/units.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::reports {

namespace {

double total(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }

bool is_one_of(const Finding& finding, std::initializer_list<const char*> ids) {
  return std::any_of(ids.begin(), ids.end(), [&](const char* id) { return finding.id == id; });
}

double seconds_of(const std::vector<FunctionProfile>& list) {
  return std::accumulate(list.begin(), list.end(), 0.0,
                         [](double s, const FunctionProfile& f) { return s + f.seconds; });
}

// Findings that give amount and location, but no cause.
bool is_general(const Finding& f) {
  return is_one_of(f, {"dominating_call", "mpi_cause", "communication_efficiency", "collective_waiting",
                       "collective_transfer", "late_messages"});
}

// If another finding of high severity names a cause, general findings become notes.
void demote_general_findings(std::vector<Finding>& out) {
  const bool explained = std::any_of(out.begin(), out.end(), [](const Finding& f) {
    return f.severity == Severity::high &&
           is_one_of(f, {"load_imbalance", "serial_chain", "small_messages", "small_io", "shared_input", "no_overlap",
                         "idle_threads", "leaked_communicators"});
  });
  if (!explained) return;
  for (Finding& f : out) {
    if (!is_general(f)) continue;
    f.severity = Severity::note;
    f.advice.clear();
  }
}

// If ranks wait for processors, durations of calls and a small imbalance say little about the program.
void drop_unreliable_findings(const Facts& facts, std::vector<Finding>& out) {
  if (!facts.crowded()) return;
  const bool sure = extra_work(facts.app, facts.efficiency.slowest_rank).has_value();
  std::erase_if(
      out, [&](const Finding& f) { return f.id == "communication_efficiency" || (f.id == "load_imbalance" && !sure); });
  for (Finding& f : out) {
    if (is_general(f)) f.severity = Severity::note;
  }
  const double share = facts.share_without_processor();
  out.push_back(
      {"crowded",
       Severity::note,
       share,
       fmt::format("Ranks waited for a processor during {} of the time in which they could compute: durations "
                   "of calls and small differences between ranks are unreliable.",
                   human_share(share)),
       "Give every process a processor of its own.",
       {{"share", share}}});
}

}  // namespace

const char* to_string(Severity severity) {
  return severity == Severity::high ? "high" : severity == Severity::medium ? "medium" : "note";
}

Facts::Facts(const Application& application) : app(application), efficiency(efficiency_of(application)) {
  rank_seconds = app.per_rank.wall_seconds.empty() ? app.wall_seconds * app.ranks : total(app.per_rank.wall_seconds);
  mpi_seconds = app.per_rank.mpi_seconds.empty() ? seconds_of(app.mpi) : total(app.per_rank.mpi_seconds);
  io_seconds = app.per_rank.io_seconds.empty() ? seconds_of(app.posix) : total(app.per_rank.io_seconds);
  for (const FunctionProfile& f : app.mpi) mpi_calls += static_cast<double>(f.calls);
}

double Facts::share(double seconds) const {
  return rank_seconds > 0 ? std::clamp(seconds / rank_seconds, 0.0, 1.0) : 0;
}

double Facts::share_without_processor() const {
  const double ready = efficiency.computing_share + efficiency.waiting_share;
  return ready > 0 ? efficiency.waiting_share / ready : 0;
}

const DensityMap* Facts::density(const std::string& function) const {
  const auto found =
      std::find_if(app.density.begin(), app.density.end(), [&](const DensityMap& d) { return d.function == function; });
  return found == app.density.end() ? nullptr : &*found;
}

std::string base_name(const std::string& path) {
  const std::size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return path;
  const std::size_t slash = path.rfind('/', end), begin = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(begin, end + 1 - begin);
}

std::string in_sentence(const std::string& name) { return shortened(printable(name), 60); }

std::string without_parameters(const std::string& symbol) {
  const std::size_t bracket = symbol.find('(', 1);
  const std::size_t region = symbol.rfind(" [OpenMP");
  const bool plain = bracket != std::string::npos && symbol[0] != '(' && symbol[0] != '[' &&
                     symbol.find("(anonymous") == std::string::npos && symbol.find("operator()") == std::string::npos;
  if (!plain) return symbol;
  return symbol.substr(0, bracket) + (region == std::string::npos ? "" : symbol.substr(region));
}

std::string name_of_place(const std::string& symbol, const std::string& source_file, std::uint32_t line,
                          const std::string& module, std::uint64_t offset) {
  const std::string place = source_file.empty() ? "" : fmt::format("{}:{}", base_name(source_file), line);
  if (symbol.empty()) {
    if (!place.empty()) return place;
    return module.empty() ? "unknown place" : fmt::format("{}+{:#x}", base_name(module), offset);
  }
  const std::string name = without_parameters(symbol);
  return place.empty() ? name : fmt::format("{} ({})", name, place);
}

std::string Facts::main_call_site(const std::string& function) const {
  const CallSite* best = nullptr;
  for (const CallSite& site : app.call_sites) {
    const bool has_place = !site.symbol.empty() || !site.source_file.empty() || !site.module.empty();
    if (site.function == function && has_place && (best == nullptr || site.seconds > best->seconds)) best = &site;
  }
  return best == nullptr ? "" : in_sentence(name_of(*best)) + callers_in_sentence(app, *best);
}

namespace {

// These rules serve profiles whose critical path is not known: they see less, and have no ceilings.
bool is_without_path(const Finding& finding) {
  return is_one_of(finding, {"time_shares",
                             "load_imbalance",
                             "communication_efficiency",
                             "dominating_call",
                             "rank_clusters",
                             "serial_chain",
                             "collective_waiting",
                             "collective_transfer",
                             "late_messages",
                             "small_messages",
                             "polling",
                             "hot_rank",
                             "heavy_edge",
                             "no_overlap",
                             "one_rank_io",
                             "small_io",
                             "shared_input",
                             "reopened_file",
                             "strided_io",
                             "random_io",
                             "metadata_io",
                             "allocation",
                             "copying",
                             "locking",
                             "formatting",
                             "kernel_work",
                             "own_work",
                             "idle_threads",
                             "uneven_region",
                             "threads_share_processors",
                             "hot_function",
                             "mpi_cause"});
}

bool is_of_rounds(const Finding& finding) {
  return is_one_of(finding, {"slow_iterations", "iterations_change", "iterations_trend", "rank_drift"});
}

}  // namespace

std::vector<Finding> findings_of(const Application& application) {
  const Facts facts(application);
  std::vector<Finding> out;
  find_ending(facts, out);
  find_quality(facts, out);
  find_time(facts, out);
  find_work(facts, out);
  find_threads(facts, out);
  find_communication(facts, out);
  find_calls(facts, out);
  find_io(facts, out);
  find_memory(facts, out);
  find_samples(facts, out);
  find_iterations(facts, out);
  find_program(facts, out);
  std::vector<Finding> losses;
  if (find_losses(facts, losses)) {
    std::erase_if(out, is_without_path);
    // Rounds that differ are no losses of their own.
    for (Finding& each : out) {
      if (is_of_rounds(each)) each.severity = Severity::note;
    }
    std::ranges::move(losses, std::back_inserter(out));
  } else {
    drop_unreliable_findings(facts, out);
    demote_general_findings(out);
  }
  std::stable_sort(out.begin(), out.end(), [](const Finding& a, const Finding& b) {
    return a.severity != b.severity ? a.severity > b.severity : a.weight > b.weight;
  });
  return out;
}

}  // namespace ardoise::reports
