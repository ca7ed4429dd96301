// Misuse of MPI calls: objects that are not freed, messages that are not received; spawned programs.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "reports/findings/findings.hpp"
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

void unreceived_messages(const Facts& facts, std::vector<Finding>& out) {
  const auto& unreceived = facts.app.waiting.unreceived;
  if (unreceived.empty()) return;
  const UnreceivedMessages& most = unreceived.front();
  const std::uint64_t all = std::transform_reduce(unreceived.begin(), unreceived.end(), std::uint64_t{0}, std::plus{},
                                                  [](const auto& each) { return each.messages; });
  out.push_back(
      {"unreceived_messages",
       Severity::medium,
       0,
       fmt::format("{} sent and never received, {}by {} called from {}: for example from rank {} with tag {}.",
                   all == 1 ? "A message was" : human_count(static_cast<double>(all)) + " messages were",
                   most.messages == all ? "" : "most of them ", in_sentence(most.function), name_of(most),
                   facts.app.world_rank(most.source), most.tag),
       "Receive them, or do not send them: if MPI does not buffer such a message, the program hangs.",
       {{"messages", static_cast<double>(all)}}});
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
  not_freed(facts, out);
  unreceived_messages(facts, out);
  spawned(facts, out);
}

}  // namespace ardoise::reports
