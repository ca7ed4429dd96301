#include "knowledge_sources/plugins/waits/path_profile.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "knowledge_sources/calls/functions.hpp"
#include "knowledge_sources/plugins/waits/function_delays.hpp"

namespace ardoise::knowledge_sources {
namespace {

struct PathSums {
  double ns = 0, squares = 0;             // squares: of the ns of each stretch that counts as one draw
  std::map<std::uint32_t, double> ranks;  // ns
  std::map<std::uint32_t, double> lines;  // ns, by line of the tree
};

// Key of a part.
struct What {
  Activity::Kind kind;
  std::uint32_t function;   // kInMpi: of MPI; kSampled: of the tree
  std::uint32_t call_site;  // kInMpi
  friend constexpr auto operator<=>(const What&, const What&) = default;
};

class PathParts {
 public:
  // timelines: by rank of the program, as wide as the path's.
  PathParts(const CriticalPath::Path& path, const ProgramRanks& program,
            std::span<const GridValues<Activity>> timelines, PlaceNodes& places)
      : path_(path), program_(program), timelines_(timelines), places_(places), points_(program.ranks) {}

  [[nodiscard]] std::map<What, PathSums> parts() {
    count_points();
    for (std::uint32_t rank = 0; rank < points_.size(); ++rank) {
      const std::uint64_t ns = path_.ns_by_rank[program_.first + rank];
      if (ns != 0) add_rank(rank, static_cast<double>(ns));
    }
    return std::move(parts_);
  }

 private:
  void count_points() {
    for (std::uint64_t slot = 0; slot < path_.rank_at.size(); ++slot) {
      const std::uint32_t rank = path_.rank_at.at(slot);
      if (rank != 0 && program_.has(rank - 1)) points_[rank - 1 - program_.first].push_back(slot);
    }
  }

  void add_rank(std::uint32_t rank, double ns) {
    const auto& slots = points_[rank];
    if (slots.empty()) return add({Activity::kOther, 0, 0}, rank, kNoLine, ns);
    const double each = ns / static_cast<double>(slots.size());
    std::vector<PlaceNodes::Where> where;
    for (std::size_t first = 0; first < slots.size();) {
      const Activity activity = timelines_[rank].at(slots[first]);
      std::size_t last = first + 1;
      while (last < slots.size() && timelines_[rank].at(slots[last]) == activity) ++last;
      const double all = each * static_cast<double>(last - first);
      first = last;
      if (activity.kind == Activity::kInMpi) {
        add({Activity::kInMpi, activity.number, activity.where}, rank, kNoLine, all, each);
      } else if (activity.kind == Activity::kSampled) {
        if (where.empty()) where = places_.of_rank(rank);
        const auto& at = where[activity.where < where.size() ? activity.where : 0];
        add({Activity::kSampled, places_.tree().nodes()[at.node].function, 0}, rank, at.line, all, all);
      } else {
        add({Activity::kOther, 0, 0}, rank, kNoLine, all, each);
      }
    }
  }
  void add(const What& what, std::uint32_t rank, std::uint32_t line, double ns, double drawn = 0) {
    PathSums& part = parts_[what];
    part.ns += ns;
    part.squares += drawn * drawn;
    part.ranks[rank] += ns;
    if (line != kNoLine) part.lines[line] += ns;
  }

  const CriticalPath::Path& path_;
  const ProgramRanks& program_;
  std::span<const GridValues<Activity>> timelines_;
  PlaceNodes& places_;
  std::vector<std::vector<std::uint64_t>> points_;  // by rank, on the path
  std::map<What, PathSums> parts_;
};

reports::PathPart named(const What& what, const PathSums& part, const ContextTree& tree, const Resolver& resolver) {
  reports::PathPart result;
  if (what.kind == Activity::kInMpi) {
    const Location& location = resolver.call_site(what.call_site);
    result.kind = "mpi";
    result.function = function_info(instrument::PackClass::kMpi, what.function).name;
    result.symbol = location.symbol;
    result.source_file = location.source_file;
    result.line = location.line;
  } else if (what.kind == Activity::kSampled) {
    const ContextTree::Function& function = tree.functions()[what.function];
    result.kind = function.kind == "posix" ? "io" : "computation";
    result.symbol = function.symbol;
    result.source_file = function.source_file;
    result.line = function.line;
    const auto most = std::ranges::max_element(part.lines, {}, [](const auto& each) { return each.second; });
    if (most != part.lines.end()) {
      result.source_file = tree.lines()[most->first].source_file;
      result.line = tree.lines()[most->first].line;
    }
  } else {
    result.kind = "other";
  }
  constexpr std::size_t kShownRanks = 64;
  for (const auto& [rank, ns] : part.ranks) result.by_rank.push_back({rank, ns * 1e-9});
  std::ranges::stable_sort(result.by_rank, std::ranges::greater{}, &reports::RankSeconds::seconds);
  if (result.by_rank.size() > kShownRanks) result.by_rank.resize(kShownRanks);
  result.rank = result.by_rank.front().rank;
  result.rank_seconds = result.by_rank.front().seconds;
  result.seconds = part.ns * 1e-9;
  return result;
}

}  // namespace

void describe_path(CriticalPath::Path path, const ProgramRanks& program, std::span<const RankTimeline* const> timelines,
                   PlaceNodes& places, const Resolver& resolver, reports::Waiting& model) {
  unsigned shift = path.rank_at.shift();
  for (const RankTimeline* each : timelines) shift = std::max(shift, each->values().shift());
  path.rank_at.widen_to(shift);
  std::vector<GridValues<Activity>> widened;
  for (const RankTimeline* each : timelines.subspan(program.first, program.ranks)) {
    widened.push_back(each->values());
    widened.back().widen_to(shift);
  }
  const std::map<What, PathSums> parts = PathParts(path, program, widened, places).parts();

  double all = 0, squares = 0;
  for (const auto& [what, part] : parts) {
    all += part.ns;
    squares += part.squares;
  }
  for (const auto& [what, part] : parts) {
    reports::PathPart shown = named(what, part, places.tree(), resolver);
    // As for shares of samples: each draw has the weight of the time that it represents.
    const double share = part.ns / all;
    shown.error =
        half_width((1 - share) * (1 - share) * part.squares + share * share * (squares - part.squares)) * 1e-9;
    model.critical_path.push_back(std::move(shown));
  }
  std::ranges::stable_sort(model.critical_path, std::ranges::greater{}, &reports::PathPart::seconds);
  std::uint64_t elsewhere = 0;
  for (std::uint32_t rank = 0; rank < path.ns_by_rank.size(); ++rank) {
    const std::uint64_t ns = path.ns_by_rank[rank];
    if (program.has(rank)) {
      model.per_rank.critical_path_seconds.push_back(static_cast<double>(ns) * 1e-9);
    } else {
      elsewhere += ns;
    }
  }
  model.critical_path_seconds = all * 1e-9;
  model.critical_path_elsewhere_seconds = static_cast<double>(elsewhere) * 1e-9;
  model.unresolved.critical_path_seconds = static_cast<double>(path.unsettled_ns) * 1e-9;
  model.unresolved.late_waits = path.late;
}

}  // namespace ardoise::knowledge_sources
