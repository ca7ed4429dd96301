// The facts that rules share, and the order of findings; see findings.hpp.
#include "reports/findings/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "reports/text/utf8.hpp"

namespace ardoise::reports {

namespace {

double total(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }

double seconds_of(const std::vector<FunctionProfile>& list) {
  return std::accumulate(list.begin(), list.end(), 0.0,
                         [](double s, const FunctionProfile& f) { return s + f.seconds; });
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
  const bool plain = bracket != std::string::npos && symbol[0] != '(' &&
                     symbol.find("(anonymous") == std::string::npos && symbol.find("operator()") == std::string::npos;
  return plain ? symbol.substr(0, bracket) : symbol;
}

std::string name_of(const CallSite& site) {
  const std::string place =
      site.source_file.empty() ? "" : fmt::format("{}:{}", base_name(site.source_file), site.line);
  if (site.symbol.empty()) {
    if (!place.empty()) return place;
    return site.module.empty() ? "unknown place" : fmt::format("{}+{:#x}", base_name(site.module), site.offset);
  }
  const std::string symbol = without_parameters(site.symbol);
  return place.empty() ? symbol : fmt::format("{} ({})", symbol, place);
}

std::string Facts::main_call_site(const std::string& function) const {
  const CallSite* best = nullptr;
  for (const CallSite& site : app.call_sites) {
    const bool resolved = !site.symbol.empty() || !site.source_file.empty();
    if (site.function == function && resolved && (best == nullptr || site.seconds > best->seconds)) best = &site;
  }
  return best == nullptr ? "" : in_sentence(name_of(*best));
}

std::vector<Finding> findings_of(const Application& application) {
  const Facts facts(application);
  std::vector<Finding> out;
  find_quality(facts, out);
  find_time(facts, out);
  find_communication(facts, out);
  find_io(facts, out);
  find_samples(facts, out);
  std::stable_sort(out.begin(), out.end(), [](const Finding& a, const Finding& b) {
    return a.severity != b.severity ? a.severity > b.severity : a.weight > b.weight;
  });
  return out;
}

}  // namespace ardoise::reports
