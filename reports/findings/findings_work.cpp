// Distribution of work over ranks: ranks with different work, ranks that work in turn.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr double kSamplesOfRank = 50;  // fewer do not characterise a rank
constexpr double kDeviations = 4;
constexpr double kSlowNetwork = 1e9;  // bytes a second

// The group whose share in a function of the program differs most from that of the largest group. With about as many
// groups as ranks, no group is typical.
void odd_ranks(const Facts& facts, std::vector<Finding>& out) {
  const SampleProfile& s = facts.app.samples;
  const std::size_t ranks = facts.app.ranks;
  if (s.clusters.size() < 2 || s.clusters.size() > std::max<std::size_t>(2, ranks / 4)) return;
  const double samples_of_rank = static_cast<double>(s.samples) / static_cast<double>(ranks);
  if (samples_of_rank < kSamplesOfRank) return;
  const RankCluster& most = s.clusters[0];
  std::size_t group = 0, at = 0;
  double difference = 0;
  for (std::size_t c = 1; c < s.clusters.size(); ++c) {
    const RankCluster& odd = s.clusters[c];
    for (std::size_t i = 0; i < odd.mean_share.size(); ++i) {
      const SampledFunction& function = s.functions[s.per_rank.functions[i]];
      if (!is_code(function) || function.symbol.starts_with('(')) continue;
      const double p = odd.mean_share[i], q = most.mean_share[i], typical = (p + q) / 2;
      const double chance =
          std::sqrt(std::max(0.0, typical * (1 - typical)) / samples_of_rank * (1.0 / odd.ranks + 1.0 / most.ranks));
      if (std::abs(p - q) <= std::max(0.05, kDeviations * chance) || std::abs(p - q) <= std::abs(difference)) continue;
      difference = p - q;
      group = c;
      at = i;
    }
  }
  if (group == 0) return;
  const RankCluster& odd = s.clusters[group];
  std::vector<std::uint32_t> members;
  for (std::uint32_t rank = 0; rank < s.cluster_of_rank.size(); ++rank) {
    if (s.cluster_of_rank[rank] == group) members.push_back(facts.app.world_rank(rank));
  }
  const bool one = odd.ranks == 1, of_one = most.ranks == 1;
  const std::string others = of_one ? fmt::format("rank {}", facts.app.world_rank(most.leader)) : "most";
  out.push_back(
      {"rank_clusters",
       Severity::note,
       std::abs(difference) * odd.ranks / static_cast<double>(ranks),
       fmt::format("{} {} {} different work than {}: {} of {} {} is in {}, where {} {} (sampled).",
                   one ? "Rank" : "Ranks", rank_ranges(members, 4), one ? "does" : "do", others,
                   human_share(odd.mean_share[at]), one ? "its" : "their",
                   s.unit == "seconds" ? "CPU time" : in_sentence(s.clock), name_and_place(s, s.per_rank.functions[at]),
                   of_one ? "that one spends" : "most spend", human_share(most.mean_share[at])),
       "",
       {{"groups", static_cast<double>(s.clusters.size())},
        {"ranks", static_cast<double>(odd.ranks)},
        {"difference_of_share", difference}}});
}

bool receives(const FunctionProfile& f) {
  return f.function.starts_with("MPI_Wait") || f.function.starts_with("MPI_Recv") || f.function == "MPI_Probe" ||
         f.function == "MPI_Mprobe" || f.function.starts_with("MPI_Sendrecv");
}

// Ranks have equal work, and its sum is about the wall time: they do it one after the other.
void ranks_in_turn(const Facts& facts, std::vector<Finding>& out) {
  const Efficiency& e = facts.efficiency;
  const double wall = facts.app.wall_seconds, ranks = facts.app.ranks;
  if (!e.known || facts.app.ranks < 3 || wall <= 0 || e.load_balance < 0.6) return;
  // Ranks outside MPI at a time, including those that wait for a processor.
  const double working = (facts.rank_seconds - facts.mpi_seconds) / wall;
  if (working > 1.4 || working < 0.6) return;
  const FunctionProfile* most = nullptr;
  double seconds = 0, transfer = 0;
  for (const FunctionProfile& f : facts.app.mpi) {
    transfer += static_cast<double>(f.bytes_sent) / kSlowNetwork;
    if (!receives(f)) continue;
    seconds += f.seconds;
    if (most == nullptr || f.seconds > most->seconds) most = &f;
  }
  const double share = facts.share(seconds);
  if (most == nullptr || share < 0.6 * (ranks - 1) / ranks || most->mean_seconds < 1e-4) return;
  if (transfer > 0.2 * seconds) return;
  const std::string site = facts.main_call_site(most->function);
  out.push_back(
      {"serial_chain",
       Severity::high,
       share,
       fmt::format("Ranks work one after the other: on average {:.1f} of {} work at a time, although their work is "
                   "about equal. Otherwise they wait for each other in {}{} ({} calls of {} each, far longer than a "
                   "message takes).",
                   working, facts.app.ranks, in_sentence(most->function), site.empty() ? "" : ", called from " + site,
                   human_count(static_cast<double>(most->calls)), human_seconds(most->mean_seconds)),
       "Remove the dependence of each rank on its predecessor, or pass the work on in parts (a pipeline); larger "
       "messages would not help.",
       {{"ranks_at_work", working}, {"share", share}, {"seconds_per_call", most->mean_seconds}}});
}

}  // namespace

void find_work(const Facts& facts, std::vector<Finding>& out) {
  if (facts.app.samples.self > 0) odd_ranks(facts, out);
  ranks_in_turn(facts, out);
}

}  // namespace ardoise::reports
