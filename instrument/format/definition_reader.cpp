#include "instrument/format/definition_reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "instrument/format/event_format.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::uint32_t kMaxInt = static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max());

// Takes pieces from the front of one definition's payload; after the first missing piece ok() stays false.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class Fixed>
  Fixed fixed() {
    Fixed value{};
    if (const auto bytes = take(sizeof(Fixed)); ok_) std::memcpy(&value, bytes.data(), sizeof(Fixed));
    return value;
  }
  std::string_view string() {
    const auto length = fixed<std::uint32_t>();
    const auto bytes = take(length);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // Arrays are aligned to 8, like the payload itself, since the pieces before them are.
  template <class Element>
  std::span<const Element> array(std::uint32_t count) {
    static_assert(alignof(Element) == 4 || alignof(Element) == 8);
    const auto bytes = take(std::uint64_t{count} * sizeof(Element));
    return {reinterpret_cast<const Element*>(bytes.data()), bytes.size() / sizeof(Element)};
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  std::span<const std::byte> take(std::uint64_t bytes) {
    if (!ok_ || bytes > rest_.size()) {
      ok_ = false;
      return {};
    }
    const auto piece = rest_.first(static_cast<std::size_t>(bytes));
    rest_ = rest_.subspan(static_cast<std::size_t>(bytes));
    return piece;
  }

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

bool sensible(const ClockDefinition& clock) {
  return std::isfinite(clock.ticks_per_second) && clock.ticks_per_second > 0 && std::isfinite(clock.offset_seconds) &&
         std::isfinite(clock.offset_error_seconds) && clock.offset_error_seconds >= 0 &&
         std::isfinite(clock.record_cost_ticks) && clock.record_cost_ticks >= 0;
}

bool sensible(const RankRange& range) {
  if (range.count == 0) return false;
  if (range.start == kNoPeer) return range.stride == 0;
  if (range.stride == 0 && range.count != 1) return false;
  const std::int64_t last = range.start + std::int64_t{range.count - 1} * range.stride;
  return range.start >= 0 && last >= 0 && last <= kMaxInt;
}

bool sensible(const DecodedCommunicator& communicator) {
  const auto& fixed = communicator.fixed;
  if (fixed.kind != CommunicatorKind::kIntra && fixed.kind != CommunicatorKind::kInter) return false;
  if (fixed.size == 0 || fixed.size > kMaxInt || fixed.remote_size > kMaxInt || fixed.rank >= fixed.size) return false;
  if (fixed.kind == CommunicatorKind::kIntra && (fixed.remote_size != 0 || fixed.remote_ranges != 0)) return false;
  if (fixed.ranges > fixed.size || fixed.remote_ranges > fixed.remote_size) return false;
  if (std::uint64_t{fixed.first_range} + fixed.range_count > std::uint64_t{fixed.ranges} + fixed.remote_ranges) {
    return false;
  }
  std::uint64_t members = 0;
  for (const RankRange& range : communicator.ranges) {
    if (!sensible(range)) return false;
    members += range.count;
  }
  return members <= std::uint64_t{fixed.size} + fixed.remote_size;
}

bool sensible(const DecodedTopology& topology) {
  if (topology.dimensions.empty() || topology.dimensions.size() > 64) return false;
  for (const TopologyDimension& dimension : topology.dimensions) {
    if (dimension.extent == 0 || dimension.extent > kMaxInt || dimension.periodic > 1) return false;
  }
  return true;
}

bool sensible(const SamplingDefinition& sampling) {
  return std::isfinite(sampling.hertz) && sampling.hertz >= 0 &&
         static_cast<std::uint32_t>(sampling.cause) < kSamplingCauses && sampling.lowest_level <= kMaxSampleLevel;
}

bool sensible(const CountersDefinition& counters) {
  return counters.counters <= kMaxCounters && counters.unit <= SampleUnit::kEvents;
}

struct Decoded {
  Definition definition;
  bool sensible = true;
};

Decoded decode(const DefinitionHeader& header, Cursor& in) {
  switch (static_cast<DefinitionKind>(header.kind)) {
    case DefinitionKind::kProcess: {
      DecodedProcess process{in.fixed<ProcessDefinition>(), in.string(), in.string(), in.string(), in.string()};
      const auto& fixed = process.fixed;
      return {process, fixed.world_size > 0 && fixed.world_size <= kMaxInt && fixed.first_rank < fixed.world_size &&
                           fixed.ranks > 0 && fixed.ranks <= fixed.world_size - fixed.first_rank};
    }
    case DefinitionKind::kClock: {
      DecodedClock clock{in.fixed<ClockDefinition>(), in.string(), in.string()};
      return {clock, sensible(clock.fixed)};
    }
    case DefinitionKind::kModule:
      return {DecodedModule{in.fixed<ModuleDefinition>(), in.string(), in.string()}};
    case DefinitionKind::kCallSite:
      return {DecodedCallSite{in.fixed<CallSiteDefinition>()}};
    case DefinitionKind::kShortRuns: {
      DecodedShortRuns runs{in.fixed<ShortRunsDefinition>()};
      return {runs, runs.fixed.run_bytes != 0};
    }
    case DefinitionKind::kCommunicator: {
      DecodedCommunicator communicator{in.fixed<CommunicatorDefinition>(), {}, {}};
      communicator.ranges = in.array<RankRange>(communicator.fixed.range_count);
      communicator.name = in.string();
      return {communicator, sensible(communicator)};
    }
    case DefinitionKind::kTopology: {
      DecodedTopology topology{in.fixed<TopologyDefinition>(), {}};
      topology.dimensions = in.array<TopologyDimension>(topology.fixed.dimensions);
      return {topology, sensible(topology)};
    }
    case DefinitionKind::kFile:
      return {DecodedFile{in.fixed<FileDefinition>(), in.string()}};
    case DefinitionKind::kThread:
      return {DecodedThread{in.fixed<ThreadDefinition>()}};
    case DefinitionKind::kNotice:
      return {DecodedNotice{in.fixed<NoticeDefinition>(), in.string()}};
    case DefinitionKind::kSampling: {
      DecodedSampling sampling{in.fixed<SamplingDefinition>()};
      return {sampling, sensible(sampling.fixed)};
    }
    case DefinitionKind::kCounters: {
      DecodedCounters counters{in.fixed<CountersDefinition>(), in.string(), {}};
      if (!sensible(counters.fixed)) return {counters, false};
      for (std::uint32_t i = 0; i < counters.fixed.counters; ++i) counters.names[i] = in.string();
      return {counters};
    }
    case DefinitionKind::kSamplerTotals:
      return {DecodedSamplerTotals{in.fixed<SamplerTotalsDefinition>()}};
    case DefinitionKind::kUsage:
      return {DecodedUsage{in.fixed<UsageDefinition>()}};
    case DefinitionKind::kFileAccess:
      return {DecodedFileAccess{in.fixed<FileAccessDefinition>()}};
    case DefinitionKind::kMemory: {
      DecodedMemory memory{in.fixed<MemoryDefinition>(), {}};
      memory.points = in.array<MemoryPoint>(memory.fixed.points);
      return {memory, std::ranges::is_sorted(memory.points, {}, &MemoryPoint::milliseconds)};
    }
    case DefinitionKind::kEnd: {
      DecodedEnd end{in.fixed<EndDefinition>()};
      return {end, static_cast<std::uint32_t>(end.fixed.cause) < kEndCauses};
    }
    case DefinitionKind::kRecentCalls: {
      DecodedRecentCalls recent{in.fixed<RecentCallsDefinition>(), {}};
      recent.calls = in.array<RecentCall>(recent.fixed.calls);
      return {recent};
    }
    case DefinitionKind::kStack: {
      DecodedStack stack{in.fixed<StackDefinition>(), {}};
      stack.frames = in.array<StackFrame>(stack.fixed.frames);
      return {stack, static_cast<std::uint32_t>(stack.fixed.of) < kStackKinds};
    }
    case DefinitionKind::kProcessState:
      return {DecodedProcessState{in.fixed<ProcessStateDefinition>()}};
    case DefinitionKind::kCollectives:
      return {DecodedCollectives{in.fixed<CollectivesDefinition>()}};
    case DefinitionKind::kMarkName:
      return {DecodedMarkName{in.fixed<MarkNameDefinition>(), in.string()}};
    case DefinitionKind::kDatatype:
      return {DecodedDatatype{in.fixed<DatatypeDefinition>(), in.string()}};
    case DefinitionKind::kPythonCode:
      return {DecodedPythonCode{in.fixed<PythonCodeDefinition>(), in.string(), in.string(), in.string()}};
  }
  return {UnknownDefinition{header}};
}

}  // namespace

std::optional<Definition> DefinitionReader::next() {
  if (rest_.empty() || !error_.empty()) return std::nullopt;
  DefinitionHeader header{};
  if (rest_.size() < sizeof(header)) {
    error_ = fmt::format("definition {} has no header", count_);
    return std::nullopt;
  }
  std::memcpy(&header, rest_.data(), sizeof(header));
  const std::uint64_t padded = (std::uint64_t{header.bytes} + 7) / 8 * 8;
  if (padded > rest_.size() - sizeof(header)) {
    error_ = fmt::format("definition {} of kind {} runs over the end", count_, header.kind);
    return std::nullopt;
  }
  Cursor payload(rest_.subspan(sizeof(header), header.bytes));
  Decoded decoded = decode(header, payload);
  if (!payload.ok() || !decoded.sensible) {
    error_ = fmt::format("definition {} of kind {} {}", count_, header.kind,
                         payload.ok() ? "has values out of range" : "is too short");
    return std::nullopt;
  }
  rest_ = rest_.subspan(sizeof(header) + static_cast<std::size_t>(padded));
  ++count_;
  return decoded.definition;
}

}  // namespace ardoise::instrument
