// Feeds bytes to the readers of external data: a sequence of packs, each checked, then read to the last byte that the
// check guarantees. Finds reads beyond the bytes (with the address sanitizer) and broken guarantees.
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "instrument/format/definition_reader.hpp"
#include "instrument/format/event_reader.hpp"
#include "instrument/format/pack_file.hpp"
#include "instrument/format/posix_functions.hpp"

namespace {

using namespace ardoise::instrument;

void require(bool promise) {
  if (!promise) std::abort();
}

std::uint64_t touch(std::string_view text) {
  std::uint64_t sum = 0;
  for (const char letter : text) sum += static_cast<unsigned char>(letter);
  return sum;
}

std::uint64_t read(const PackView& pack) {
  std::uint64_t sum = 0;
  switch (pack.pack_class()) {
    case PackClass::kDefinitions: {
      DefinitionReader reader(pack.payload());
      while (const auto definition = reader.next()) {
        if (const auto* comm = std::get_if<DecodedCommunicator>(&*definition)) {
          require(comm->ranges.size() == comm->fixed.range_count);
          for (const RankRange& range : comm->ranges) sum += range.count;
          sum += touch(comm->name);
        } else if (const auto* process = std::get_if<DecodedProcess>(&*definition)) {
          sum += touch(process->program) + touch(process->command_line) + touch(process->host);
          sum += touch(process->directory);
        } else if (const auto* module = std::get_if<DecodedModule>(&*definition)) {
          sum += touch(module->path) + touch(module->build_id);
        } else if (const auto* topology = std::get_if<DecodedTopology>(&*definition)) {
          for (const TopologyDimension& dimension : topology->dimensions) {
            require(dimension.extent > 0);
            sum += dimension.extent;
          }
        } else if (const auto* clock = std::get_if<DecodedClock>(&*definition)) {
          require(clock->fixed.ticks_per_second > 0);
          sum += touch(clock->name) + touch(clock->node);
        } else if (const auto* file = std::get_if<DecodedFile>(&*definition)) {
          sum += touch(file->path);
        } else if (const auto* notice = std::get_if<DecodedNotice>(&*definition)) {
          sum += touch(notice->text);
        } else if (const auto* counters = std::get_if<DecodedCounters>(&*definition)) {
          require(counters->fixed.counters <= counters->names.size());
          sum += touch(counters->event);
          for (const auto& name : counters->names) sum += touch(name);
        } else if (const auto* sampling = std::get_if<DecodedSampling>(&*definition)) {
          require(sampling->fixed.hertz >= 0);
        }
      }
      require(reader.error().empty() && reader.count() == pack.header().record_count);
      break;
    }
    case PackClass::kMpi:
      for_each_event(
          pack.records<MpiRecord>(),
          [&](const MpiEvent& event) {
            sum += event.bytes + event.duration + event.received;
            if (event.receive_half != nullptr) sum += as<ReceiveHalfExtension>(*event.receive_half).bytes;
          },
          [&](const CompletionRecord& record) { sum += completion_bytes(record); },
          [&](const NeighbourExtension& part) { sum += part.bytes; },
          [&](const StartedExtension& operation) { sum += operation.bytes; },
          [&](const SampledExtension& sampled) { sum += sampled.weight; },
          [&](const GroupExtension& group) { sum += group.count; });
      break;
    case PackClass::kPosix:
      for (const PosixRecord& record : pack.records<PosixRecord>()) {
        sum += record.bytes + posix_function_info(record.function).name.size();
      }
      break;
    case PackClass::kTotals:
      for (const TotalsRecord& record : pack.records<TotalsRecord>()) sum += record.calls;
      break;
    case PackClass::kSamples:
      for (std::size_t i = 0; i < pack.header().record_count; ++i) {
        const SampleView sample = pack.sample(i);
        sum += sample.record.weight;
        for (const std::uint64_t counter : sample.counters) sum += counter;
      }
      break;
    case PackClass::kContexts:
      for (const ContextRecord& record : pack.records<ContextRecord>()) sum += record.offset;
      break;
    case PackClass::kContextTotals:
      for (const ContextTotalsRecord& record : pack.records<ContextTotalsRecord>()) sum += record.bytes_received;
      break;
    case PackClass::kAggregates:
      for (const AggregateRecord& record : pack.records<AggregateRecord>()) sum += record.max_ticks;
      break;
  }
  return sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy of exactly this size on the heap (malloc aligns to 16): the sanitizer sees the first byte too far.
  auto* const copy = static_cast<std::byte*>(std::malloc(size == 0 ? 1 : size));
  if (size != 0) std::memcpy(copy, data, size);
  std::uint64_t sum = 0;
  PackSequence packs({copy, size});
  while (const auto pack = packs.next()) sum += read(*pack);
  std::free(copy);
  // The sum only keeps the reads alive.
  volatile std::uint64_t sink = sum;
  (void)sink;
  return 0;
}
