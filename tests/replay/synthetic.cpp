#include "replay/synthetic.hpp"

#include <algorithm>

#include "instrument/format/posix_functions.hpp"

namespace ardoise::replay {

using instrument::PackClass;
using instrument::Shape;
using vmpi::FunctionId;

std::array<std::uint32_t, 3> grid_extents(std::uint32_t ranks) {
  std::array<std::uint32_t, 3> best{1, 1, ranks};
  for (std::uint32_t x = 1; x * x * x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    for (std::uint32_t y = x; y * y <= ranks / x; ++y) {
      if (ranks / x % y == 0) best = {x, y, ranks / x / y};
    }
  }
  return best;
}

std::vector<std::uint32_t> grid_neighbours(std::array<std::uint32_t, 3> extents, std::uint32_t rank) {
  const std::uint32_t z = rank % extents[2], y = rank / extents[2] % extents[1], x = rank / extents[2] / extents[1];
  std::vector<std::uint32_t> result;
  for (const std::uint32_t dx : {extents[0] - 1, 0u, 1u}) {
    for (const std::uint32_t dy : {extents[1] - 1, 0u, 1u}) {
      for (const std::uint32_t dz : {extents[2] - 1, 0u, 1u}) {
        const std::uint32_t other =
            ((x + dx) % extents[0] * extents[1] + (y + dy) % extents[1]) * extents[2] + (z + dz) % extents[2];
        if (other != rank) result.push_back(other);
      }
    }
  }
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

namespace {

void define(PackMaker& maker, const SyntheticProgram& program, std::uint32_t rank, std::uint64_t end_tick) {
  using namespace std::string_view_literals;
  const std::uint64_t origin = synthetic_origin(rank);
  maker.define(
      instrument::ProcessDefinition{program.ranks, rank, 1000 + rank, 0, origin, 5'000'000, 16 << 20, 0, program.ranks},
      "synthetic"sv, "./synthetic\0--steps\0ten"sv, rank % 2 == 0 ? "node-even"sv : "node-odd"sv, "/home/user"sv);
  maker.define(instrument::ClockDefinition{origin, 1'700'000'000'000'000'000, 1e9, 0, 1e-6, end_tick, 40}, "tsc"sv,
               "boot-id"sv);
  maker.define(instrument::ModuleDefinition{0, 0, 0x400000, 0x10000}, "/opt/synthetic"sv, ""sv);
  for (const std::uint32_t site : {kSiteIrecv, kSiteIsend, kSiteWaitall, kSiteAllreduce, kSiteBarrier, kSiteWrite}) {
    maker.define(instrument::CallSiteDefinition{site, 0, 0x1000 + site});
  }
  const instrument::RankRange all{0, program.ranks, 1};
  maker.define(instrument::CommunicatorDefinition{kCommCart, instrument::CommunicatorKind::kIntra, 77, 0, program.ranks,
                                                  rank, 0, 1, 0, 0, 1},
               std::span(&all, 1), "grid"sv);
  std::vector<instrument::TopologyDimension> dimensions;
  for (const std::uint32_t extent : grid_extents(program.ranks)) dimensions.push_back({extent, 1});
  maker.define(instrument::TopologyDefinition{kCommCart, 3},
               std::span<const instrument::TopologyDimension>(dimensions));
  maker.define(instrument::FileDefinition{1, 0}, "/scratch/out.bin"sv);
}

// One pack of samples a step, at two instructions of each function; the rate of sampling is halved once. Each function
// is called by the one before.
void add_samples(PackMaker& maker, const SyntheticProgram& program, std::uint32_t rank, std::uint32_t step,
                 std::uint64_t begin) {
  std::vector<instrument::ContextRecord> contexts;
  std::vector<instrument::SampleRecord> samples;
  const std::uint32_t level = step < program.steps / 2 ? 0 : 1;
  for (std::uint32_t i = 0; i < program.samples; ++i) {
    const std::uint32_t context = 2 * i + 1 + rank % 3;  // numbers differ between the ranks
    contexts.push_back({context, i == 0 ? 0 : context - 2, 0, 0, 0x3000 + 16 * i});
    contexts.push_back({context + 1, context, 0, 1, 0x3000 + 16 * i});
    const std::uint64_t tick = begin + kStepTicks / program.samples * i;
    samples.push_back({tick, context + 1, kStepTicks / program.samples >> level, 0, static_cast<std::uint8_t>(level), 0,
                       step % 2 * 4, 0, 0});
  }
  samples.back().function = static_cast<std::uint16_t>(FunctionId::kWaitall) + 1;
  samples.back().context -= 1;
  if (step == 0) maker.contexts(1, contexts);
  maker.samples(1, samples, level);
  const std::array calls{
      instrument::ContextTotalsRecord{samples.back().context, static_cast<std::uint16_t>(PackClass::kMpi),
                                      static_cast<std::uint16_t>(FunctionId::kWaitall), 1, kWaitallTicks, 0, 0}};
  maker.context_totals(1, calls);
  if (step == program.steps / 2) {
    maker.define(
        instrument::SamplingDefinition{1, instrument::SamplingCause::kMemory, begin, 5e5, 0, 1, 3, 16, 0, 300});
  }
}

}  // namespace

std::vector<Pack> synthetic_packs(const SyntheticProgram& program, std::uint32_t rank) {
  const std::uint64_t origin = synthetic_origin(rank);
  const std::uint64_t end_tick = origin + std::uint64_t{program.steps} * kStepTicks;
  const auto neighbours = grid_neighbours(grid_extents(program.ranks), rank);
  PackMaker maker({.partition = program.partition, .rank = rank, .origin_tick = origin}, program.records_per_pack);
  define(maker, program, rank, 0);

  std::vector<std::uint64_t> posted;
  for (std::uint32_t step = 0; step < program.steps; ++step) {
    std::uint64_t now = origin + std::uint64_t{step} * kStepTicks;
    if (program.samples != 0) add_samples(maker, program, rank, step, now);
    posted.clear();
    for (const std::uint32_t peer : neighbours) {
      maker.call(FunctionId::kIrecv, Shape::kPostReceive, now, kIrecvTicks, static_cast<std::int32_t>(peer), 7,
                 program.halo_bytes, kSiteIrecv, kCommCart);
      posted.push_back(now);
      now += kIrecvTicks;
    }
    if (rank % 2 == 1) now += program.late_ticks;
    for (const std::uint32_t peer : neighbours) {
      maker.call(FunctionId::kIsend, Shape::kSend, now, kIsendTicks, static_cast<std::int32_t>(peer), 7,
                 program.halo_bytes, kSiteIsend, kCommCart);
      posted.push_back(now);
      now += kIsendTicks;
    }
    maker.call(FunctionId::kWaitall, Shape::kCompletes, now, kWaitallTicks, instrument::kNoPeer,
               static_cast<std::int32_t>(2 * neighbours.size()), 0, kSiteWaitall, instrument::kNoComm);
    for (std::size_t i = 0; i < posted.size(); ++i) {
      const bool receive = i < neighbours.size();
      maker.mpi_extension(instrument::CompletionRecord{
          posted[i], 0, receive ? kSiteIrecv : kSiteIsend,
          receive ? static_cast<std::int32_t>(neighbours[i]) : instrument::kNoPeer, 7, receive ? program.halo_bytes : 0,
          instrument::make_word(kCommCart,
                                static_cast<std::uint32_t>(receive ? FunctionId::kIrecv : FunctionId::kIsend),
                                Shape::kCompletion)});
      if (receive) {
        maker.total(PackClass::kMpi, static_cast<std::uint16_t>(FunctionId::kIrecv), 0, 0, 0, program.halo_bytes);
      }
    }
    now += kWaitallTicks;
    maker.call(FunctionId::kAllreduce, Shape::kCollective, now, kAllreduceTicks, instrument::kNoPeer,
               static_cast<std::int32_t>(program.allreduce_bytes), program.allreduce_bytes, kSiteAllreduce);
    now += kAllreduceTicks;
    if (step % 10 != 0) continue;
    maker.call(FunctionId::kBarrier, Shape::kCollective, now, kBarrierTicks, instrument::kNoPeer, 0, 0, kSiteBarrier);
    now += kBarrierTicks;
    const auto write = static_cast<std::uint16_t>(instrument::PosixFunction::kWrite);
    maker.posix({now, kWriteTicks, kSiteWrite, 1, write, 0, program.write_bytes});
    maker.total(PackClass::kPosix, write, 1, kWriteTicks, program.write_bytes, 0);
  }
  using namespace std::string_view_literals;
  maker.define(
      instrument::ClockDefinition{end_tick, 1'700'000'000'000'000'000 + end_tick - origin, 1e9, 0, 1e-6, end_tick, 40},
      "tsc"sv, "boot-id"sv);
  maker.finish();
  return maker.take();
}

}  // namespace ardoise::replay
