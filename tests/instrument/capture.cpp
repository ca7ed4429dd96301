#include "tests/instrument/capture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <type_traits>

#include "instrument/format/posix_functions.hpp"
#include "instrument/format/rank_ranges.hpp"
#include "vmpi/mpi_functions.hpp"

namespace ardoise::instrument {
namespace {

std::string mpi_name(std::uint32_t function) {
  return function < vmpi::kFunctionCount ? vmpi::kFunctionTraits[function].name : "?";
}

void read_definitions(Capture& out, const PackView& pack) {
  DefinitionReader reader(pack.payload());
  while (const auto definition = reader.next()) {
    std::visit(
        [&](const auto& decoded) {
          using Type = std::decay_t<decltype(decoded)>;
          if constexpr (std::is_same_v<Type, DecodedProcess>) {
            out.process = decoded.fixed;
            out.program = decoded.program;
            out.command_line = decoded.command_line;
          } else if constexpr (std::is_same_v<Type, DecodedClock>) {
            if (out.last_clock.tick == 0) out.first_clock = decoded.fixed;
            out.last_clock = decoded.fixed;
          } else if constexpr (std::is_same_v<Type, DecodedModule>) {
            out.modules[decoded.fixed.module] = decoded.path;
          } else if constexpr (std::is_same_v<Type, DecodedCallSite>) {
            out.call_sites[decoded.fixed.call_site] = decoded.fixed;
          } else if constexpr (std::is_same_v<Type, DecodedCommunicator>) {
            auto& comm = out.comms[decoded.fixed.comm];
            if (decoded.fixed.first_range == 0) comm.members.clear();
            comm.fixed = decoded.fixed;
            comm.name = decoded.name;
            const auto members = decode_ranges(decoded.ranges, 1 << 24);
            comm.members.insert(comm.members.end(), members.begin(), members.end());
          } else if constexpr (std::is_same_v<Type, DecodedTopology>) {
            out.comms[decoded.fixed.comm].dimensions.assign(decoded.dimensions.begin(), decoded.dimensions.end());
          } else if constexpr (std::is_same_v<Type, DecodedFile>) {
            out.files[decoded.fixed.file] = decoded.path;
          } else if constexpr (std::is_same_v<Type, DecodedThread>) {
            out.threads.push_back(decoded.fixed);
          } else if constexpr (std::is_same_v<Type, DecodedNotice>) {
            out.notices.emplace_back(decoded.text);
          } else if constexpr (std::is_same_v<Type, DecodedDatatype>) {
            out.datatypes[decoded.fixed.datatype] = decoded.text;
          } else if constexpr (std::is_same_v<Type, DecodedMarkName>) {
            out.mark_names[decoded.fixed.name] = decoded.name;
          } else if constexpr (std::is_same_v<Type, DecodedSampling>) {
            out.rates.push_back(decoded.fixed);
          } else if constexpr (std::is_same_v<Type, DecodedSamplerTotals>) {
            out.sampler_totals[decoded.fixed.thread] = decoded.fixed;
          } else if constexpr (std::is_same_v<Type, DecodedCounters>) {
            out.counters.assign(decoded.names.begin(), decoded.names.begin() + decoded.fixed.counters);
          }
        },
        *definition);
  }
}

void read_arguments(Capture& out, std::uint32_t thread, std::uint64_t begin) {
  const std::vector<std::uint8_t> bytes = std::move(out.open_arguments[thread]);
  out.open_arguments.erase(thread);
  ReadArgument argument{};
  for (ArgumentReader reader(bytes); reader.next(argument);) {
    auto& values = out.arguments[begin][static_cast<vmpi::ArgumentKind>(argument.kind)];
    values.insert(values.end(), argument.values.begin(), argument.values.end());
  }
}

void read_mpi(Capture& out, const PackView& pack) {
  const std::uint32_t thread = pack.header().thread;
  for_each_event(
      pack.records<MpiRecord>(),
      [&](const MpiEvent& event) {
        CapturedEvent captured{mpi_name(event.record.function()),
                               event.record.shape(),
                               event.record.comm(),
                               event.record.call_site,
                               thread,
                               event.record.peer,
                               event.record.tag,
                               event.record.begin,
                               event.duration,
                               event.bytes,
                               event.received};
        if (event.receive_half != nullptr) {
          captured.has_receive_half = true;
          captured.receive_half = as<ReceiveHalfExtension>(*event.receive_half);
        }
        read_arguments(out, thread, captured.begin);
        out.events.push_back(std::move(captured));
      },
      [&](const CompletionRecord& record) {
        out.completions.push_back({mpi_name(std::bit_cast<MpiRecord>(record).function()), record});
      },
      [&](const NeighbourExtension& part) { out.neighbours.push_back(part); },
      [&](const StartedExtension& operation) { out.started.push_back(operation); },
      [&](const SampledExtension& sampled) { out.sampled.push_back(sampled); },
      [&](const GroupExtension& group) { out.groups.push_back(group); },
      [&](const MarkExtension& mark) { out.marks.push_back(mark); },
      [&](const ArgumentsExtension& some) {
        auto& bytes = out.open_arguments[thread];
        bytes.insert(bytes.end(), some.bytes, some.bytes + ArgumentsExtension::kBytes);
      },
      [&](const ContextExtension& context) { out.call_contexts.push_back(context); });
  out.mpi_records += pack.header().counted_records();
}

void read_posix(Capture& out, const PackView& pack) {
  for (const PosixRecord& record : pack.records<PosixRecord>()) {
    out.posix.push_back({std::string(posix_function_info(record.function).name),
                         record.file == 0                  ? "?"
                         : out.files.contains(record.file) ? out.files[record.file]
                                                           : "undefined",
                         record.bytes, (record.flags & kPosixFailed) != 0, pack.header().thread, record.flags >> 1});
  }
  out.posix_records += pack.header().record_count;
}

void read_totals(Capture& out, const PackView& pack) {
  out.totals.clear();
  for (const TotalsRecord& record : pack.records<TotalsRecord>()) {
    const bool is_mpi = record.record_class == static_cast<std::uint16_t>(PackClass::kMpi);
    out.totals[is_mpi ? mpi_name(record.function) : std::string(posix_function_info(record.function).name)] = record;
  }
}

}  // namespace

Capture read_capture(const std::filesystem::path& path) {
  const PackFile file = read_pack_file(path);
  Capture out = read_capture(file.bytes());
  if (!file.error.empty()) out.error = file.error;
  return out;
}

Capture read_capture(std::span<const std::byte> bytes) {
  Capture out;
  bool was_last = false;
  PackSequence packs(bytes);
  while (const auto pack = packs.next()) {
    if (pack->header().sequence != out.packs++ || was_last) out.sequence_ok = false;
    was_last = (pack->header().flags & kLastPack) != 0;
    out.last = pack->header();
    switch (pack->pack_class()) {
      case PackClass::kDefinitions:
        read_definitions(out, *pack);
        break;
      case PackClass::kMpi:
        read_mpi(out, *pack);
        break;
      case PackClass::kPosix:
        read_posix(out, *pack);
        break;
      case PackClass::kTotals:
        read_totals(out, *pack);
        break;
      case PackClass::kSamples:
        out.sample_records += pack->header().record_count;
        for (std::size_t i = 0; i < pack->header().record_count; ++i) {
          const SampleView sample = pack->sample(i);
          out.samples.push_back({sample.record,
                                 pack->header().weight,
                                 pack->header().thread,
                                 {sample.counters.begin(), sample.counters.end()}});
        }
        break;
      case PackClass::kContexts:
        for (const auto& context : pack->records<ContextRecord>()) {
          out.contexts[{pack->header().thread, context.context}] = context;
        }
        break;
      case PackClass::kContextTotals:
        for (const auto& totals : pack->records<ContextTotalsRecord>()) {
          out.context_totals.push_back({pack->header().thread, totals});
        }
        break;
      case PackClass::kAggregates:
        for (const auto& aggregate : pack->records<AggregateRecord>()) {
          out.aggregates.push_back(aggregate);
          (aggregate.part == AggregatePart::kPosix ? out.posix_aggregated : out.mpi_aggregated) += aggregate.records;
        }
        break;
    }
  }
  out.error = packs.error();
  if (!was_last) out.sequence_ok = false;
  return out;
}

std::size_t Capture::count(std::string_view function) const {
  return static_cast<std::size_t>(
      std::count_if(events.begin(), events.end(), [&](const auto& event) { return event.function == function; }));
}

std::uint64_t Capture::bytes(std::string_view function) const {
  std::uint64_t sum = 0;
  for (const auto& event : events) sum += event.function == function ? event.bytes : 0;
  return sum;
}

std::uint64_t Capture::posix_bytes(std::string_view function, std::string_view path_end) const {
  std::uint64_t sum = 0;
  for (const auto& event : posix) sum += event.function == function && event.path.ends_with(path_end) ? event.bytes : 0;
  return sum;
}

std::size_t Capture::posix_count(std::string_view function, std::string_view path_end) const {
  return static_cast<std::size_t>(std::count_if(posix.begin(), posix.end(), [&](const auto& event) {
    return event.function == function && event.path.ends_with(path_end);
  }));
}

std::string Capture::fault() const {
  if (!error.empty()) return error;
  if (!sequence_ok) return "packs are out of sequence, or the last one is not marked";
  const auto unbalanced = [](const char* name, const ClassLedger& ledger, std::uint64_t in_packs,
                             std::uint64_t aggregated) -> std::string {
    if (ledger.recorded == in_packs + ledger.dropped + ledger.aggregated && ledger.aggregated == aggregated) return "";
    return fmt::format("{} ledger: {} recorded, {} in packs, {} dropped, {} aggregated of which {} arrived", name,
                       ledger.recorded, in_packs, ledger.dropped, ledger.aggregated, aggregated);
  };
  for (const std::string& why : {unbalanced("MPI", last.mpi, mpi_records, mpi_aggregated),
                                 unbalanced("POSIX", last.posix, posix_records, posix_aggregated),
                                 unbalanced("sample", last.samples, sample_records, 0)}) {
    if (!why.empty()) return why;
  }
  for (const auto& event : events) {
    if (event.comm < kUnnamedComm && !comms.contains(event.comm))
      return event.function + " on an undefined communicator";
    if (event.call_site != 0 && !call_sites.contains(event.call_site))
      return event.function + " from an undefined call site";
    if (event.thread >= threads.size()) return event.function + " by an undefined thread";
  }
  for (const auto& event : posix) {
    if (event.path == "undefined") return event.function + " on an undefined file";
  }
  std::map<std::string, std::uint64_t> calls;
  for (const auto& event : events) ++calls[event.function];
  for (const auto& event : posix) ++calls[event.function];
  for (const auto& aggregate : aggregates) {
    if (aggregate.part == AggregatePart::kCall) calls[mpi_name(aggregate.function)] += aggregate.calls;
    if (aggregate.part == AggregatePart::kPosix) {
      calls[std::string(posix_function_info(aggregate.function).name)] += aggregate.calls;
    }
  }
  for (const auto& [function, total] : totals) {
    if (last.mpi.dropped == 0 && last.posix.dropped == 0 && calls[function] != total.calls) {
      return fmt::format("{}: {} calls in the totals, {} in the records", function, total.calls, calls[function]);
    }
  }
  return "";
}

}  // namespace ardoise::instrument
