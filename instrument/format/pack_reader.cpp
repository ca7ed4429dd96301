#include "instrument/format/pack_reader.hpp"

#include <fmt/core.h>

#include <cstdint>

#include "instrument/format/definition_reader.hpp"

namespace ardoise::instrument {
namespace {

PackCheck fail(std::string why) { return {std::nullopt, "This is not an event pack: " + std::move(why) + '.'}; }

// 0: not a class of records.
std::size_t record_bytes(const PackHeader& header) {
  switch (static_cast<PackClass>(header.pack_class)) {
    case PackClass::kMpi:
      return sizeof(MpiRecord);
    case PackClass::kPosix:
      return sizeof(PosixRecord);
    case PackClass::kTotals:
      return sizeof(TotalsRecord);
    case PackClass::kSamples:
      return sizeof(SampleRecord) + header.counter_count * sizeof(std::uint64_t);
    case PackClass::kContexts:
      return sizeof(ContextRecord);
    case PackClass::kContextTotals:
      return sizeof(ContextTotalsRecord);
    case PackClass::kAggregates:
      return sizeof(AggregateRecord);
    case PackClass::kDefinitions:
      break;
  }
  return 0;
}

// The order of operations avoids overflow.
bool adds_up(const ClassLedger& ledger) {
  return ledger.dropped <= ledger.recorded && ledger.aggregated <= ledger.recorded - ledger.dropped;
}

PackCheck check_definitions(const PackView& pack) {
  DefinitionReader reader(pack.payload());
  while (reader.next()) {
  }
  if (!reader.error().empty()) return fail(reader.error());
  if (reader.count() != pack.header().record_count) {
    return fail(fmt::format("it announces {} definitions and holds {}", pack.header().record_count, reader.count()));
  }
  return {pack, {}};
}

}  // namespace

PackCheck check_pack(std::span<const std::byte> bytes_untrusted) {
  if (reinterpret_cast<std::uintptr_t>(bytes_untrusted.data()) % alignof(PackHeader) != 0) {
    return fail("its memory is not aligned to 8 bytes");
  }
  if (bytes_untrusted.size() < sizeof(PackHeader)) {
    return fail(fmt::format("{} bytes are fewer than a header", bytes_untrusted.size()));
  }
  const auto& header = *reinterpret_cast<const PackHeader*>(bytes_untrusted.data());
  if (header.magic != kPackMagic) return fail(fmt::format("the magic number is {:#010x}", header.magic));
  if (header.version != kPackVersion) {
    return fail(fmt::format("it has version {}, this reader knows version {}", header.version, kPackVersion));
  }
  if (header.header_bytes < sizeof(PackHeader) || header.header_bytes % 8 != 0 ||
      header.header_bytes > bytes_untrusted.size()) {
    return fail(fmt::format("a header of {} bytes is impossible", header.header_bytes));
  }
  if (header.payload_bytes > bytes_untrusted.size() - header.header_bytes) {
    return fail(fmt::format("it ends after {} of {} bytes", bytes_untrusted.size(),
                            std::uint64_t{header.header_bytes} + header.payload_bytes));
  }
  if (header.first_tick > header.last_tick) return fail("it ends before it begins");
  if (!adds_up(header.mpi) || !adds_up(header.posix) || !adds_up(header.samples)) {
    return fail("its ledger drops more records than were recorded");
  }
  if (header.weight == 0) return fail("its records have weight 0");
  if (header.counter_count > kMaxCounters) {
    return fail(fmt::format("{} counters are more than {}", header.counter_count, kMaxCounters));
  }
  if (header.level > kMaxSampleLevel || (header.level != 0 && header.weight != 1u << header.level)) {
    return fail(fmt::format("level {} does not go with weight {}", header.level, header.weight));
  }
  if (header.sampled_count > header.record_count) {
    return fail(fmt::format("{} of its {} records are samples", header.sampled_count, header.record_count));
  }

  const PackView pack(&header);
  if (pack.pack_class() == PackClass::kDefinitions) return check_definitions(pack);
  const std::size_t each = record_bytes(header);
  if (each == 0) return fail(fmt::format("its class {} is unknown", header.pack_class));
  if (std::uint64_t{header.record_count} * each != header.payload_bytes) {
    return fail(fmt::format("{} records do not fill {} bytes", header.record_count, header.payload_bytes));
  }
  return {pack, {}};
}

}  // namespace ardoise::instrument
