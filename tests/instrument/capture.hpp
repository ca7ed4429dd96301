// The content of a captured run for tests: events by function name, completions, totals, definitions, ledger.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "instrument/format/argument_bytes.hpp"
#include "instrument/format/definition_reader.hpp"
#include "instrument/format/event_reader.hpp"
#include "instrument/format/pack_file.hpp"
#include "vmpi/argument_kinds.hpp"

namespace ardoise::instrument {

struct CapturedEvent {
  std::string function;
  Shape shape = Shape::kLocal;
  std::uint32_t comm = 0, call_site = 0, thread = 0;
  std::int32_t peer = 0, tag = 0;
  std::uint64_t begin = 0, duration = 0, bytes = 0, received = 0;
  bool has_receive_half = false;
  ReceiveHalfExtension receive_half{};
};
struct CapturedPosix {
  std::string function, path;
  std::uint64_t bytes = 0;
  bool failed = false;
  std::uint32_t thread = 0;
  int error = 0;  // errno
};
struct CapturedComm {
  CommunicatorDefinition fixed{};
  std::vector<std::int32_t> members;  // own group, then remote
  std::string name;
  std::vector<TopologyDimension> dimensions;
};
struct CapturedCompletion {
  std::string function;  // that started the operation
  CompletionRecord record{};
};

struct CapturedSample {
  SampleRecord record{};
  std::uint32_t weight = 1;  // of the pack
  std::uint32_t thread = 0;
  std::vector<std::uint64_t> counters;
  // Its weight: in user mode, in the kernel, and both.
  [[nodiscard]] double user() const { return static_cast<double>(record.weight) * weight; }
  [[nodiscard]] double kernel() const { return static_cast<double>(record.kernel) * weight; }
  [[nodiscard]] double time() const { return user() + kernel(); }
  // Time in the kernel after the last interrupt, and remainders of earlier samples: its place is unknown.
  [[nodiscard]] bool is_rest() const { return record.context == 0 && (record.flags & kTruncatedContext) == 0; }
};

struct Capture {
  std::string error;  // "": every pack was good
  std::vector<CapturedEvent> events;
  std::vector<CapturedCompletion> completions;
  std::vector<NeighbourExtension> neighbours;
  std::vector<StartedExtension> started;
  std::vector<SampledExtension> sampled;
  std::vector<GroupExtension> groups;
  std::vector<MarkExtension> marks;
  std::vector<ContextExtension> call_contexts;
  std::map<std::uint64_t, std::map<vmpi::ArgumentKind, std::vector<std::int64_t>>> arguments;  // by begin of the call
  std::map<std::uint32_t, std::vector<std::uint8_t>> open_arguments;  // by thread: of the call that comes next
  std::map<std::uint32_t, std::string> datatypes;
  std::map<std::uint32_t, std::string> mark_names;
  std::vector<CapturedPosix> posix;
  std::map<std::string, TotalsRecord> totals;  // MPI and POSIX by name; of the last totals pack
  std::map<std::uint32_t, CapturedComm> comms;
  std::map<std::uint32_t, std::string> files;
  std::map<std::uint32_t, CallSiteDefinition> call_sites;
  std::map<std::uint32_t, std::string> modules;
  std::vector<ThreadDefinition> threads;
  std::vector<std::string> notices;
  std::string program, command_line;
  ProcessDefinition process{};
  ClockDefinition first_clock{}, last_clock{};
  std::size_t packs = 0;
  std::vector<CapturedSample> samples;
  std::map<std::pair<std::uint32_t, std::uint32_t>, ContextRecord> contexts;  // by (thread, context)
  std::vector<std::pair<std::uint32_t, ContextTotalsRecord>> context_totals;  // with their thread
  std::vector<AggregateRecord> aggregates;
  std::vector<SamplingDefinition> rates;
  std::map<std::uint32_t, SamplerTotalsDefinition> sampler_totals;       // by thread
  std::vector<std::string> counters;                                     // their names
  std::uint64_t mpi_records = 0, posix_records = 0, sample_records = 0;  // summed over packs
  std::uint64_t mpi_aggregated = 0, posix_aggregated = 0;                // records behind the aggregates
  PackHeader last{};                                                     // header of the last pack
  bool sequence_ok = true;                                               // 0, 1, 2 … and kLastPack on the last only

  [[nodiscard]] std::size_t count(std::string_view function) const;
  [[nodiscard]] std::uint64_t bytes(std::string_view function) const;
  [[nodiscard]] std::uint64_t posix_bytes(std::string_view function, std::string_view path_end) const;
  [[nodiscard]] std::size_t posix_count(std::string_view function, std::string_view path_end = "") const;
  // "": the ledger of the last pack agrees with the packs, and every id in a record is defined.
  [[nodiscard]] std::string fault() const;
};

[[nodiscard]] Capture read_capture(const std::filesystem::path& path);
// Reads packs in memory, aligned to 8.
[[nodiscard]] Capture read_capture(std::span<const std::byte> bytes);

}  // namespace ardoise::instrument
