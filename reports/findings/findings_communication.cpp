// Cost of messages and collectives: waiting or transfer, small messages, polling, hot ranks.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "reports/findings/awaited_rank.hpp"
#include "reports/findings/findings.hpp"
#include "reports/findings/waiting_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr std::uint64_t kSmallMessage = 1024;  // bytes: below, latency costs more than transfer on any network of today
constexpr std::size_t kSmallBuckets = 11;      // histogram buckets 0 … 10 hold the sizes below 1,024

constexpr double kLateMessages = 0.05;  // of the time of all ranks
constexpr double kWaits = 0.5;          // of a collective's time: the network is not the cause

// Estimates waiting as the time above the rank with the least time: transfer costs all ranks about the same.
double waiting_share(const DensityMap& map) {
  const double total = std::accumulate(map.seconds.begin(), map.seconds.end(), 0.0);
  const double least = *std::min_element(map.seconds.begin(), map.seconds.end());
  return total > 0 ? 1 - least * static_cast<double>(map.seconds.size()) / total : 0;
}

std::string estimated_in_words(double waiting) {
  return waiting >= kWaits ? fmt::format(
                                 "; about {} of that is waiting for late ranks, not transfer (an estimate: time above "
                                 "that of the rank with the least time there).",
                                 human_share(waiting))
                           : fmt::format(
                                 "; ranks spend similar times there, so the operation itself costs more than waiting "
                                 "for late ranks (an estimate: {} is waiting).",
                                 human_share(waiting));
}

std::string measured_in_words(const Application& a, const std::string& function, double waiting) {
  if (waiting < kWaits) {
    return fmt::format("; {} of that is waiting for late ranks (measured).", human_share(waiting));
  }
  const auto most = std::ranges::find(a.waiting.call_sites, function, &WaitSite::function);  // by seconds, descending
  return fmt::format("; {} of that is waiting for late ranks, not transfer.{}", human_share(waiting),
                     most == a.waiting.call_sites.end() ? awaited_rank_in_words(a) : " " + waiting_in_words(a, *most));
}

void collectives(const Facts& facts, std::vector<Finding>& out) {
  for (const FunctionProfile& f : facts.app.mpi) {
    if (!is_judged_as_collective(facts, f)) continue;
    const auto measured = measured_waiting(facts.app, f.function);
    // No map of this program shows late ranks of other programs.
    if (!measured && has_unjudged_calls(facts.app)) continue;
    const double share = facts.share(f.seconds),
                 waiting = measured ? *measured / f.seconds : waiting_share(*facts.density(f.function));
    const bool waits = waiting >= kWaits;
    const std::string site = facts.main_call_site(f.function);
    const std::string size =
        f.bytes == 0 ? ""
                     : fmt::format(", {} each", human_bytes(static_cast<double>(f.bytes) /
                                                            static_cast<double>(std::max<std::uint64_t>(1, f.calls))));
    const std::string head = fmt::format("{} costs {} of the time ({}{}{})", in_sentence(f.function),
                                         human_share(share), human_counted(static_cast<double>(f.calls), "call"), size,
                                         site.empty() ? "" : ", most from " + site);
    out.push_back(
        {waits ? "collective_waiting" : "collective_transfer",
         share > 0.1 ? Severity::medium : Severity::note,
         share,
         head + (measured ? measured_in_words(facts.app, f.function, waiting) : estimated_in_words(waiting)),
         waits ? awaited_rank_in_words(facts.app).empty() ? "" : "Balance the work before it."
         : f.function == "MPI_Barrier"
             ? "Remove barriers that are not needed."
             : "Use fewer calls with more data each, or the non-blocking form with work in between.",
         {{"seconds", f.seconds}, {"share", share}, {measured ? "waiting_share" : "waiting_share_estimate", waiting}}});
  }
}

void late_messages(const Facts& facts, std::vector<Finding>& out) {
  const Application& a = facts.app;
  if (!messages_are_known(a)) return;
  const MessageWaiting waiting = message_waiting(a);
  const double share = facts.share(waiting.seconds);
  if (share < kLateMessages) return;
  const std::string awaited = awaited_rank_in_words(a);
  const bool sent_late = waiting.late_senders >= 0.5 * waiting.seconds;
  out.push_back({"late_messages",
                 share > 0.25  ? Severity::high
                 : share > 0.1 ? Severity::medium
                               : Severity::note,
                 share,
                 fmt::format("{} {} of the time is waiting for messages that are {} late.",
                             waiting_in_words(a, *waiting.most), human_share(share), sent_late ? "sent" : "received"),
                 awaited.empty() ? "" : "Shorten or postpone the work of that rank before these messages.",
                 {{"seconds", waiting.seconds}, {"share", share}, {"late_sender_seconds", waiting.late_senders}}});
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

void small_messages(const Facts& facts, std::vector<Finding>& out) {
  double small = 0, all = 0, seconds = 0, bytes = 0;
  const FunctionProfile* most = nullptr;
  for (const FunctionProfile& f : facts.app.mpi) {
    // Each message counts once, at the sender.
    if ((f.category != "point-to-point" && f.category != "one-sided") || f.bytes_sent == 0) continue;
    const auto& buckets = f.calls_by_size;
    const auto end = buckets.begin() + static_cast<std::ptrdiff_t>(std::min(kSmallBuckets, buckets.size()));
    small += static_cast<double>(std::accumulate(buckets.begin(), end, std::uint64_t{0}));
    all += static_cast<double>(f.calls);
    seconds += f.seconds;
    bytes += static_cast<double>(f.bytes_sent);
    if (most == nullptr || f.calls > most->calls) most = &f;
  }
  if (most == nullptr || facts.rank_seconds <= 0 || facts.app.ranks < 2) return;
  const double rate = all / facts.rank_seconds, share = facts.share(seconds);
  if (small < 0.8 * all || rate < 1000 || share < 0.01) return;
  const std::string site = facts.main_call_site(most->function);
  out.push_back(
      {"small_messages",
       share > 0.25  ? Severity::high
       : share > 0.1 ? Severity::medium
                     : Severity::note,
       share,
       fmt::format("{} of {} messages are smaller than {} (mean {}), {} a second on each rank{}: they cost "
                   "latency, not bandwidth.",
                   human_share(small / all), human_count(all), human_bytes(kSmallMessage), human_bytes(bytes / all),
                   human_count(rate), site.empty() ? "" : ", most from " + site),
       "Combine several messages into one.",
       {{"messages", all}, {"small_share", small / all}, {"mean_bytes", bytes / all}, {"per_rank_second", rate}}});
}

void polling(const Facts& facts, std::vector<Finding>& out) {
  double calls = 0, seconds = 0;
  for (const FunctionProfile& f : facts.app.mpi) {
    const bool polls = f.function.starts_with("MPI_Test") || f.function == "MPI_Iprobe" || f.function == "MPI_Improbe";
    if (!polls || f.function == "MPI_Test_cancelled") continue;
    calls += static_cast<double>(f.calls);
    seconds += f.seconds;
  }
  if (facts.mpi_calls <= 0 || calls < 0.5 * facts.mpi_calls || facts.share(seconds) < 0.05) return;
  out.push_back(
      {"polling",
       Severity::medium,
       facts.share(seconds),
       fmt::format(
           "{} of all MPI calls only ask whether something arrived (MPI_Test…, MPI_Iprobe); they take {} of the time.",
           human_share(calls / facts.mpi_calls), human_share(facts.share(seconds))),
       "Test less often, or wait if there is no other work.",
       {{"calls", calls}, {"seconds", seconds}}});
}

void hot_rank(const Facts& facts, std::vector<Finding>& out) {
  const Application& a = facts.app;
  if (a.ranks < 4 || a.edges.empty()) return;
  std::vector<double> traffic(a.ranks, 0);
  double total = 0;
  for (const Edge& e : a.edges) {
    const auto bytes = static_cast<double>(e.bytes);
    traffic[e.source] += bytes;
    if (e.target != e.source) traffic[e.target] += bytes;
    total += bytes;
  }
  if (total <= 0) return;
  const auto hottest = std::max_element(traffic.begin(), traffic.end());
  const double mean = std::accumulate(traffic.begin(), traffic.end(), 0.0) / a.ranks, factor = *hottest / mean;
  const auto rank = hottest - traffic.begin();
  if (factor >= 3 && *hottest >= 0.3 * total) {
    out.push_back({"hot_rank",
                   Severity::medium,
                   facts.share(facts.mpi_seconds) * 0.5,
                   fmt::format("Rank {} sends or receives {} of all {}, {:.1f} times the mean of the ranks: it may "
                               "become the bottleneck as ranks "
                               "are added.",
                               a.world_rank(static_cast<std::uint32_t>(rank)), human_share(*hottest / total),
                               human_bytes(total), factor),
                   "Spread its work over several ranks, or use a collective.",
                   {{"rank", static_cast<double>(a.world_rank(static_cast<std::uint32_t>(rank)))},
                    {"bytes", *hottest},
                    {"times_mean", factor}}});
  }
  const Edge& heavy =
      *std::max_element(a.edges.begin(), a.edges.end(), [](const Edge& x, const Edge& y) { return x.bytes < y.bytes; });
  const double ratio = static_cast<double>(heavy.bytes) * static_cast<double>(a.edges.size()) / total;
  if (a.edges.size() >= 8 && ratio >= 4) {
    out.push_back(
        {"heavy_edge",
         Severity::note,
         0,
         fmt::format("The heaviest connection, rank {} to {}, carries {}, {:.1f} times the mean of the {}.",
                     a.world_rank(heavy.source), a.world_rank(heavy.target),
                     human_bytes(static_cast<double>(heavy.bytes)), ratio, counted(a.edges.size(), "connection")),
         "",
         {{"source", a.world_rank(heavy.source)},
          {"target", a.world_rank(heavy.target)},
          {"bytes", static_cast<double>(heavy.bytes)}}});
  }
}

}  // namespace

bool is_judged_as_collective(const Facts& facts, const FunctionProfile& function) {
  if (function.category != "collective" || facts.share(function.seconds) < 0.03 || facts.app.ranks < 2 ||
      facts.crowded())
    return false;
  const DensityMap* map = facts.density(function.function);
  return map != nullptr && !map->seconds.empty();
}

void find_communication(const Facts& facts, std::vector<Finding>& out) {
  collectives(facts, out);
  late_messages(facts, out);
  unreceived_messages(facts, out);
  small_messages(facts, out);
  polling(facts, out);
  hot_rank(facts, out);
}

}  // namespace ardoise::reports
