// The sampled profile of a synthetic run; see synthetic_run.hpp.
#include "tests/reports/synthetic_samples.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

namespace ardoise::reports::testing {

namespace {

struct Spot {
  int parent;  // place in this table; -1: a root
  const char* symbol;
  const char* file;
  std::uint32_t line;
  double share;  // of the time, in it itself
};
constexpr Spot kSpots[] = {
    {-1, "main", "src/main.cpp", 31, 0.002},
    {0, "Solver::run(Config const&)", "src/solver.cpp", 88, 0.004},
    {1, "Solver::step(Grid&, double)", "src/solver.cpp", 140, 0.006},
    {2, "assemble(Grid const&, Matrix&)", "src/assemble.cpp", 52, 0.31},
    {3, "flux(Cell const&, Cell const&)", "src/flux.hpp", 17, 0.12},
    {2, "cg_solve(Matrix const&, Vector&, double)", "src/cg.cpp", 24, 0.02},
    {5, "spmv(Matrix const&, Vector const&, Vector&)", "src/cg.cpp", 61, 0.19},
    {5, "dot(Vector const&, Vector const&)", "src/cg.cpp", 90, 0.045},
    {7, "MPI_Allreduce", "", 0, 0.06},
    {2, "exchange(Grid&)", "src/halo.cpp", 33, 0.012},
    {9, "MPI_Waitall", "", 0, 0.11},
    {9, "MPI_Isend", "", 0, 0.02},
    {9, "MPI_Irecv", "", 0, 0.01},
    {2, "limiter(Grid&)", "src/limiter.cpp", 12, 0.035},
    {1, "write_checkpoint(Grid const&, std::string const&)", "src/output.cpp", 70, 0.004},
    {14, "", "", 0, 0.016},  // a library without symbols
    {14, "write", "", 0, 0.012},
    {0, "read_input(char const*)", "src/input.cpp", 19, 0.005},
    {-1, "(incomplete call stack)", "", 0, 0.001},
    {18, "memcpy", "", 0, 0.008},
    {2, "(ardoise)", "", 0, 0.004},
    {4, "std::sqrt(double)", "src/math.hpp", 5, 0.006},
};

bool is_mpi(const std::string& symbol) { return symbol.starts_with("MPI_"); }

}  // namespace

void add_samples(Application& a) {
  SampleProfile& s = a.samples;
  const double all = std::accumulate(a.per_rank.wall_seconds.begin(), a.per_rank.wall_seconds.end(), 0.0);
  const double hertz = 625;
  s.unit = "seconds";
  s.clock = "cpu";
  s.counters = {"cycles", "instructions"};
  double shares = 0;
  for (const Spot& spot : kSpots) shares += spot.share;
  std::vector<double> totals;
  for (const Spot& spot : kSpots) totals.push_back(spot.share / shares);
  for (std::size_t i = totals.size(); i-- != 0;) {
    if (kSpots[i].parent >= 0) totals[static_cast<std::size_t>(kSpots[i].parent)] += totals[i];
  }
  // Functions stand by self time.
  std::vector<std::uint32_t> order(std::size(kSpots)), place(std::size(kSpots));
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [](auto x, auto y) { return kSpots[x].share > kSpots[y].share; });
  const auto samples_of = [&](double share) { return static_cast<std::uint64_t>(share * all * hertz); };
  const auto error_of = [&](double share) { return 2.576 * all * std::sqrt(share * (1 - share) / (all * hertz)); };
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    const Spot& spot = kSpots[order[i]];
    place[order[i]] = i;
    const double share = spot.share / shares;
    SampledFunction f;
    f.symbol = spot.symbol;
    f.kind = is_mpi(spot.symbol) ? "mpi" : f.symbol == "(ardoise)" ? "tool" : "code";
    f.source_file = *spot.file == 0 ? "" : std::string("/home/user/project/") + spot.file;
    f.line = spot.line;
    f.module = f.kind != "code"   ? ""
               : *spot.file != 0  ? "/home/user/project/build/solver"
               : f.symbol.empty() ? "/usr/lib/x86_64-linux-gnu/libhdf5.so.103"
                                  : "/usr/lib/x86_64-linux-gnu/libc.so.6";
    f.samples = samples_of(share);
    f.self = share * all;
    f.self_error = error_of(share);
    f.total = totals[order[i]] * all;
    f.total_error = error_of(totals[order[i]]);
    f.rank_mean = f.self / a.ranks;
    f.rank_min = 0.8 * f.rank_mean;
    f.rank_max = (order[i] == 3 ? 1.7 : 1.15) * f.rank_mean;
    f.max_rank = a.ranks / 2;
    f.counters = {f.self * 2.9e9, f.self * 2.9e9 * (order[i] == 6 ? 0.6 : 1.9)};
    s.functions.push_back(f);
    if (spot.line == 0) continue;
    for (std::uint32_t k = 0; k < 3; ++k) {
      const double part = share * (k == 0 ? 0.6 : k == 1 ? 0.3 : 0.1);
      s.lines.push_back({i, f.source_file, f.line + 5 + 3 * k, samples_of(part), part * all, error_of(part)});
    }
  }
  std::stable_sort(s.lines.begin(), s.lines.end(), [](const auto& x, const auto& y) { return x.self > y.self; });
  for (std::size_t i = 0; i < std::size(kSpots); ++i) {
    const Spot& spot = kSpots[i];
    const double seconds = spot.share / shares * all;
    s.tree.parent.push_back(spot.parent < 0 ? kNoParent : static_cast<std::uint32_t>(spot.parent));
    s.tree.function.push_back(place[i]);
    s.tree.samples.push_back(s.functions[place[i]].samples);
    s.tree.self.push_back(seconds);
    s.tree.calls.push_back(is_mpi(spot.symbol) ? 24000ULL * a.ranks : 0);
    s.tree.call_seconds.push_back(is_mpi(spot.symbol) ? seconds * 1.02 : 0);
    s.tree.bytes_sent.push_back(is_mpi(spot.symbol) ? 8ULL * 24000 * a.ranks : 0);
    s.tree.bytes_received.push_back(0);
    s.functions[place[i]].calls = s.tree.calls.back();
    s.functions[place[i]].call_seconds = s.tree.call_seconds.back();
    s.samples += s.tree.samples.back();
  }
  s.self = all;

  for (std::uint32_t i = 0; i < 8; ++i) s.per_rank.functions.push_back(i);
  s.per_rank.all = a.per_rank.wall_seconds;
  s.cluster_of_rank.assign(a.ranks, 0);
  const std::uint32_t odd = a.ranks >= 8 ? 2 : 0;
  for (std::uint32_t rank = 0; rank < odd; ++rank) s.cluster_of_rank[a.ranks / 2 + 3 * rank] = 1;
  for (std::uint32_t i = 0; i < 8; ++i) {
    for (std::uint32_t rank = 0; rank < a.ranks; ++rank) {
      const bool other = s.cluster_of_rank[rank] == 1;
      const double share = s.functions[i].self / all + (other && i == 0 ? 0.22 : other && i == 3 ? -0.05 : 0);
      s.per_rank.self.push_back(share * a.per_rank.wall_seconds[rank]);
    }
  }
  s.cluster_distance = 0.1;
  for (std::uint32_t c = 0; c < (odd == 0 ? 1U : 2U); ++c) {
    RankCluster cluster{c == 0 ? a.ranks - odd : odd, c == 0 ? 0 : a.ranks / 2, {}};
    for (std::uint32_t i = 0; i < 8; ++i) {
      cluster.mean_share.push_back(s.functions[i].self / all + (c == 1 && i == 0   ? 0.22
                                                                : c == 1 && i == 3 ? -0.05
                                                                                   : 0));
    }
    s.clusters.push_back(cluster);
  }

  SampleTimeline& t = s.timeline;
  t.bins = 160;
  t.bin_seconds = a.wall_seconds / t.bins;
  t.rank_step = std::max(1U, a.ranks / 16);
  t.functions = s.per_rank.functions;
  t.all.assign(t.bins, t.bin_seconds * std::min(a.ranks, 16U));
  for (std::uint32_t i = 0; i < 8; ++i) {
    for (std::uint32_t b = 0; b < t.bins; ++b) {
      const double wave = 1 + 0.35 * std::sin(0.15 * b + i), phase = b < 12 ? 0.1 : 1;
      t.self.push_back(std::min(s.functions[i].self / all * wave * phase, 0.9 / 8 + s.functions[i].self / all) *
                       t.all[b]);
    }
  }

  for (std::uint32_t rank = 0; rank < a.ranks; rank += t.rank_step) {
    double rate = 10000, at = 0;
    s.rate_changes.push_back({rank, 0, 0, rate, "start", 0, 250});
    for (std::uint32_t i = 0; i < 4; ++i) {
      rate /= 2;
      at = (at + 0.7 + 0.02 * rank) * 1.9;
      s.rate_changes.push_back({rank, 0, at, rate,
                                i < 2    ? "memory"
                                : i == 2 ? "stream"
                                         : "cost",
                                i + 1, 3 + 9 * i + rank % 5});
    }
    s.rate_changes.push_back({rank, 0, at + 9, rate * 2, "rise", 3, 190});
  }
  for (std::uint32_t rank = 0; rank < a.ranks; ++rank) {
    SampledThreads& threads = s.threads;
    const auto taken = static_cast<std::uint64_t>(a.per_rank.wall_seconds[rank] * 900);
    threads.rank.push_back(rank);
    threads.thread.push_back(0);
    threads.taken.push_back(taken);
    threads.stored.push_back(taken * 7 / 9);
    threads.discarded.push_back(taken * 2 / 9);
    threads.partial.push_back(taken / 110);
    threads.inside_tool.push_back(taken / 400);
    threads.cost_seconds.push_back(0.0061 * a.per_rank.wall_seconds[rank]);
    threads.wall_seconds.push_back(a.per_rank.wall_seconds[rank]);
    threads.self.push_back(0.998 * a.per_rank.wall_seconds[rank]);
    threads.in_calls.push_back(0.9 * a.per_rank.mpi_seconds[rank]);
  }
}

}  // namespace ardoise::reports::testing
