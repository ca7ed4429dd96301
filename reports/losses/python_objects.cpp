#include "reports/losses/python_objects.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/findings/findings.hpp"
#include "reports/losses/losses.hpp"
#include "reports/losses/thresholds.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

// Turning objects into bytes and back takes at most this long: a statement can do other work, too.
constexpr double kOfObject = 50e-6, kOfObjectByte = 50e-9;  // s
constexpr double kOfObjects = 0.9;  // of the collective calls at a place, two of which send an object

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

PythonObjects::PythonObjects(const RunView& view) {
  find_places(view.app);
  std::map<Place, Cost> costs;
  for (const PathWork& work : view.work) {
    const Place place{work.part->source_file, work.part->line};
    if (places_.contains(place)) costs[place].work += work.seconds;
  }
  for (const PathCall& call : view.calls) {
    if (call.site == nullptr || !places_.contains({call.site->source_file, call.site->line})) continue;
    Cost& cost = costs[{call.site->source_file, call.site->line}];
    cost.calls += call.seconds;
  }
  double most = 0;
  for (auto& [place, cost] : costs) {
    const Calls& of = places_.at(place);
    cost.work = std::min(cost.work, kOfObject * of.calls + kOfObjectByte * of.bytes);
    cost_.work += cost.work;
    cost_.calls += cost.calls;
    if (cost.seconds() <= most) continue;
    most = cost.seconds();
    main_place_ = of.name;
    main_calls_ = of.calls;
    main_bytes_ = of.bytes;
    main_broadcasts_ = of.broadcasts && !of.messages;  // with messages: an operation on objects of all ranks
  }
  if (view.share(cost_.seconds()) < kMentionedLoss || cost_.work < cost_.calls / 4) {
    places_.clear();
    cost_ = {};
  }
}

void PythonObjects::find_places(const Application& application) {
  std::map<std::string, std::string> category;
  for (const FunctionProfile& f : application.mpi) category[f.function] = f.category;
  bool receives_objects = false, receives_arrays = false;
  for (const CallSite& site : application.call_sites) {
    if (!site.source_file.ends_with(".py") || site.ranks == 0) continue;
    Calls& here = places_[{site.source_file, site.line}];
    const std::string& name = site.function;
    here.probed = here.probed || is_one_of(name, {"MPI_Mrecv", "MPI_Imrecv"});
    here.plain = here.plain || is_one_of(name, {"MPI_Recv", "MPI_Irecv", "MPI_Sendrecv"});
    here.sizes = here.sizes || is_one_of(name, {"MPI_Gather", "MPI_Scatter", "MPI_Allgather", "MPI_Alltoall"});
    here.parts = here.parts || is_one_of(name, {"MPI_Gatherv", "MPI_Scatterv", "MPI_Allgatherv", "MPI_Alltoallv"});
    here.messages = here.messages || category[name] == "point-to-point";
    if (category[name] == "collective") {
      here.broadcasts = name == "MPI_Bcast" && (here.broadcasts || !here.collectives);
      here.collectives = true;
    }
    // Each collective function for objects reads the lock of its communicator.
    if (name == "MPI_Comm_get_attr") here.locks = static_cast<double>(site.calls) / site.ranks;
    here.sends = here.sends || is_one_of(name, {"MPI_Send", "MPI_Isend", "MPI_Ssend", "MPI_Issend", "MPI_Bsend"});
    if (site.bytes != 0) here.calls = std::max(here.calls, static_cast<double>(site.calls) / site.ranks);
    here.bytes += static_cast<double>(site.bytes) / site.ranks;
    here.name = name_of(site);
    receives_objects = receives_objects || here.probed;
    receives_arrays = receives_arrays || here.plain;
  }
  for (auto& [place, at] : places_) {
    at.locked = at.collectives && at.locks >= kOfObjects * at.calls / 2;
    if (at.locked) at.calls = at.locks;
  }
  std::erase_if(places_, [&](const auto& each) {
    const Calls& at = each.second;
    return !at.probed && !(at.sizes && at.parts) && !(at.messages && at.collectives) && !at.locked &&
           !(at.sends && receives_objects && !receives_arrays);
  });
}

bool PythonObjects::include(const CallSite* site) const {
  return site != nullptr && places_.contains({site->source_file, site->line});
}

void find_object_losses(const PythonObjects& objects, std::vector<Loss>& out) {
  if (objects.cost().seconds() <= 0) return;
  out.push_back(
      {.code = "ovh.objects",
       .ceiling = objects.cost().seconds(),
       .text = fmt::format("Objects are turned into bytes, sent, and turned back, for {} on the critical path, most in "
                           "{}: {} of a rank, {} in all",
                           human_seconds(objects.cost().seconds()), in_sentence(objects.main_place()),
                           human_counted(objects.main_calls(), "message"), human_bytes(objects.main_bytes())),
       .advice = objects.main_broadcasts()
                     ? "Broadcast an object that does not change once, before the loop, and only its changed parts "
                       "later; send arrays with the functions in capitals (Bcast), which take memory as it is."
                     : ""});
}

}  // namespace ardoise::reports
