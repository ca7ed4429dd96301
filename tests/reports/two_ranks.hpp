// A small program by hand, for tests of losses.
#pragma once

#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports::testing {

// A part of the critical path, on rank 0.
inline PathPart& add_part(Application& a, const char* kind, double seconds) {
  PathPart& part = a.waiting.critical_path.emplace_back();
  part.kind = kind;
  part.seconds = part.rank_seconds = seconds;
  part.by_rank = {{0, seconds}};
  return part;
}

inline SampledFunction& add_sampled(SampleProfile& s, const char* symbol) {
  SampledFunction& f = s.functions.emplace_back();
  f.symbol = symbol;
  f.kind = "code";
  return f;
}

// Two ranks for 10 s on a host of two processors, as long outside of MPI as the first threads use and await them.
[[nodiscard]] inline Application two_ranks(const std::vector<double>& cpu, const std::vector<double>& awaiting) {
  Application a;
  a.ranks = 2;
  a.wall_seconds = 10;
  a.hosts = {"node1"};
  a.per_rank.host = {0, 0};
  a.per_rank.host_processors = {2, 2};
  a.per_rank.wall_seconds = {10, 10};
  a.per_rank.mpi_seconds = a.per_rank.io_seconds = {0, 0};
  a.per_rank.cpu_seconds = a.per_rank.process_cpu_seconds = cpu;
  a.per_rank.waiting_seconds = awaiting;
  a.per_rank.asleep_outside = {100, 100};
  a.per_rank.asleep_inside = {0, 0};
  a.waiting.critical_path_seconds = 10;
  a.waiting.resolved_calls = 100;
  a.waiting.per_rank.waiting_seconds = a.waiting.per_rank.caused_seconds = {0, 0};
  return a;
}

}  // namespace ardoise::reports::testing
