#include "tests/reports/synthetic_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "reports/extensions.hpp"
#include "tests/reports/synthetic_samples.hpp"

namespace ardoise::reports::testing {

namespace {

struct Kind {
  const char* function;
  const char* category;
  double weight;        // share of the time in MPI
  std::uint64_t calls;  // of one rank
  std::uint64_t bytes;  // of one call
};
constexpr std::array<Kind, 14> kKinds{{{"MPI_Waitall", "wait", 0.40, 24000, 0},
                                       {"MPI_Allreduce", "collective", 0.27, 12000, 8},
                                       {"MPI_Barrier", "collective", 0.09, 600, 0},
                                       {"MPI_Isend", "point-to-point", 0.07, 144000, 98304},
                                       {"MPI_Irecv", "point-to-point", 0.04, 144000, 98304},
                                       {"MPI_Bcast", "collective", 0.03, 900, 65536},
                                       {"MPI_Send", "point-to-point", 0.025, 3000, 512},
                                       {"MPI_Recv", "point-to-point", 0.025, 3000, 512},
                                       {"MPI_Gather", "collective", 0.02, 120, 4096},
                                       {"MPI_Put", "one-sided", 0.01, 600, 2048},
                                       {"MPI_Win_fence", "one-sided", 0.01, 240, 0},
                                       {"MPI_File_write_at_all", "io", 0.005, 12, 4194304},
                                       {"MPI_Cart_shift", "management", 0.001, 3, 0},
                                       {"MPI_Comm_rank", "management", 0.001, 5, 0}}};

std::vector<std::uint32_t> grid_of(std::uint32_t ranks) {
  auto rows = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(ranks)));
  while (ranks % rows != 0) --rows;
  return {rows, ranks / rows};
}

double noise(std::uint64_t seed) {  // 0 … 1, the same everywhere
  seed = (seed ^ (seed >> 31)) * 0x9E3779B97F4A7C15ULL;
  seed = (seed ^ (seed >> 29)) * 0xBF58476D1CE4E5B9ULL;
  return static_cast<double>((seed ^ (seed >> 32)) & 0xFFFFFF) / static_cast<double>(0xFFFFFF);
}

// All wait for the last rank in MPI_Allreduce, the longer the lower they are.
void add_waiting(Application& a, std::uint32_t ranks) {
  Waiting& w = a.waiting;
  w.per_rank.waiting_seconds.resize(ranks);
  w.per_rank.caused_seconds.resize(ranks);
  double all = 0;
  for (std::uint32_t r = 0; r + 1 < ranks; ++r) {
    const double seconds = 0.01 * (ranks - r);
    w.edges.push_back({r, ranks - 1, seconds});
    w.per_rank.waiting_seconds[r] = seconds;
    all += seconds;
  }
  w.per_rank.caused_seconds[ranks - 1] = all;
  w.patterns = {{"wait_nxn", all, 12000, {0.011, 1.5, 0, ranks - 1}}};
  for (const CallSite& site : a.call_sites) {
    if (site.function != "MPI_Allreduce") continue;
    w.call_sites.push_back({site.function,
                            site.symbol,
                            site.source_file,
                            site.line,
                            site.module,
                            site.offset,
                            "wait_nxn",
                            all,
                            12000,
                            {0.011, 1.5, 0, ranks - 1},
                            ranks - 1,
                            0,
                            ranks - 2,
                            ranks - 1,
                            kNoRank,
                            all});
    break;
  }
  w.causes = {{ranks - 1, "boundary_conditions", "ocean/boundary.cpp", 88, "computation", 0.8 * all, 0.05 * all},
              {ranks - 1, "", "", 0, "mpi", 0.15 * all, 0}};
  w.critical_path = {{"computation", "", "boundary_conditions", "ocean/boundary.cpp", 88, 0.6 * a.wall_seconds,
                      0.01 * a.wall_seconds, ranks - 1, 0.5 * a.wall_seconds},
                     {"mpi", "MPI_Allreduce", "main", "ocean/main.cpp", 40, 0.3 * a.wall_seconds, 0.01 * a.wall_seconds,
                      0, 0.2 * a.wall_seconds},
                     {"other", "", "", "", 0, 0.1 * a.wall_seconds, 0, 0, 0.1 * a.wall_seconds}};
  w.critical_path_seconds = a.wall_seconds;
  w.per_rank.critical_path_seconds.resize(ranks);
  w.per_rank.critical_path_seconds[0] = 0.4 * a.wall_seconds;
  w.per_rank.critical_path_seconds[ranks - 1] = 0.6 * a.wall_seconds;
  w.efficiency = {0.8, 0.9, 0.95, 0.8 * 0.9 * 0.95};
  w.over_time = {a.wall_seconds / 16, 16, 1, ranks, std::vector<double>(16, all / 16)};
  w.efficiency_over_time.bin_seconds = a.wall_seconds / 16;
  for (int bin = 0; bin < 16; ++bin) {
    const double balance = 0.7 + 0.01 * bin;
    w.efficiency_over_time.load_balance.push_back(balance);
    w.efficiency_over_time.serialisation.push_back(0.9);
    w.efficiency_over_time.transfer.push_back(0.95);
    w.efficiency_over_time.parallel.push_back(balance * 0.9 * 0.95);
  }
  w.resolved_calls = std::uint64_t{12000} * ranks;
  w.unresolved.collective_calls.folded = 17;
  w.resolved_messages = std::uint64_t{400} * ranks;
  w.unresolved.message_ends.incomplete = 1;
  w.unresolved.below_clock_seconds = 2e-6;
}

void add_edges(Application& a, const SyntheticOptions& o) {
  const std::uint32_t columns = a.layout.extents[1], rows = a.layout.extents[0];
  for (std::uint32_t r = 0; r < o.ranks; ++r) {
    std::set<std::uint32_t> targets;
    if (o.neighbours >= o.ranks) {
      for (std::uint32_t t = 0; t < o.ranks; ++t) targets.insert(t);
    } else {
      const std::uint32_t x = r % columns, y = r / columns;
      for (std::uint32_t k = 1; targets.size() < o.neighbours && k <= o.neighbours; ++k) {
        targets.insert(y * columns + (x + k) % columns);
        targets.insert(y * columns + (x + columns - k % columns) % columns);
        targets.insert(((y + k) % rows) * columns + x);
        targets.insert(((y + rows - k % rows) % rows) * columns + x);
        targets.erase(r);
      }
    }
    targets.erase(r);
    for (const std::uint32_t t : targets) {
      const bool row = r / columns == t / columns;
      const double factor = (row ? 1.0 : 0.45) * (0.8 + 0.4 * noise(std::uint64_t{r} * o.ranks + t));
      a.edges.push_back({r, t, static_cast<std::uint64_t>(24000 * factor), static_cast<std::uint64_t>(2.36e9 * factor),
                         0.31 * factor});
    }
  }
}

void add_ranks(Application& a, const SyntheticOptions& o) {
  a.hosts = {"node0117"};
  const std::uint32_t per_host = 128;
  for (std::uint32_t h = 1; h * per_host < o.ranks; ++h) a.hosts.push_back(fmt::format("node{:04}", 117 + h));
  a.other_threads.assign(a.hosts.size(), 0.25);
  for (std::uint32_t r = 0; r < o.ranks; ++r) {
    // Work falls from the middle of the grid outwards, as refinement in the middle would do.
    const std::uint32_t columns = a.layout.extents[1], rows = a.layout.extents[0];
    const double dx = (r % columns + 0.5) / columns - 0.5, dy = (r / columns + 0.5) / rows - 0.5;
    const double load = std::exp(-8 * (dx * dx + dy * dy)) + 0.08 * noise(r);
    const double useful = o.wall_seconds * (1 - 0.12) * (1 + o.imbalance * load) / (1 + 1.05 * o.imbalance);
    a.per_rank.wall_seconds.push_back(o.wall_seconds * (1 - 0.001 * noise(r + 7)));
    a.per_rank.mpi_seconds.push_back(std::max(0.0, a.per_rank.wall_seconds.back() - useful));
    a.per_rank.io_seconds.push_back(o.io ? (r == 0 ? 0.06 : 0.002) * o.wall_seconds : 0);
    a.per_rank.host.push_back(r / per_host);
  }
}

void add_functions(Application& a, const SyntheticOptions& o) {
  const double mpi = std::accumulate(a.per_rank.mpi_seconds.begin(), a.per_rank.mpi_seconds.end(), 0.0);
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(o.functions, kKinds.size()); ++i) {
    const Kind& k = kKinds[i];
    FunctionProfile f;
    f.function = k.function;
    f.category = k.category;
    f.calls = k.calls * o.ranks;
    f.seconds = mpi * k.weight;
    f.bytes = f.calls * k.bytes;
    f.bytes_sent = f.bytes;
    f.mean_seconds = f.seconds / static_cast<double>(f.calls);
    f.min_seconds = f.mean_seconds * 0.02;
    f.max_seconds = f.mean_seconds * 90;
    f.calls_by_size.assign(k.bytes == 0 ? 1 : static_cast<std::size_t>(std::log2(static_cast<double>(k.bytes))) + 2, 0);
    f.calls_by_size.back() = f.calls;
    a.mpi.push_back(f);
    for (std::uint32_t s = 0; s < 2; ++s) {
      CallSite site{f.function,
                    s == 0 ? "halo_exchange(Grid&, int)" : "solve_step(Grid&, double)",
                    "src/solver.cpp",
                    214 + 31 * i + s,
                    "/home/user/project/build/solver",
                    0x4a20 + 64 * i + s,
                    f.calls / 2,
                    f.seconds * (s == 0 ? 0.8 : 0.2),
                    f.bytes / 2,
                    f.min_seconds,
                    f.mean_seconds,
                    f.max_seconds,
                    o.ranks};
      a.call_sites.push_back(site);
    }
    if (i >= o.density_functions) continue;
    DensityMap map{f.function, {}, {}, {}};
    for (std::uint32_t r = 0; r < o.ranks; ++r) {
      map.calls.push_back(k.calls + (i % 2 == 0 ? r % 7 : 0));
      map.seconds.push_back(a.per_rank.mpi_seconds[r] * k.weight);
      map.bytes.push_back(k.calls * k.bytes);
    }
    a.density.push_back(map);
  }
  std::sort(a.call_sites.begin(), a.call_sites.end(),
            [](const CallSite& x, const CallSite& y) { return x.seconds > y.seconds; });
}

void add_io(Application& a, const SyntheticOptions& o) {
  const std::uint64_t writes = 4000;
  a.posix = {{"write",
              "io",
              writes,
              0.055 * o.wall_seconds,
              writes * 2048,
              writes * 2048,
              0,
              1e-6,
              3e-4,
              0.04,
              {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, writes}}},
             {"read", "io", 400, 0.012 * o.wall_seconds, 400 * 65536, 0, 400 * 65536, 1e-6, 2e-4, 0.01, {}},
             {"open", "io", 12, 0.001, 0, 0, 0, 2e-5, 8e-5, 2e-4, {}}};
  a.files = {
      {"/scratch/user/run 7/checkpoint_0001.h5", 2, 0, writes, writes + 4, 0, writes * 2048, 0.055 * o.wall_seconds, 1},
      {"/scratch/user/run 7/input.cfg", o.ranks, 400, 0, 400 + 2 * o.ranks, 400 * 65536, 0, 0.012 * o.wall_seconds,
       o.ranks}};
  DensityMap map{"write", {}, {}, {}};
  for (std::uint32_t r = 0; r < o.ranks; ++r) {
    map.calls.push_back(r == 0 ? writes : 0);
    map.seconds.push_back(r == 0 ? a.posix[0].seconds : 0);
    map.bytes.push_back(r == 0 ? a.posix[0].bytes : 0);
  }
  a.density.push_back(map);
}

void add_temporal(Application& a, const SyntheticOptions& o) {
  TemporalMap& t = a.temporal;
  t.classes = {"point-to-point", "collective", "wait", "io"};
  t.bins = 240;
  t.bin_seconds = o.wall_seconds / t.bins;
  t.ranks_per_group = std::max(1U, (o.ranks + 31) / 32);
  t.groups = (o.ranks + t.ranks_per_group - 1) / t.ranks_per_group;
  t.share.resize(t.classes.size() * t.groups * t.bins);
  for (std::uint32_t c = 0; c < t.classes.size(); ++c) {
    for (std::uint32_t g = 0; g < t.groups; ++g) {
      for (std::uint32_t b = 0; b < t.bins; ++b) {
        const double phase = b < 20 ? 0.15 : 1, wave = 0.5 + 0.5 * std::sin(0.2 * b + c);
        const double base = c == 3 ? (b % 60 < 4 && g == 0 ? 0.7 : 0) : (c == 2 ? 0.22 : 0.09) * phase * (0.5 + wave);
        const double edge = std::abs(2.0 * g / std::max(1U, t.groups) - 1);
        t.share[(static_cast<std::size_t>(c) * t.groups + g) * t.bins + b] =
            static_cast<float>(std::min(1.0, base * (0.7 + 0.5 * edge)));
      }
    }
  }
}

// A main loop whose iterations, kept two by two, are much alike.
void add_snapshots(Application& a, const SyntheticOptions& o) {
  const std::size_t kept = o.snapshots;
  SnapshotSeries& s = a.snapshots.series.emplace_back();
  s.trigger = "iteration";
  s.function = "MPI_Irecv";
  s.symbol = "exchange_halo";
  s.source_file = "/src/halo.cpp";
  s.line = 30;
  s.ranks = o.ranks;
  s.call_sites = 5;
  s.regular = 0.97;
  s.groups = std::min(o.ranks, 32u);
  s.ranks_per_group = (o.ranks + s.groups - 1) / s.groups;
  s.groups = (o.ranks + s.ranks_per_group - 1) / s.ranks_per_group;
  for (const char* const function : {"MPI_Waitall", "MPI_Allreduce", "write"}) {
    SnapshotCalls& calls = s.calls.emplace_back();
    calls.function = function;
    calls.symbol = "step";
    calls.source_file = "/src/solver.cpp";
    calls.line = 200;
  }
  SnapshotFunction& function = s.functions.emplace_back();
  function.symbol = "relax";
  function.source_file = "/src/solver.cpp";
  function.line = 120;
  SnapshotValue& value = s.values.emplace_back();
  value.name = "residual";
  const double mean = 0.9 * o.wall_seconds / static_cast<double>(kept);
  for (std::size_t i = 0; i < kept; ++i) {
    const double wave = 1 + 0.1 * std::sin(0.3 * static_cast<double>(i));
    const double length = mean * wave * (i + 1 == kept ? 0.5 : 1);
    s.begin_seconds.push_back(0.05 * o.wall_seconds + mean * static_cast<double>(i));
    s.seconds.push_back(length);
    s.rounds.push_back(i + 1 == kept ? 1 : 2);
    s.longest_seconds.push_back(1.1 * length);
    s.mpi_seconds.push_back(0.3 * length);
    s.io_seconds.push_back(0.02 * length);
    s.waiting_seconds.push_back(0.2 * length);
    function.seconds.push_back(0.4 * length * o.ranks);
    value.count.push_back(2 * o.ranks);
    value.sum.push_back(2 * o.ranks / (1.0 + static_cast<double>(i)));
    value.least.push_back(-0.5 / (1.0 + static_cast<double>(i)));
    value.most.push_back(2 / (1.0 + static_cast<double>(i)));
    for (std::size_t call = 0; call < s.calls.size(); ++call) {
      s.calls[call].calls.push_back(2 * o.ranks);
      s.calls[call].bytes.push_back(4096 * o.ranks);
      s.calls[call].seconds.push_back((call == 2 ? 0.02 : 0.15) * length * o.ranks);
      s.calls[call].waiting_seconds.push_back((call == 2 ? 0 : 0.1) * length * o.ranks);
    }
  }
  for (std::uint32_t group = 0; group < s.groups; ++group) {
    for (std::size_t i = 0; i < kept; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(kept);
      s.own_seconds.push_back((group * 8 >= 7 * s.groups ? 0.3 + 0.4 * share : 0.68) * s.seconds[i]);
      s.group_longest_seconds.push_back(1.05 * s.own_seconds.back());
      s.group_bytes.push_back(4e6 * static_cast<double>(s.rounds[i]) * (group == 0 || group + 1 == s.groups ? 1 : 2));
      s.group_calls.push_back(10 * static_cast<double>(s.rounds[i]));
      s.group_waiting_seconds.push_back(0.2 * s.seconds[i]);
    }
  }
}

}  // namespace

Application synthetic_application(const std::string& name, const SyntheticOptions& o) {
  Application a;
  a.name = name;
  a.command = "./" + name + " -i in.cfg --steps 12000";
  a.working_directory = "/scratch/user/run 7";
  a.ranks = o.ranks;
  a.threads = 1;
  a.thread_level = "MPI_THREAD_FUNNELED";
  a.wall_seconds = o.wall_seconds;
  a.init_seconds = 0.31;
  a.layout.extents = grid_of(o.ranks);
  a.layout.cartesian = o.cartesian;
  a.communicators.resize(3);
  a.communicators[0].name = "MPI_COMM_WORLD";
  a.communicators[1].name = "cart";
  for (Communicator& each : a.communicators) {
    each.size = o.ranks;
    each.count = 1;
  }
  Communicator& rows = a.communicators[2];
  rows.name = "rows";
  rows.size = a.layout.extents[1];
  rows.count = a.layout.extents[0];
  if (rows.size > 1 && rows.count > 1) {
    for (std::uint32_t rank = 0; rank < o.ranks; ++rank) rows.group_of_rank.push_back(1 + rank / rows.size);
    rows.efficiency = {0.8, 0.9, 0.95, 0.8 * 0.9 * 0.95};
    rows.least_efficient = rows.group_of_rank.back();
    rows.balance_between = 0.7;
  }
  add_ranks(a, o);
  add_functions(a, o);
  if (o.io) add_io(a, o);
  if (o.ranks > 1) add_edges(a, o);
  if (o.ranks > 1) add_waiting(a, o.ranks);
  add_temporal(a, o);
  add_snapshots(a, o);
  if (o.samples) add_samples(a);
  Quality& q = a.quality;
  std::uint64_t calls = 0;
  for (const FunctionProfile& f : a.mpi) calls += f.calls;
  q.ledger = {{"mpi", calls, calls, 0, 0}, {"posix", 4412, 4412, 0, 0}};
  if (o.samples) q.ledger.push_back({"samples", a.samples.samples + 900, a.samples.samples, 900, 0});
  q.packs = calls / 8000 + 1;
  q.pack_bytes = calls * 34;
  q.blocked_seconds = 0.021;
  q.analyzer_cpu_seconds = 0.013;
  q.ranks_complete = o.ranks;
  q.record_cost_seconds = 38e-9;
  q.recording_seconds = static_cast<double>(calls) * q.record_cost_seconds;
  q.sending_seconds = 0.03;
  for (const double cost : a.samples.threads.cost_seconds) q.sampling_seconds += cost;
  q.overhead_seconds = q.recording_seconds + q.sending_seconds + q.sampling_seconds;
  q.clock = "tsc, 2.9 GHz, invariant";
  q.clock_error_seconds = 1.2e-6;
  q.unresolved_call_sites = 2;
  return a;
}

Run synthetic_run(std::uint32_t ranks) {
  Run run;
  run.tool_version = "0.1.0";
  run.started = "2026-11-21T03:00:00Z";
  const std::uint32_t post = std::max(1U, ranks / 4), solver = std::max(1U, ranks - post);
  SyntheticOptions options;
  options.ranks = solver;
  run.applications.push_back(synthetic_application("solver", options));
  options = {};
  options.ranks = post;
  options.wall_seconds = 39.2;
  options.imbalance = 0.02;
  options.functions = 6;
  options.cartesian = false;
  run.applications.push_back(synthetic_application("post", options));
  run.applications[1].partition = 1;
  run.applications[1].start_seconds = 0.8;
  add_extension(run.applications[0], "hydro_phases",
                {{"title", "Phases of the hydrodynamics"},
                 {"columns", {"phase", "count", "seconds"}},
                 {"rows", {{"advect", 12000, 310.25}, {"project", 12000, 122.5}, {"output", 12, 1.75}}}});
  run.command = fmt::format("ardoise mpirun -n {} ./solver -i in.cfg : -n {} ./post", solver, post);
  run.universe_ranks = solver + post + 1;
  run.analyzer_ranks = 1;
  run.analyzer_workers = 2;
  run.analysis_seconds = 0.14;
  return run;
}

Run coupled_run() {
  Run run = synthetic_run(12);
  SyntheticOptions options;
  options.ranks = 4;
  Application ocean = synthetic_application("ocean", options);
  options.ranks = 8;
  Application atmosphere = synthetic_application("atmosphere", options);
  ocean.world_ranks = atmosphere.world_ranks = 12;
  atmosphere.first_rank = 4;
  ocean.edges_between = {{0, 4, 100, 4096, 0.25}, {0, 11, 10, 65536, 0.5}};
  atmosphere.edges_between = {{5, 1, 7, 700, 0.125}};
  WaitSite& site = ocean.waiting.call_sites[0];
  site.awaited = site.longest.awaited = kNoRank;
  site.awaited_other = site.longest.awaited_other = 9;
  ocean.waiting.edges_between = {{0, 9, 0.75 * site.waiting_seconds}, {1, 9, 0.25 * site.waiting_seconds}};
  ocean.waiting.others = {{"atmosphere",
                           9,
                           site.waiting_seconds,
                           {9, "radiation", "air/radiation.cpp", 12, "computation", 0.8 * site.waiting_seconds, 0.01}}};
  ocean.waiting.edges.clear();
  ocean.waiting.causes.clear();
  ocean.waiting.per_rank.caused_seconds.assign(ocean.ranks, 0);
  ocean.waiting.critical_path_elsewhere_seconds = ocean.waiting.critical_path_seconds;
  Application other = run.applications[1];
  other.edges_between.clear();
  run.applications = {ocean, atmosphere, other};
  return run;
}

Run full_run() {
  Run run = empty_run();
  SyntheticOptions options;
  options.ranks = 8;
  options.snapshots = 12;
  run.applications = {synthetic_application("atmosphere", options)};
  run.applications[0].first_rank = 4;
  run.applications[0].world_ranks = 12;
  run.applications[0].edges_between = {{5, 1, 7, 700, 0.125}};
  run.notices = {"One analyzer."};
  run.settings = {{"rate", "97", "command line"}};
  Application& a = run.applications[0];
  a.waiting.edges_between = {{5, 1, 0.25}};
  a.waiting.others = {{"ocean", 1, 0.25, {1, "currents", "ocean.cpp", 7, "computation", 0.125, 0.01}}};
  add_extension(a, "phases", {{"title", "Phases"}, {"columns", {"phase"}}, {"rows", {{"advect"}}}});
  a.layout.rank_of_cell = {7, 6, 5, 4, 3, 2, 1, 0};
  a.sleep_sites = {{"wait_for_input", "input.cpp", 88, "/home/user/ocean", 0x4711, 3, 2}};
  for (FunctionProfile& f : a.posix) f.calls_by_size = {1, 2, 3};
  for (FileProfile& f : a.files) f.read_sizes = f.write_sizes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  for (std::uint32_t rank = 0; rank < a.ranks; ++rank) {
    a.per_rank.first_mpi_seconds.push_back(0.9 * a.per_rank.mpi_seconds[rank]);
    a.per_rank.first_io_seconds.push_back(0.9 * a.per_rank.io_seconds[rank]);
    a.per_rank.asleep_outside.push_back(3);
    a.per_rank.asleep_inside.push_back(2 + rank);
    a.per_rank.asleep_for_thread.push_back(1);
    a.per_rank.asleep_for_time.push_back(0);
    a.per_rank.asleep_for_program.push_back(1);
    a.per_rank.asleep_for_file_lock.push_back(0);
    a.per_rank.cpu_seconds.push_back(0.8 * a.wall_seconds);
    a.per_rank.waiting_seconds.push_back(0.1 * a.wall_seconds);
    a.per_rank.process_cpu_seconds.push_back(0.9 * a.wall_seconds);
    a.per_rank.children_cpu_seconds.push_back(0.01 * rank);
    a.per_rank.peak_memory_bytes.push_back((1 + rank) << 28);
    a.per_rank.processors.push_back(1);
    a.per_rank.first_processor.push_back(rank / 2);
    a.per_rank.host_processors.push_back(8);
    a.waiting.per_rank.origin_seconds.push_back(0.02 * rank);
    a.waiting.per_rank.without_processor_seconds.push_back(0.001);
  }
  for (PathPart& part : a.waiting.critical_path) part.by_rank = {{part.rank, part.rank_seconds}};
  a.memory.bins = 12;
  a.memory.bin_seconds = a.wall_seconds / 12;
  for (std::uint32_t cell = 0; cell < a.ranks * 12; ++cell) a.memory.peak_bytes.push_back((1 + cell % 12) << 26);
  a.memory.host_bytes = {std::uint64_t{16} << 30};
  a.memory.limit_bytes = {std::uint64_t{4} << 30};
  a.communicators[0].group_of_rank.assign(a.ranks, 1);
  a.communicators[1].group_of_rank = {1, 1, 1, 1, 2, 2, 2, 2};
  a.waiting.unreceived = {{"MPI_Isend", "step", "/src/solver.cpp", 12, "/bin/solver", 16, 3, 2, 5}};
  SnapshotSeries& s = a.snapshots.series[0];
  s.trigger = "snapshot";
  s.name = "step";
  for (std::size_t i = 0; i < s.seconds.size(); ++i) s.numbers.push_back(static_cast<std::int64_t>(i));
  s.group_io_seconds.assign(s.own_seconds.size(), 0.001);
  s.group_cpu_seconds.assign(s.own_seconds.size(), 0.002);
  s.counters = {{"instructions", std::vector<double>(s.seconds.size(), 1e9)}};
  a.snapshots.series.push_back(s);
  a.snapshots.series[1].trigger = "iteration";
  SampleProfile& samples = a.samples;
  samples.per_rank.uneven = {3, 4};
  samples.per_rank.total.assign(std::size_t{2} * a.ranks, 1.5);
  samples.per_rank.total.back() = 30;
  samples.threads.thread.back() = 1;
  samples.regions.functions = {3};
  samples.regions.total.assign(samples.threads.rank.size(), 2);
  const StackPlace place{"step", "/src/solver.cpp", 12, "/bin/solver", 16};
  const LastCall call{"MPI_Recv", place, 1, 3, "MPI_COMM_WORLD", "", 8, 40, 2.5};
  a.ending.ends = {{"signal", "SIGSEGV", 139, 42, true, 8, 0, {2}, call, {place}, {call}}};
  a.ending.stands = {{{0, 1, 3, 4, 5, 6, 7}, call, call, 1, 2, {call}, {place}}};
  a.quality.notices = {"Nothing of rank 2 after 42 s."};
  return run;
}

Run empty_run() {
  Run run;
  run.tool_version = "0.1.0";
  Application a;
  a.name = "idle";
  a.ranks = a.quality.ranks_complete = 1;
  run.applications.push_back(a);
  return run;
}

Run nasty_run() {
  Run run = synthetic_run(8);
  const std::string nasty = "a_b%c&d#e$f\\g{h}i~j^k<l>\"m\"'n'|`é世界😀 -- --- \x01\x1b[31m\xff\xc3(\t\n";
  run.command = nasty;
  run.notices = {nasty};
  run.ended_by = nasty;
  for (Application& a : run.applications) {
    a.name = nasty;
    a.command = nasty + std::string(5000, 'w') + " " + nasty;
    a.working_directory = "/" + nasty;
    a.hosts[0] = nasty;
    a.thread_level = nasty;
    for (FunctionProfile& f : a.mpi) f.function += "_%&";
    a.mpi[0].function = std::string(300, 'F');
    a.mpi[1].category = nasty;
    for (CallSite& s : a.call_sites) {
      s.symbol = "std::__cxx11::" + nasty + std::string(300, 'x') + "<int, (anonymous namespace)::T_1&>";
      s.source_file = "/home/ünïcødé/源/" + std::string(200, 'p') + "/" + nasty + ".cpp";
    }
    a.files[0].path = nasty + std::string(4000, '/');
    a.communicators[0].name = nasty;
    a.density[0].function = nasty;
    a.temporal.classes[0] = nasty;
    a.quality.clock = nasty;
    a.quality.notices = {nasty, std::string(3000, 'n')};
    for (SampledFunction& f : a.samples.functions) {
      f.symbol = nasty + f.symbol;
      f.source_file = nasty;
      f.module = nasty;
    }
    for (SampledLine& l : a.samples.lines) l.source_file = nasty;
    a.samples.counters = {nasty, "instructions"};
    for (RateChange& c : a.samples.rate_changes) c.cause = nasty;
    a.extensions.reset();
    add_extension(
        a, nasty,
        {{"title", nasty}, {"columns", {nasty, "x"}}, {"rows", {{nasty, 1}, {2, nullptr}, {true}, "no row"}}});
    add_extension(a, "odd", 5);
  }
  return run;
}

}  // namespace ardoise::reports::testing
