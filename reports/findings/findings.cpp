// Facts shared by the rules, and the order of findings; see findings.hpp.
#include "reports/findings/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "reports/findings/sample_view.hpp"
#include "reports/text/units.hpp"
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
}

double Facts::share(double seconds) const {
  return rank_seconds > 0 ? std::clamp(seconds / rank_seconds, 0.0, 1.0) : 0;
}

std::string Facts::mpi_share_in_words() const {
  double seconds = 0;
  for (const FunctionProfile& f : app.mpi) seconds += f.category == "io" ? f.seconds : 0;
  const double mpi = mpi_share(), files = std::min(share(seconds), mpi);
  constexpr double kMentioned = 0.005;
  return files < kMentioned ? human_share(mpi) : fmt::format("{} ({} in MPI-IO)", human_share(mpi), human_share(files));
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

std::vector<Finding> findings_of(const Application& application) {
  const Facts facts(application);
  std::vector<Finding> out;
  find_ending(facts, out);
  find_quality(facts, out);
  find_calls(facts, out);
  find_memory(facts, out);
  find_iterations(facts, out);
  find_program(facts, out);
  find_losses(facts, out);
  if (std::ranges::find(out, "cpu.growing", &Finding::id) != out.end())  // says the same
    std::erase_if(out, [](const Finding& each) { return each.id == "iterations_trend"; });
  std::stable_sort(out.begin(), out.end(), [](const Finding& a, const Finding& b) {
    return a.severity != b.severity ? a.severity > b.severity : a.weight > b.weight;
  });
  return out;
}

}  // namespace ardoise::reports
