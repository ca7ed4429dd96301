// fuzz_pack_seeds DIRECTORY: writes one good pack of each class there, for fuzz_pack to start from.
#include <fmt/core.h>

#include <array>
#include <bit>

#include "instrument/format/definition_writer.hpp"
#include "instrument/format/pack_file.hpp"
#include "tests/instrument/make_pack.hpp"

namespace {

using namespace ardoise::instrument;

Pack definitions() {
  std::array<std::uint64_t, 512> room{};
  DefinitionWriter writer(std::as_writable_bytes(std::span(room)));
  const std::array<RankRange, 2> ranges{RankRange{0, 3, 2}, RankRange{1, 1, 0}};
  const std::array<TopologyDimension, 2> dimensions{TopologyDimension{2, 1}, TopologyDimension{2, 0}};
  bool all = writer.add(ProcessDefinition{4, 0, 1, 3, 10, 5, 1024, 0, 4}, "solver", "solver -x", "host", "/tmp");
  all = writer.add(ClockDefinition{10, 20, 2e9, 0, 1e-7, 0, 30}, "tsc", "node") && all;
  all = writer.add(ModuleDefinition{0, 0, 4096, 8192}, "/bin/solver", "abcdef") && all;
  all = writer.add(CallSiteDefinition{77, 0, 4100}) && all;
  all = writer.add(CommunicatorDefinition{0, CommunicatorKind::kIntra, 5, 0, 4, 0, 0, 2, 0, 0, 2}, ranges, "w") && all;
  all = writer.add(TopologyDefinition{0, 2}, dimensions) && all;
  all = writer.add(FileDefinition{1, 0}, "/data") && all;
  all = writer.add(ThreadDefinition{0, 100, 1}) && all;
  all = writer.add(NoticeDefinition{1, 0}, "note") && all;
  all = writer.add(ShortRunsDefinition{77, 8}) && all;
  all = writer.add(MarkNameDefinition{7, 0}, "step") && all;
  all = writer.add(SamplingDefinition{0, SamplingCause::kMemory, 5, 5000, 0, 1, 2, 8, 0, 700}) && all;
  const std::array<std::string_view, 2> counters{"instructions", "cycles"};
  all = writer.add(CountersDefinition{2, SampleUnit::kWallNanoseconds}, "wall", counters) && all;
  all = writer.add(SamplerTotalsDefinition{0, 0, 10, 9, 1, 1, 0, 100, 1000}) && all;
  if (!all) fmt::print(stderr, "fuzz_pack_seeds: the definitions do not fit.\n");
  return make_pack(PackClass::kDefinitions, std::as_bytes(std::span(room)).first(writer.bytes()), writer.count());
}

Pack mpi() {
  const auto extension = [](ExtensionKind kind) {
    return make_word(static_cast<std::uint32_t>(kind), 5, Shape::kExtension);
  };
  const std::array<MpiRecord, 10> records{
      MpiRecord{1, kWide, 3, 4, 5, kWide, make_word(1, 5, Shape::kSend)},
      std::bit_cast<MpiRecord>(WideExtension{1, 2, 3, 0, extension(ExtensionKind::kWideValues)}),
      std::bit_cast<MpiRecord>(ReceiveHalfExtension{7, 3, 9, 0, 0, extension(ExtensionKind::kReceiveHalf)}),
      std::bit_cast<MpiRecord>(NeighbourExtension{1, 2, 1, 0, 0, extension(ExtensionKind::kNeighbourPart)}),
      std::bit_cast<MpiRecord>(StartedExtension{1, 2, 1, 0, 0, extension(ExtensionKind::kStarted)}),
      std::bit_cast<MpiRecord>(SampledExtension{1, 1000, 1, 0, 0, 0, 0, extension(ExtensionKind::kSampled)}),
      std::bit_cast<MpiRecord>(GroupExtension{{1, 2, 3}, 3, extension(ExtensionKind::kGroup)}),
      std::bit_cast<MpiRecord>(MarkExtension{1, 2, 7, 0, MarkKind::kSnapshot, {}, kMarkWord}),
      std::bit_cast<MpiRecord>(ContextExtension{1, 2, 1, 5, 0, 0, kContextWord}),
      std::bit_cast<MpiRecord>(CompletionRecord{1, 1, 3, 2, 5, 8, make_word(1, 7, Shape::kCompletion)})};
  return make_record_pack(PackClass::kMpi, std::span<const MpiRecord>(records));
}

Pack samples() {
  struct Sample {
    SampleRecord record;
    std::array<std::uint64_t, 2> counters;
  };
  const std::array<Sample, 2> records{Sample{{5, 1, 100000, 0, 1, 0, 0, 0, 0}, {10, 20}},
                                      Sample{{9, 2, 100000, 6, 2, kInsideMpi, 0, 0, 0}, {30, 40}}};
  Pack pack = make_record_pack(PackClass::kSamples, std::span<const Sample>(records));
  pack.header().counter_count = 2;
  pack.header().level = 1;
  pack.header().weight = 2;
  return pack;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: fuzz_pack_seeds DIRECTORY\n");
    return 2;
  }
  const std::array<PosixRecord, 2> posix{PosixRecord{1, 2, 3, 1, 2, 0, 100}, PosixRecord{5, 2, 3, 1, 60000, 1, 0}};
  const std::array<TotalsRecord, 1> totals{TotalsRecord{2, 5, 0, 1, 2, 3, 4, 5}};
  const std::array<ContextRecord, 2> contexts{ContextRecord{1, 0, 0, 0, 4100}, ContextRecord{2, 1, 0, 1, 4200}};
  const std::array<ContextTotalsRecord, 1> context_totals{ContextTotalsRecord{2, 2, 5, 1, 2, 3, 4}};
  const std::array<AggregateRecord, 1> aggregates{
      AggregateRecord{make_word(1, 5, Shape::kSend), 3, 4, 5, AggregatePart::kCall, 7, 2, 2, 30, 200, 0, 200, 10, 20}};
  const std::array<std::pair<const char*, Pack>, 8> seeds{
      std::pair{"definitions", definitions()},
      std::pair{"mpi", mpi()},
      std::pair{"posix", make_record_pack(PackClass::kPosix, std::span<const PosixRecord>(posix))},
      std::pair{"totals", make_record_pack(PackClass::kTotals, std::span<const TotalsRecord>(totals))},
      std::pair{"samples", samples()},
      std::pair{"contexts", make_record_pack(PackClass::kContexts, std::span<const ContextRecord>(contexts))},
      std::pair{"context_totals",
                make_record_pack(PackClass::kContextTotals, std::span<const ContextTotalsRecord>(context_totals))},
      std::pair{"aggregates", make_record_pack(PackClass::kAggregates, std::span<const AggregateRecord>(aggregates))}};
  bool all = true;
  PackFileWriter together(std::filesystem::path(argv[1]) / "together");
  for (const auto& [name, pack] : seeds) {
    PackFileWriter file(std::filesystem::path(argv[1]) / name);
    all = file.write(pack.bytes()) && together.write(pack.bytes()) && all;
  }
  if (!all) fmt::print(stderr, "fuzz_pack_seeds: cannot write into {}.\n", argv[1]);
  return all ? 0 : 1;
}
