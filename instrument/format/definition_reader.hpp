// Decodes the payload of a kDefinitions pack. check_pack() runs it over every such pack, so readers of a checked pack
// meet no error. Strings and ranges borrow the payload.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "instrument/format/definitions.hpp"
#include "instrument/format/event_format.hpp"

namespace ardoise::instrument {

// Strings are the program's bytes, which need not be valid UTF-8.
struct DecodedProcess {
  ProcessDefinition fixed;
  std::string_view program, command_line, host, directory;
};
struct DecodedClock {
  ClockDefinition fixed;
  std::string_view name, node;
};
struct DecodedModule {
  ModuleDefinition fixed;
  std::string_view path, build_id;
};
struct DecodedCallSite {
  CallSiteDefinition fixed;
};
struct DecodedShortRuns {
  ShortRunsDefinition fixed;
};
struct DecodedCommunicator {
  CommunicatorDefinition fixed;
  std::span<const RankRange> ranges;  // fixed.range_count of them
  std::string_view name;
};
struct DecodedTopology {
  TopologyDefinition fixed;
  std::span<const TopologyDimension> dimensions;
};
struct DecodedFile {
  FileDefinition fixed;
  std::string_view path;
};
struct DecodedThread {
  ThreadDefinition fixed;
};
struct DecodedNotice {
  NoticeDefinition fixed;
  std::string_view text;
};
struct DecodedSampling {
  SamplingDefinition fixed;
};
struct DecodedCounters {
  CountersDefinition fixed;
  std::string_view event;
  std::array<std::string_view, kMaxCounters> names;  // the first fixed.counters of them
};
struct DecodedSamplerTotals {
  SamplerTotalsDefinition fixed;
};
struct DecodedUsage {
  UsageDefinition fixed;
};
struct DecodedPythonCode {
  PythonCodeDefinition fixed;
  std::string_view name, file, lines;
};
struct DecodedMemory {
  MemoryDefinition fixed;
  std::span<const MemoryPoint> points;  // times ascend
};
struct DecodedFileAccess {
  FileAccessDefinition fixed;
};
struct DecodedEnd {
  EndDefinition fixed;
};
struct DecodedRecentCalls {
  RecentCallsDefinition fixed;
  std::span<const RecentCall> calls;
};
struct DecodedStack {
  StackDefinition fixed;
  std::span<const StackFrame> frames;
};
struct DecodedProcessState {
  ProcessStateDefinition fixed;
};
struct DecodedCollectives {
  CollectivesDefinition fixed;
};
struct DecodedMarkName {
  MarkNameDefinition fixed;
  std::string_view name;
};
struct DecodedDatatype {
  DatatypeDefinition fixed;
  std::string_view text;
};
// A kind that a later writer added; this reader skips it.
struct UnknownDefinition {
  DefinitionHeader header;
};

using Definition =
    std::variant<UnknownDefinition, DecodedProcess, DecodedClock, DecodedModule, DecodedCallSite, DecodedCommunicator,
                 DecodedTopology, DecodedFile, DecodedThread, DecodedNotice, DecodedSampling, DecodedCounters,
                 DecodedSamplerTotals, DecodedUsage, DecodedPythonCode, DecodedMemory, DecodedFileAccess, DecodedEnd,
                 DecodedRecentCalls, DecodedStack, DecodedProcessState, DecodedMarkName, DecodedDatatype,
                 DecodedCollectives, DecodedShortRuns>;

// for (DefinitionReader reader(payload); auto definition = reader.next();) std::visit(…, *definition);
//
// Checked: every length; rates and offsets are finite and sensible; ranges stay within 0 … 2^31-1 and within the size
// of the communicator; a topology has 1 … 64 dimensions of 1 … 2^31-1; a rate of sampling is finite and has a known
// cause; counters are at most kMaxCounters. Not checked: whether ids refer to something.
class DefinitionReader {
 public:
  explicit DefinitionReader(std::span<const std::byte> payload_untrusted) : rest_(payload_untrusted) {}

  // Empty at the end or at the first fault, which error() describes.
  [[nodiscard]] std::optional<Definition> next();
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] std::size_t count() const { return count_; }  // definitions read so far

 private:
  std::span<const std::byte> rest_;
  std::string error_;
  std::size_t count_ = 0;
};

}  // namespace ardoise::instrument
