#include "reports/losses/run_view.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "reports/findings/sample_view.hpp"
#include "reports/losses/sleep_reasons.hpp"

namespace ardoise::reports {
namespace {

constexpr double kMostUnknown = 0.3;                           // of the path
constexpr double kMostUnjudged = 0.7;                          // of calls and messages: the path cannot follow waits
constexpr double kFewestTests = 100;                           // of a rank at one site: it polls
constexpr double kHubShare = 0.9;                              // of all messages
constexpr double kHardlyWorks = 0.2;                           // of the mean of the others; of its own time
constexpr double kLikeTheOthers = 0.1;                         // difference of work, relative
constexpr double kRunsAlone = 0.9;                             // of the work in a function
constexpr double kCrowdedCalls = 0.05;                         // of the time in MPI, without a processor
constexpr double kSmallMessage = 8 * 1024;                     // bytes
constexpr double kMostOfLeast = 8, kMostSecondsOfCall = 3e-6;  // cost of a small message: ÷ its least; s
constexpr double kLeastBandwidth = 0.2e9;                      // bytes a second of a larger one
constexpr double kMostSecondsOfTest = 0.5e-6;                  // that moves no data
constexpr double kMuchOfWaiting = 0.1;                         // of the time in a call that waits
constexpr double kSeveralThreads = 1.2;                        // samples of all threads ÷ work of the first ones

// Part of the time in MPI calls in which ranks were runnable without a processor: an upper bound.
double without_processor_in_mpi(const RunView& view) {
  double without = 0, all = 0;
  for (const RankTime& time : view.times) {
    without += time.mpi_without_processor;
    all += time.mpi;
  }
  return all > 0 ? std::min(1.0, without / all) : 0;
}

// The largest transfers that non-blocking calls start and much of this waiting is for.
double bytes_waited_for(const Application& a, const PathCall& call) {
  double bytes = 0;
  for (const CallSite& site : a.call_sites) {
    if (site.operations != 0 && site.waited_seconds > kMuchOfWaiting * call.site->seconds)
      bytes = std::max(bytes, bytes_of_call(site));
  }
  return bytes;
}

// For ranks that lack processors: a call costs at most some times its least, or what its bytes take; and a wait, or a
// collective of all with all, is without late ranks as long on the path as elsewhere. The rest of their time is counted
// as lack of a processor.
double plausible_seconds(const RunView& view, const PathCall& call, double seconds) {
  const Application& a = view.app;
  if (call.site == nullptr) return seconds;
  const std::string& function = call.part->function;
  const bool waits = function.starts_with("MPI_Wait");
  if (waits || function.starts_with("MPI_All") || function == "MPI_Barrier")
    seconds = std::min(seconds, call.wait_free / std::max(call.site->ranks, 1u));
  const auto kind = std::ranges::find(a.mpi, function, &FunctionProfile::function);
  const bool moves_data =
      waits || tests_for_messages(function) ||
      (kind != a.mpi.end() && (kind->category == "point-to-point" || kind->category == "collective"));
  if (!moves_data && view.waits_known) return seconds;
  const double bytes = std::max(call.bytes_per_call, waits ? bytes_waited_for(a, call) : 0);
  double least = call.site->min_seconds;
  for (const CallSite& site : a.call_sites) {
    if (site.function == function && bytes <= kSmallMessage && bytes_of_call(site) <= kSmallMessage &&
        site.min_seconds > 0)
      least = std::min(least, site.min_seconds);
  }
  const double moving = bytes > kSmallMessage ? bytes / kLeastBandwidth : 0;
  return std::min(seconds, call.calls_per_rank * std::max({kMostSecondsOfCall, kMostOfLeast * least, moving}));
}

bool is_same_address(const WaitSite& wait, const CallSite& site) {
  return wait.module == site.module && wait.offset == site.offset;
}

double wait_free_seconds(const Application& a, const CallSite& site) {
  double seconds = site.seconds;
  for (const WaitSite& wait : a.waiting.call_sites) {
    if (wait.function == site.function && is_same_address(wait, site)) seconds -= wait.waiting_seconds;
  }
  return std::max(0.0, seconds);
}

// The sites of the table for these calls. In a library without symbols all places have the same name: the part of the
// path is divided by what their calls take without waiting.
std::vector<PathCall> sites_of(const Application& a, const PathPart& part) {
  std::vector<PathCall> calls;
  const bool has_name = !part.symbol.empty() || !part.source_file.empty();
  double all = 0;
  for (const CallSite& site : a.call_sites) {
    if (!is_same_place(site, part) || (has_name && !calls.empty())) continue;
    calls.push_back({.part = &part, .share = wait_free_seconds(a, site), .site = &site});
    all += calls.back().share;
  }
  if (calls.empty()) calls.push_back({.part = &part});
  if (!(all > 0)) calls.resize(1);
  for (PathCall& call : calls) call.share = calls.size() == 1 ? 1 : call.share / all;
  return calls;
}

void add_call(const Application& a, RunView& view, double crowded, PathCall call) {
  const PathPart& part = *call.part;
  call.seconds = call.share * part.seconds * (1 - crowded);
  const bool is_one = call.share < 1;  // of several without names
  double most = 0;
  for (const WaitSite& wait : a.waiting.call_sites) {
    if (!is_same_place(wait, part) || (is_one && !is_same_address(wait, *call.site))) continue;
    call.waiting += wait.waiting_seconds;
    if (wait.waiting_seconds <= most) continue;
    most = wait.waiting_seconds;
    call.pattern = wait.pattern;
  }
  if (call.site != nullptr && call.site->calls > 0) {
    const auto calls = static_cast<double>(call.site->calls);
    call.calls_per_rank = calls / std::max(call.site->ranks, 1u);
    call.bytes_per_call = static_cast<double>(call.site->bytes) / calls;
    call.wait_free = std::max(0.0, call.site->seconds - call.waiting);
  }
  if (crowded > kCrowdedCalls) call.seconds = plausible_seconds(view, call, call.seconds);
  // A rank that only asks for messages would wait with a processor, too.
  const RankTime& time = view.times[part.rank];
  if (!tests_for_messages(part.function) || time.computing > kHardlyWorks * time.wall)
    view.path.processor += call.share * part.seconds - call.seconds;
  if (!view.waits_known) call.seconds = plausible_seconds(view, call, call.seconds);
  // More than that moves data.
  if (call.site != nullptr && tests_for_messages(part.function))
    call.seconds = std::min(call.seconds,
                            call.calls_per_rank * std::max(kMostSecondsOfTest, kMostOfLeast * call.site->min_seconds));
  view.calls.push_back(std::move(call));
}

// Single records are missing on a part of the path: it is filled with the exact sums, so far as these have more than
// the rest of the path. Waiting in the calls there is not known.
void fill_missing(const Application& a, RunView& view) {
  if (view.path.missing <= 0) return;
  double work = 0, more = 0;
  for (const RankTime& time : view.times) work += time.computing / a.ranks;
  for (const PathPart& part : a.waiting.critical_path) work -= part.kind == "computation" ? part.seconds : 0;
  work = std::max(0.0, work);
  std::vector<double> seconds;
  for (const PathCall& call : view.calls) {
    const double mean = call.site == nullptr ? 0 : call.wait_free / a.ranks;
    seconds.push_back(std::max(0.0, plausible_seconds(view, call, mean) - call.seconds));
    more += seconds.back();
  }
  if (work + more <= 0) return;
  const double part = std::min(1.0, view.path.missing / (work + more));
  for (std::size_t i = 0; i < view.calls.size(); ++i) view.calls[i].seconds += part * seconds[i];
  view.path_work += part * work;
}

void add_calls(const Application& a, RunView& view) {
  const double crowded = without_processor_in_mpi(view);
  for (const PathPart& part : a.waiting.critical_path) {
    if (part.kind != "mpi") continue;
    for (PathCall& call : sites_of(a, part)) add_call(a, view, crowded, std::move(call));
  }
  fill_missing(a, view);
  std::ranges::stable_sort(view.calls, std::ranges::greater{}, &PathCall::seconds);
}

bool is_like_the_others(const std::vector<RankTime>& times, std::uint32_t rank) {
  double others = 0;
  for (const RankTime& time : times) others += time.computing;
  others = (others - times[rank].computing) / static_cast<double>(times.size() - 1);
  return std::abs(times[rank].computing - others) < kLikeTheOthers * others;
}

bool works_alone(const Application& a, std::uint32_t rank) {
  return std::ranges::any_of(a.samples.functions, [&](const SampledFunction& f) {
    return f.kind == "code" && f.max_rank == rank && f.rank_max > kRunsAlone * f.rank_mean * a.ranks;
  });
}

// A rank that exchanges messages with all others, which exchange few among themselves. Edges are of one-sided accesses
// too, which the rank itself has no part in.
std::optional<Hub> find_hub(const Application& a, const std::vector<RankTime>& times) {
  double calls = 0, accesses = 0;
  for (const FunctionProfile& f : a.mpi) {
    if (f.category == "one-sided") accesses += static_cast<double>(f.calls);
    if (f.category == "point-to-point") calls += static_cast<double>(f.calls);
  }
  if (a.ranks < 3 || accesses > calls) return {};
  std::vector<double> in(a.ranks), out(a.ranks);
  std::vector<std::uint32_t> senders(a.ranks), receivers(a.ranks);  // partners of each rank
  double all = 0;
  for (const Edge& edge : a.edges) {
    if (edge.source == edge.target || edge.messages == 0) continue;
    const auto messages = static_cast<double>(edge.messages);
    out[edge.source] += messages;
    in[edge.target] += messages;
    ++receivers[edge.source];
    ++senders[edge.target];
    all += messages;
  }
  const auto of_rank = [&](std::uint32_t rank) { return in[rank] + out[rank]; };
  std::uint32_t most = 0;
  for (std::uint32_t rank = 1; rank < a.ranks; ++rank) {
    if (of_rank(rank) > of_rank(most)) most = rank;
  }
  const bool takes = in[most] > 0.3 * of_rank(most) && senders[most] + 1 == a.ranks;
  const bool gives = out[most] > 0.3 * of_rank(most) && receivers[most] + 1 == a.ranks;
  if (all == 0 || of_rank(most) < kHubShare * all || !takes || !gives) return {};
  if (a.ranks == 3 && is_like_the_others(times, most) && !works_alone(a, most)) return {};  // the middle of a line
  return Hub{most, of_rank(most) / (a.ranks - 1)};
}

double share_of_unknown_waits(const Waiting& waiting) {
  double unknown = 0;
  for (const UnresolvedCounts* each : {&waiting.unresolved.collective_calls, &waiting.unresolved.message_ends})
    unknown += static_cast<double>(each->folded + each->incomplete + each->beyond_memory + each->other);
  const double known = static_cast<double>(waiting.resolved_calls) + 2 * static_cast<double>(waiting.resolved_messages);
  return unknown > 0 ? unknown / (unknown + known) : 0;
}

// The ranks over which useful work is averaged.
std::vector<std::uint32_t> workers_of(const RunView& view) {
  std::vector<std::uint32_t> ranks(view.times.size());
  std::iota(ranks.begin(), ranks.end(), 0u);
  if (!view.hub) return ranks;
  double others = 0;
  for (const std::uint32_t rank : ranks) others += rank == view.hub->rank ? 0 : view.times[rank].computing;
  others /= static_cast<double>(ranks.size() - 1);
  if (view.times[view.hub->rank].computing < kHardlyWorks * others) std::erase(ranks, view.hub->rank);
  return ranks;
}

// Time asleep outside MPI by rank, if it is that of a device that works for most ranks. Time for which looks have seen
// another reason is not.
std::vector<double> device_times(const Application& a, const std::vector<RankTime>& times) {
  constexpr double kMuchAsleep = 0.01, kAlsoAsleep = 0.3;  // of the longest rank; of the rank that sleeps most
  constexpr double kOfSleep = 0.5;                         // in files: the first threads wait for these threads
  std::vector<double> seconds;
  double most = 0, wall = 0, all = 0;
  for (std::size_t rank = 0; rank < times.size(); ++rank) {
    seconds.push_back(times[rank].blocked * (1 - sleep_reasons(a.per_rank, rank).of_others()));
    most = std::max(most, seconds.back());
    wall = std::max(wall, times[rank].wall);
    all += seconds.back();
  }
  auto asleep =
      static_cast<std::size_t>(std::ranges::count_if(seconds, [&](double each) { return each >= kAlsoAsleep * most; }));
  // Ranks that sleep in the same place sleep for the same reason, if not as long.
  if (!a.sleep_sites.empty()) asleep = std::max<std::size_t>(asleep, a.sleep_sites.front().ranks);
  if (most < kMuchAsleep * wall || a.ranks < 2 || 2 * asleep <= a.ranks || other_threads_work(a) ||
      io_of_other_threads(a) > kOfSleep * all || tests_between_sleep(a, asleep, all) != nullptr)
    return {};
  return seconds;
}

bool records_are_missing(const Application& a) {
  return a.waiting.unresolved.message_ends.folded > 0 || a.waiting.unresolved.collective_calls.folded > 0;
}

// Splits the path outside of MPI that no sample covers, by what each of its ranks did outside MPI in the whole run.
void split_other(const PathPart& part, const std::vector<double>& of_kernel, RunView& view) {
  double listed = 0;
  for (const RankSeconds& each : part.by_rank) listed += each.seconds;
  std::vector<RankSeconds> ranks = part.by_rank;
  if (ranks.empty()) ranks.push_back({part.rank, part.rank_seconds});
  if (listed <= 0) listed = part.rank_seconds;
  const double scale = listed > 0 ? part.seconds / listed : 0;
  PathWork device{&part};
  for (const RankSeconds& each : ranks) {
    const RankTime& time = view.times[each.rank];
    const double kernel = of_kernel[each.rank];
    const double of_device = view.on_device.empty() ? 0 : view.on_device[each.rank];
    const double all = time.io + time.waiting + time.blocked + of_device + kernel;
    const double explained = all > 0 ? std::min(1.0, each.seconds / all) : 0;
    view.path.io += time.io * explained * scale;
    view.path.processor += time.waiting * explained * scale;
    view.path.asleep += time.blocked * explained * scale;
    view.path.kernel += kernel * explained * scale;
    device.seconds += of_device * explained * scale;
    const double rest = std::max(0.0, each.seconds - all);
    const double outside = std::max(0.0, std::min(each.seconds, time.wall - time.mpi) - all);  // that sampling missed
    if (records_are_missing(view.app)) {
      view.path.missing += rest * scale;
    } else {
      view.path_work += outside * scale;
    }
  }
  if (device.seconds <= 0) return;
  view.path_work += device.seconds;
  view.work.push_back(device);
}

// CPU time in the kernel outside of calls, by rank: beneath sampled functions, or what is more than its calls can have.
std::vector<double> kernel_of_ranks(const Application& a, const std::vector<RankTime>& times) {
  std::vector<double> seconds(times.size());
  const SampleProfile& s = a.samples;
  if (s.unit != "seconds") return seconds;
  const std::vector<double> beneath = kernel_beneath(s);
  const double mean = std::accumulate(beneath.begin(), beneath.end(), 0.0) / static_cast<double>(times.size());
  for (std::size_t rank = 0; rank < times.size(); ++rank) {
    double in_kernel = 0, left = times[rank].mpi + times[rank].io;  // of the calls, outside of their own code
    double variance = 0;                                            // of both, from the errors of all ranks
    for (std::size_t i = 0; i < s.per_rank.functions.size(); ++i) {
      const SampledFunction& f = s.functions[s.per_rank.functions[i]];
      const double self = s.per_rank.self[i * times.size() + rank];
      in_kernel += f.symbol == "(kernel)" ? self : 0;
      const bool is_call = f.kind == "mpi" || f.kind == "posix";
      left -= is_call ? self : 0;
      if (is_call || f.symbol == "(kernel)")
        variance += f.self_error * f.self_error / static_cast<double>(times.size());
    }
    const double outside = in_kernel - std::max(0.0, left);
    seconds[rank] = std::max(mean, outside > std::sqrt(variance) ? outside : 0);
  }
  return seconds;
}

void add_work(const Application& a, const std::vector<double>& kernel, RunView& view) {
  std::set<std::string> polling;  // functions that test
  for (std::uint32_t i = 0; i < view.calls.size(); ++i) {
    const PathCall& call = view.calls[i];
    if (!tests_for_messages(call.part->function) || call.calls_per_rank < kFewestTests) continue;
    view.polled_sites.push_back(i);
    view.polling += call.seconds;
    if (!call.part->symbol.empty()) polling.insert(call.part->symbol);
  }
  const auto workers = static_cast<double>(view.workers.size());
  for (const std::uint32_t rank : view.workers) {
    const RankTime& time = view.times[rank];
    view.mean_work += std::max(0.0, time.computing - kernel[rank]) / workers;
    view.mean_io += time.io / workers;
    if (!view.on_device.empty()) view.mean_on_device += view.on_device[rank] / workers;
  }
  for (PathWork& device : view.work) device.mean = view.mean_on_device;
  view.mean_kernel = std::accumulate(kernel.begin(), kernel.end(), 0.0) / static_cast<double>(kernel.size());
  // Samples are of all threads, the path is of first threads.
  double sampled = 0;  // outside of calls, of a rank
  for (std::size_t i = 0; i < a.samples.threads.self.size(); ++i)
    sampled += (a.samples.threads.self[i] - a.samples.threads.in_calls[i]) / std::max(a.ranks, 1u);
  const bool threads = sampled > kSeveralThreads * (view.mean_work + view.mean_kernel);
  const auto key = [](const auto& f) {
    return f.symbol.empty() ? std::pair{f.source_file, f.line} : std::pair{f.symbol, 0u};
  };
  std::map<std::pair<std::string, std::uint32_t>, double> mean;
  for (const SampledFunction& f : a.samples.functions) {
    if (f.kind == "code") mean[key(f)] += f.self / std::max(a.ranks, 1u);
  }
  double polled_mean = 0;
  for (const PathPart& part : a.waiting.critical_path) {
    if (part.kind == "io") view.path.io += part.seconds;
    if (part.kind != "computation") continue;
    if (polling.contains(part.symbol)) {
      view.polling += part.seconds;
      polled_mean += mean[key(part)];
      mean[key(part)] = 0;
      continue;
    }
    if (part.symbol.starts_with("MPI_")) continue;  // calls that were only counted: ranks' times have them in MPI
    view.path_work += part.seconds;
    view.work.push_back({&part, part.seconds, threads ? part.seconds : mean[key(part)]});
  }
  if (!threads) view.mean_work = std::max(0.0, view.mean_work - polled_mean);
  std::ranges::stable_sort(view.work, std::ranges::greater{}, &PathWork::excess);
}

}  // namespace

bool other_threads_work(const Application& a) {
  double first = 0, all = 0;
  for (const double each : a.per_rank.cpu_seconds) first += each;
  for (const double each : a.per_rank.process_cpu_seconds) all += each;
  return all > 1.5 * first;
}

double io_of_other_threads(const Application& a) {
  double seconds = 0;
  for (std::size_t rank = 0; rank < std::min(a.per_rank.io_seconds.size(), a.per_rank.first_io_seconds.size()); ++rank)
    seconds += a.per_rank.io_seconds[rank] - a.per_rank.first_io_seconds[rank];
  return seconds;
}

const CallSite* tests_between_sleep(const Application& a, std::size_t asleep, double seconds) {
  constexpr double kFewest = 10;     // of a rank
  constexpr double kInFlight = 0.5;  // of the sleep: some transfer is not complete
  const CallSite* most = nullptr;
  std::size_t ranks = 0;
  for (const CallSite& site : a.call_sites) {
    if (!tests_for_messages(site.function) || static_cast<double>(site.calls) < kFewest * std::max(site.ranks, 1u))
      continue;
    ranks += site.ranks;
    if (most == nullptr || site.calls > most->calls) most = &site;
  }
  ranks = std::min<std::size_t>(ranks, a.ranks);
  if (most == nullptr || 2 * asleep < ranks || 2 * ranks <= asleep) return nullptr;
  double in_flight = 0;
  bool known = false;
  for (const CallSite& site : a.call_sites) {
    known = known || site.operations > 0;
    in_flight = std::max(in_flight, site.flight_seconds);
  }
  const bool of_requests = most->function.starts_with("MPI_Test");
  return of_requests && known && in_flight < kInFlight * seconds ? nullptr : most;
}

double bytes_of_call(const CallSite& site) {
  return static_cast<double>(site.bytes) / std::max<double>(1, static_cast<double>(site.calls));
}

bool tests_for_messages(const std::string& function) {
  return function.starts_with("MPI_Test") || function == "MPI_Iprobe" || function == "MPI_Improbe";
}

double RunView::imbalance() const {
  double other = polling;
  for (const std::uint32_t rank : workers)
    other += std::max(0.0, run - times[rank].computing - times[rank].io) / static_cast<double>(workers.size());
  return std::clamp(path_work - mean_work, 0.0, other);
}

RunView::RunView(const Application& a) : app(a) {
  const Waiting& waiting = a.waiting;
  const double path_seconds = waiting.critical_path_seconds + waiting.critical_path_elsewhere_seconds;
  run = std::max(a.wall_seconds, path_seconds);
  times = times_of_ranks(a);
  on_device = device_times(a, times);
  for (std::size_t rank = 0; rank < on_device.size(); ++rank) {
    times[rank].computing += on_device[rank];
    times[rank].blocked -= on_device[rank];
  }
  unknown_waits = share_of_unknown_waits(waiting);
  if (waiting.critical_path.empty() || !(path_seconds > 0) || times.size() != a.ranks ||
      waiting.unresolved.critical_path_seconds > kMostUnknown * run)
    return;
  known = true;
  waits_known = unknown_waits <= kMostUnjudged;
  hub = find_hub(a, times);
  workers = workers_of(*this);
  const std::vector<double> kernel = kernel_of_ranks(a, times);
  for (const PathPart& part : waiting.critical_path) {
    if (part.kind == "other") split_other(part, kernel, *this);
  }
  add_calls(a, *this);
  add_work(a, kernel, *this);
}

}  // namespace ardoise::reports
