// MPI calls on the critical path: the part of them that is not waiting for a late rank.
#include "reports/losses/costly_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "reports/findings/findings.hpp"
#include "reports/losses/losses.hpp"
#include "reports/losses/thresholds.hpp"
#include "reports/losses/words.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kFewestCreations = 10;  // of a rank, at one place: it is in a loop
constexpr double kInTurn = 2;            // time on the path ÷ time of a rank: ranks take turns

// Without the probe the receive waits for the message; the call itself is saved.
void probe(const CostlyCalls& c, const PathCall& call) {
  double least = call.site == nullptr ? 0 : call.site->min_seconds;
  for (const CallSite& site : c.app.call_sites) {
    if (site.symbol == call.part->symbol && site.min_seconds > 0 && site.function.ends_with("ecv"))
      least = std::min(least, site.min_seconds);
  }
  c.add("poll.probe", call, fmt::format("A probe precedes each receive: {}", c.calls_in_words(call)));
  c.out.back().ceiling = std::min(call.seconds, least * call.calls_per_rank);
}

void lock(const CostlyCalls& c, const PathCall& call) {
  if (!c.in_turn(call) && call.waiting < call.wait_free) return name_calls(c, call);
  c.add("rma.lock", call,
        fmt::format("Ranks wait for each other to give back the lock of a window: {}, of {} each",
                    c.calls_in_words(call), human_seconds(call.site == nullptr ? 0 : call.site->mean_seconds)));
}

// A barrier is needless beside another collective that waits for all ranks, unless it guards files or windows. Returns
// that other one, or nullptr.
const CallSite* barrier(const CostlyCalls& c, const PathCall& call) {
  const bool guards = std::ranges::any_of(c.app.posix, [](const FunctionProfile& f) { return f.bytes > 0; }) ||
                      std::ranges::any_of(c.app.mpi, [](const FunctionProfile& f) {
                        return f.category == "one-sided" || f.function.starts_with("MPI_File_");
                      });
  const CallSite* twin = nullptr;  // a collective that waits for all ranks, called as often
  for (const CallSite& site : c.app.call_sites) {
    const bool all = starts_with_any(site.function, {"MPI_Allreduce", "MPI_Alltoall", "MPI_Allgather", "MPI_Barrier"});
    if (call.site == nullptr || &site == call.site || !all || site.calls != call.site->calls) continue;
    if (twin == nullptr || site.symbol == call.site->symbol) twin = &site;
  }
  if (guards || twin == nullptr) {
    c.add("ovh.collective", call,
          fmt::format("{} cost {} beside the waiting for late ranks", capitalised(c.calls_in_words(call)),
                      human_seconds(call.seconds)));
    return nullptr;
  }
  c.add("sync.barrier", call,
        fmt::format("{}; {} in {} waits for all ranks as often", capitalised(c.calls_in_words(call)),
                    in_sentence(twin->function), in_sentence(name_of(*twin))));
  return twin;
}

void judge(const CostlyCalls& c, CostlyMessages& messages, const PathCall& call) {
  const std::string kind = c.category(call);
  const std::string& function = call.part->function;
  if (call.pattern == "lock" || starts_with_any(function, {"MPI_Win_lock", "MPI_Win_unlock"})) return lock(c, call);
  if (call.calls_per_rank >= kFewestCreations &&
      starts_with_any(function, {"MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_create", "MPI_Comm_free", "MPI_Cart_",
                                 "MPI_Graph_create", "MPI_Dist_graph", "MPI_Win_create", "MPI_Win_allocate",
                                 "MPI_Win_free", "MPI_Type_", "MPI_Group_", "MPI_Comm_idup"}))
    return c.add("ovh.create", call,
                 fmt::format("{}: {} in all", capitalised(c.calls_in_words(call)), human_seconds(call.seconds)));
  if (c.app.ranks > 1 && call.site != nullptr && awaits_target(*call.site))
    return c.add("rma.progress", call,
                 fmt::format("{}: {}{}", kAwaitTarget, c.calls_in_words(call), durations(*call.site)));
  if (function == "MPI_Probe" || function == "MPI_Mprobe") return probe(c, call);
  if (kind == "collective") return name_collective(c, call);
  if (c.is_message(call) || kind == "wait") return messages.name(call);
  name_calls(c, call);
}

}  // namespace

CostlyCalls::CostlyCalls(const RunView& of, std::vector<Loss>& losses) : view(of), app(of.app), out(losses) {
  for (const FunctionProfile& f : app.mpi) categories[f.function] = f.category;
}

std::string CostlyCalls::category(const PathCall& call) const {
  const auto found = categories.find(call.part->function);
  return found == categories.end() ? "" : found->second;
}

bool CostlyCalls::is_message(const PathCall& call) const {
  return category(call) == "point-to-point" || call.part->function == "MPI_Sendrecv";
}

bool CostlyCalls::in_turn(const PathCall& call) const {
  if (call.site == nullptr || call.site->ranks < 3) return false;
  const double of_rank = call.wait_free / call.site->ranks;
  return call.share * call.part->seconds > kInTurn * of_rank && call.part->rank_seconds < 0.5 * call.part->seconds;
}

std::string CostlyCalls::calls_in_words(const PathCall& call) const {
  return fmt::format("{} of a rank to {}{}", human_counted(std::round(call.calls_per_rank), "call"),
                     name_of_call(app, call),
                     call.bytes_per_call > 0 ? fmt::format(", {} each", human_bytes(call.bytes_per_call)) : "");
}

void CostlyCalls::add(const char* code, const PathCall& call, std::string text, std::vector<std::uint32_t> ranks,
                      bool is_usual) const {
  out.push_back({.code = code,
                 .ceiling = call.seconds,
                 .own_seconds = call.wait_free,
                 .bucket = Bucket::transfer,
                 .text = std::move(text),
                 .ranks = std::move(ranks),
                 .is_usual = is_usual,
                 .evidence = {{"calls_per_rank", call.calls_per_rank}, {"bytes_per_call", call.bytes_per_call}}});
}

void name_calls(const CostlyCalls& c, const PathCall& call) {
  c.add("ovh.calls", call, fmt::format("{} cost {}", capitalised(c.calls_in_words(call)), human_seconds(call.seconds)));
  if (starts_with_any(call.part->function, {"MPI_Win_", "MPI_Put", "MPI_Get", "MPI_Accumulate"}))
    c.out.back().advice =
        "Put or get whole blocks, and all of them between two synchronisations of the window (MPI_Win_fence, "
        "MPI_Win_flush).";
}

bool awaits_target(const CallSite& site) {
  constexpr double kLong = 0.5e-3, kOfLeast = 100;  // s; ÷ shortest call
  return starts_with_any(site.function, {"MPI_Fetch_and_op", "MPI_Compare_and_swap", "MPI_Get_accumulate",
                                         "MPI_Win_flush", "MPI_Rget"}) &&
         site.mean_seconds > std::max(kLong, kOfLeast * site.min_seconds);
}

std::string durations(const CallSite& site) {
  return fmt::format(", of {} each, at least {}", human_seconds(site.mean_seconds), human_seconds(site.min_seconds));
}

bool starts_with_any(const std::string& name, std::initializer_list<const char*> begins) {
  return std::ranges::any_of(begins, [&](const char* begin) { return name.starts_with(begin); });
}

std::string in_place(const CallSite& site) {
  const bool known = !site.symbol.empty() || !site.source_file.empty() || !site.module.empty();
  return known ? fmt::format("{} in {}", in_sentence(site.function), in_sentence(name_of(site)))
               : in_sentence(site.function);
}

void find_costly_calls(const RunView& view, const PythonObjects& objects, std::vector<Loss>& out) {
  const CostlyCalls calls(view, out);
  CostlyMessages messages(calls);
  name_polling(calls);
  std::vector<const CallSite*> needless;  // that have a barrier before each call: the barrier goes first
  for (const PathCall& call : view.calls) {
    if (call.part->function == "MPI_Barrier" && view.share(call.seconds) >= kMeaningful)
      needless.push_back(barrier(calls, call));
  }
  for (std::size_t i = 0; i < view.calls.size(); ++i) {
    const PathCall& call = view.calls[i];
    if (view.share(call.seconds) < kMeaningful || std::ranges::count(view.polled_sites, i) != 0) continue;
    if (call.part->function.starts_with("MPI_File_")) continue;  // losses_of_files.cpp
    if (call.part->function == "MPI_Barrier") continue;
    if (call.site != nullptr && std::ranges::count(needless, call.site) != 0) continue;
    if (objects.include(call.site)) continue;  // python_objects.cpp
    judge(calls, messages, call);
  }
  messages.keep_own_transfers();
  name_local_calls(calls);
}

}  // namespace ardoise::reports
