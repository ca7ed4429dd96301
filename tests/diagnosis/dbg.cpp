#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "reports/findings/efficiency.hpp"
#include "tests/diagnosis/kinds.hpp"
using namespace ardoise::diagnosis;
using namespace ardoise;
namespace ardoise::diagnosis {
reports::Run analyzed(const Kind& kind, const Case& how);
}
int main(int argc, char** argv) {
  for (const Kind& kind : kinds()) {
    if (argc > 1 && std::find_if(argv + 1, argv + argc, [&](const char* a) { return kind.code == a; }) == argv + argc)
      continue;
    const reports::Run run = analyzed(kind, {});
    const auto& a = run.applications.at(0);
    const auto times = reports::times_of_ranks(a);
    double useful = 0;
    for (auto& t : times) useful += t.useful();
    useful /= double(times.size());
    double wait =
        std::accumulate(a.waiting.per_rank.waiting_seconds.begin(), a.waiting.per_rank.waiting_seconds.end(), 0.0);
    fmt::print(
        "== {} T {:.3f} path {:.3f} useful {:.3f} wait {:.3f} mpi {:.3f} io {:.3f} proc {:.3f} blk {:.3f}\n", kind.code,
        a.wall_seconds, a.waiting.critical_path_seconds, useful, wait / a.ranks,
        std::accumulate(times.begin(), times.end(), 0.0, [](double s, auto& t) { return s + t.mpi; }) / a.ranks,
        std::accumulate(times.begin(), times.end(), 0.0, [](double s, auto& t) { return s + t.io; }) / a.ranks,
        std::accumulate(times.begin(), times.end(), 0.0, [](double s, auto& t) { return s + t.waiting; }) / a.ranks,
        std::accumulate(times.begin(), times.end(), 0.0, [](double s, auto& t) { return s + t.blocked; }) / a.ranks);
    int n = 0;
    for (auto& p : a.waiting.critical_path) {
      if (n++ >= 6) break;
      double mean = 0, mx = 0;
      for (auto& f : a.samples.functions)
        if (f.symbol == p.symbol) {
          mean = f.self / a.ranks;
          mx = f.rank_max;
        }
      fmt::print("   path {:.3f} ±{:.3f} {} {} {}:{} rank {} ({:.3f}) mean {:.3f} max {:.3f}\n", p.seconds, p.error,
                 p.kind, p.function, p.symbol, p.line, p.rank, p.rank_seconds, mean, mx);
    }
    n = 0;
    for (auto& s : a.waiting.call_sites) {
      if (n++ >= 4) break;
      fmt::print("   site {:.3f} {} {} {}:{} for {} ({:.3f}) n {} waiters {}\n", s.waiting_seconds / a.ranks, s.pattern,
                 s.function, s.symbol, s.line, int(s.awaited), s.awaited_seconds / a.ranks, s.occurrences, s.waiters);
    }
    n = 0;
    for (auto& c : a.waiting.causes) {
      if (n++ >= 4) break;
      fmt::print("   cause rank {} {} {} {:.3f}\n", c.rank, c.kind, c.symbol, c.seconds / a.ranks);
    }
    n = 0;
    for (auto& c : a.call_sites) {
      if (n++ >= 4) break;
      fmt::print(
          "   call {:.3f} {} {}:{} n {} bytes {} min {:.2e} mean {:.2e} ranks {} ops {} flight {:.3f} waited {:.3f}\n",
          c.seconds / a.ranks, c.function, c.symbol, c.line, c.calls, c.bytes, c.min_seconds, c.mean_seconds, c.ranks,
          c.operations, c.flight_seconds / a.ranks, c.waited_seconds / a.ranks);
    }
    for (auto& s : a.snapshots.series) {
      if (s.trigger != "iteration") continue;
      double m = 0, mean = 0;
      size_t K = s.rounds.size();
      for (size_t k = 0; k < K; ++k) {
        double mx = 0, sm = 0;
        for (uint32_t g = 0; g < s.groups; ++g) {
          double v = s.own_seconds[g * K + k] / std::max(1u, s.ranks_per_group);
          mx = std::max(mx, v);
          sm += v;
        }
        m += mx;
        mean += sm / s.groups;
      }
      fmt::print("   series {} {} {}:{} rounds {} ranks {} groups {} sum {:.3f} maxsum {:.3f} mean {:.3f}\n", s.name,
                 s.function, s.symbol, s.line, std::accumulate(s.rounds.begin(), s.rounds.end(), 0ul), s.ranks,
                 s.groups, std::accumulate(s.seconds.begin(), s.seconds.end(), 0.0), m, mean);
    }
  }
}
