// Misuse of MPI calls: non-blocking collectives without overlap, objects that are not freed; spawned programs.
#include <fmt/format.h>

#include <algorithm>

#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

const FunctionProfile* profile_of(const Application& a, const std::string& function) {
  const auto found = std::find_if(a.mpi.begin(), a.mpi.end(), [&](const auto& f) { return f.function == function; });
  return found == a.mpi.end() ? nullptr : &*found;
}

double calls_of(const Application& a, const std::string& function) {
  const FunctionProfile* f = profile_of(a, function);
  return f == nullptr ? 0 : static_cast<double>(f->calls);
}

// CPU time of the program's own code in `symbol` and below; -1: no samples.
double work_in(const SampleProfile& s, const std::string& symbol) {
  if (s.unit != "seconds") return -1;
  std::vector<double> own(s.tree.parent.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (is_code(s.functions[s.tree.function[i]])) own[i] = s.tree.self[i];
  }
  own = node_totals(s.tree, std::move(own));
  double sum = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (s.functions[s.tree.function[i]].symbol == symbol) sum += own[i];
  }
  return sum;
}

// A non-blocking collective completed in the next line, or some lines below in a function without other work.
void without_overlap(const Facts& facts, std::vector<Finding>& out) {
  constexpr std::uint32_t kLines = 10;
  for (const CallSite& start : facts.app.call_sites) {
    const FunctionProfile* profile = profile_of(facts.app, start.function);
    if (profile == nullptr || profile->category != "collective" || !start.function.starts_with("MPI_I") ||
        start.source_file.empty())
      continue;
    const auto wait = std::find_if(facts.app.call_sites.begin(), facts.app.call_sites.end(), [&](const CallSite& s) {
      return (s.function == "MPI_Wait" || s.function == "MPI_Waitall") && s.source_file == start.source_file &&
             s.symbol == start.symbol && s.line >= start.line && s.line - start.line <= kLines &&
             s.calls == start.calls;
    });
    if (wait == facts.app.call_sites.end()) continue;
    const double seconds = start.seconds + wait->seconds, share = facts.share(seconds);
    if (share < 0.02) continue;
    // Mostly in progress outside the completing call: there was overlap.
    constexpr double kMostlyWaited = 0.8;
    if (start.operations > 0 && start.waited_seconds < kMostlyWaited * start.flight_seconds) continue;
    if (wait->line - start.line > 1) {
      const double work = work_in(facts.app.samples, start.symbol);
      if (work < 0 || work > 0.05 * seconds) continue;
    }
    const std::string blocking = capitalised(start.function.substr(5));
    out.push_back(
        {"no_overlap",
         share > 0.25  ? Severity::high
         : share > 0.1 ? Severity::medium
                       : Severity::note,
         share,
         fmt::format("{} in {} is completed immediately, in line {}: no work overlaps with it. Both calls take {} "
                     "of the time ({}).",
                     in_sentence(start.function), in_sentence(name_of(start)), wait->line, human_share(share),
                     human_counted(static_cast<double>(start.calls), "call")),
         fmt::format("Move work that does not need its result before {}, or call the blocking MPI_{} instead.",
                     wait->function, in_sentence(blocking)),
         {{"calls", static_cast<double>(start.calls)}, {"seconds", seconds}, {"share", share}}});
  }
}

struct Kind {
  const char* id;
  const char* what;
  std::vector<const char*> free;  // the first is recommended
  std::vector<const char*> makers;
};

void not_freed(const Facts& facts, std::vector<Finding>& out) {
  static const Kind kKinds[] = {
      {"leaked_communicators",
       "communicators",
       {"MPI_Comm_free", "MPI_Comm_disconnect"},
       {"MPI_Comm_dup", "MPI_Comm_dup_with_info", "MPI_Comm_idup", "MPI_Comm_split", "MPI_Comm_split_type",
        "MPI_Comm_create", "MPI_Comm_create_group", "MPI_Cart_create", "MPI_Cart_sub", "MPI_Graph_create",
        "MPI_Dist_graph_create", "MPI_Dist_graph_create_adjacent"}},
      {"leaked_datatypes",
       "datatypes",
       {"MPI_Type_free"},
       {"MPI_Type_dup", "MPI_Type_contiguous", "MPI_Type_vector", "MPI_Type_create_hvector", "MPI_Type_indexed",
        "MPI_Type_create_hindexed", "MPI_Type_create_indexed_block", "MPI_Type_create_struct",
        "MPI_Type_create_subarray", "MPI_Type_create_darray", "MPI_Type_create_resized"}}};
  constexpr double kOfRank = 50;  // a program may keep some until its end
  for (const Kind& kind : kKinds) {
    double made = 0, most_calls = 0, seconds = 0;
    std::string most;
    for (const char* maker : kind.makers) {
      const double calls = calls_of(facts.app, maker);
      made += calls;
      if (calls > 0) seconds += profile_of(facts.app, maker)->seconds;
      if (calls > most_calls) {
        most_calls = calls;
        most = maker;
      }
    }
    double freed = 0;
    for (const char* free : kind.free) freed += calls_of(facts.app, free);
    const double kept = (made - freed) / std::max(1U, facts.app.ranks);
    if (kept < kOfRank) continue;
    const double share = facts.share(seconds);
    const std::string site = facts.main_call_site(most);
    out.push_back(
        {kind.id,
         share > 0.1 ? Severity::high : Severity::medium,
         std::max(0.5, share),
         fmt::format("{} {} are created and {} freed, {} per rank remain on average{}: they use memory, and MPI "
                     "supports a limited number.",
                     human_count(made), kind.what,
                     freed == 0   ? "none is"
                     : freed == 1 ? "1 is"
                                  : human_count(freed) + " are",
                     human_count(kept), fmt::format("; most come from {}{}", most, site.empty() ? "" : " in " + site)),
         fmt::format("Call {} when one is no longer needed, or create it once and reuse it.", kind.free.front()),
         {{"made", made}, {"freed", freed}}});
  }
}

void spawned(const Facts& facts, std::vector<Finding>& out) {
  const double calls = calls_of(facts.app, "MPI_Comm_spawn") + calls_of(facts.app, "MPI_Comm_spawn_multiple");
  if (calls == 0) return;
  out.push_back({"spawned_programs",
                 Severity::note,
                 0,
                 "The program starts others with MPI_Comm_spawn; these are not measured.",
                 "",
                 {{"calls", calls}}});
}

}  // namespace

void find_calls(const Facts& facts, std::vector<Finding>& out) {
  without_overlap(facts, out);
  not_freed(facts, out);
  spawned(facts, out);
}

}  // namespace ardoise::reports
