// Encodes definitions into the payload of a kDefinitions pack. Used by the recorder (definition_queue.hpp), tests and
// the replay generator.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>

#include "instrument/format/definitions.hpp"

namespace ardoise::instrument {

// Longer strings are cut: a definition must fit into a bin.
inline constexpr std::size_t kMaxStringBytes = 8192;
// The most ranges in one communicator definition; a longer list is sent in parts.
inline constexpr std::uint32_t kMaxRangesPerDefinition = 1024;

// Fills `room` (8-byte aligned) from the front. add() returns false when the definition does not fit, and then changes
// nothing. Does not allocate. Not thread safe.
class DefinitionWriter {
 public:
  explicit DefinitionWriter(std::span<std::byte> room) : room_(room) {}

  [[nodiscard]] bool add(const ProcessDefinition& process, std::string_view program, std::string_view command_line,
                         std::string_view host, std::string_view directory);
  [[nodiscard]] bool add(const ClockDefinition& clock, std::string_view name, std::string_view node);
  [[nodiscard]] bool add(const ModuleDefinition& module, std::string_view path, std::string_view build_id);
  [[nodiscard]] bool add(const CallSiteDefinition& call_site);
  [[nodiscard]] bool add(const ShortRunsDefinition& runs);
  // ranges.size() must be communicator.range_count.
  [[nodiscard]] bool add(const CommunicatorDefinition& communicator, std::span<const RankRange> ranges,
                         std::string_view name);
  // dimensions.size() must be topology.dimensions.
  [[nodiscard]] bool add(const TopologyDefinition& topology, std::span<const TopologyDimension> dimensions);
  [[nodiscard]] bool add(const FileDefinition& file, std::string_view path);
  [[nodiscard]] bool add(const ThreadDefinition& thread);
  [[nodiscard]] bool add(const NoticeDefinition& notice, std::string_view text);
  [[nodiscard]] bool add(const MarkNameDefinition& mark, std::string_view name);
  [[nodiscard]] bool add(const DatatypeDefinition& datatype, std::string_view text);
  [[nodiscard]] bool add(const SamplingDefinition& sampling);
  // names.size() must be counters.counters.
  [[nodiscard]] bool add(const CountersDefinition& counters, std::string_view event,
                         std::span<const std::string_view> names);
  [[nodiscard]] bool add(const SamplerTotalsDefinition& totals);
  [[nodiscard]] bool add(const UsageDefinition& usage);
  [[nodiscard]] bool add(const FileAccessDefinition& access);
  // points.size() must be memory.points.
  [[nodiscard]] bool add(const MemoryDefinition& memory, std::span<const MemoryPoint> points);
  [[nodiscard]] bool add(const PythonCodeDefinition& code, std::string_view name, std::string_view file,
                         std::string_view lines);
  [[nodiscard]] bool add(const EndDefinition& end);
  // calls.size() must be recent.calls.
  [[nodiscard]] bool add(const RecentCallsDefinition& recent, std::span<const RecentCall> calls);
  // frames.size() must be stack.frames.
  [[nodiscard]] bool add(const StackDefinition& stack, std::span<const StackFrame> frames);
  [[nodiscard]] bool add(const ProcessStateDefinition& process);
  [[nodiscard]] bool add(const CollectivesDefinition& collectives);

  [[nodiscard]] std::size_t bytes() const { return used_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  bool add(DefinitionKind kind, std::span<const std::byte> fixed, std::span<const std::byte> array,
           std::span<const std::string_view> strings);
  bool add(DefinitionKind kind, std::span<const std::byte> fixed, std::span<const std::byte> array,
           std::initializer_list<std::string_view> strings) {
    return add(kind, fixed, array, std::span(strings.begin(), strings.size()));
  }

  std::span<std::byte> room_;
  std::size_t used_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace ardoise::instrument
