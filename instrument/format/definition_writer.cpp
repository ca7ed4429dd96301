#include "instrument/format/definition_writer.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "instrument/format/event_format.hpp"

namespace ardoise::instrument {
namespace {

template <class Fixed>
std::span<const std::byte> bytes_of(const Fixed& fixed) {
  return std::as_bytes(std::span(&fixed, 1));
}

std::string_view cut(std::string_view string) { return string.substr(0, kMaxStringBytes); }

}  // namespace

bool DefinitionWriter::add(DefinitionKind kind, std::span<const std::byte> fixed, std::span<const std::byte> array,
                           std::span<const std::string_view> strings) {
  std::size_t bytes = fixed.size() + array.size();
  for (const auto string : strings) bytes += sizeof(std::uint32_t) + cut(string).size();
  const std::size_t padded = (bytes + 7) / 8 * 8;
  if (sizeof(DefinitionHeader) + padded > room_.size() - used_) return false;

  std::byte* out = room_.data() + used_;
  const auto append = [&out](const void* from, std::size_t size) {
    if (size != 0) std::memcpy(out, from, size);
    out += size;
  };
  const DefinitionHeader header{static_cast<std::uint16_t>(kind), 0, static_cast<std::uint32_t>(bytes)};
  append(&header, sizeof(header));
  append(fixed.data(), fixed.size());
  append(array.data(), array.size());
  for (const auto string : strings) {
    const auto length = static_cast<std::uint32_t>(cut(string).size());
    append(&length, sizeof(length));
    append(string.data(), length);
  }
  std::fill_n(out, padded - bytes, std::byte{0});
  used_ += sizeof(header) + padded;
  ++count_;
  return true;
}

bool DefinitionWriter::add(const ProcessDefinition& process, std::string_view program, std::string_view command_line,
                           std::string_view host, std::string_view directory) {
  return add(DefinitionKind::kProcess, bytes_of(process), {}, {program, command_line, host, directory});
}

bool DefinitionWriter::add(const ClockDefinition& clock, std::string_view name, std::string_view node) {
  return add(DefinitionKind::kClock, bytes_of(clock), {}, {name, node});
}

bool DefinitionWriter::add(const ModuleDefinition& module, std::string_view path, std::string_view build_id) {
  return add(DefinitionKind::kModule, bytes_of(module), {}, {path, build_id});
}

bool DefinitionWriter::add(const CallSiteDefinition& call_site) {
  return add(DefinitionKind::kCallSite, bytes_of(call_site), {}, {});
}

bool DefinitionWriter::add(const ShortRunsDefinition& runs) {
  return add(DefinitionKind::kShortRuns, bytes_of(runs), {}, {});
}

bool DefinitionWriter::add(const CommunicatorDefinition& communicator, std::span<const RankRange> ranges,
                           std::string_view name) {
  return add(DefinitionKind::kCommunicator, bytes_of(communicator), std::as_bytes(ranges), {name});
}

bool DefinitionWriter::add(const TopologyDefinition& topology, std::span<const TopologyDimension> dimensions) {
  return add(DefinitionKind::kTopology, bytes_of(topology), std::as_bytes(dimensions), {});
}

bool DefinitionWriter::add(const FileDefinition& file, std::string_view path) {
  return add(DefinitionKind::kFile, bytes_of(file), {}, {path});
}

bool DefinitionWriter::add(const ThreadDefinition& thread) {
  return add(DefinitionKind::kThread, bytes_of(thread), {}, {});
}

bool DefinitionWriter::add(const NoticeDefinition& notice, std::string_view text) {
  return add(DefinitionKind::kNotice, bytes_of(notice), {}, {text});
}

bool DefinitionWriter::add(const MarkNameDefinition& mark, std::string_view name) {
  return add(DefinitionKind::kMarkName, bytes_of(mark), {}, {name});
}

bool DefinitionWriter::add(const DatatypeDefinition& datatype, std::string_view text) {
  return add(DefinitionKind::kDatatype, bytes_of(datatype), {}, {text});
}

bool DefinitionWriter::add(const SamplingDefinition& sampling) {
  return add(DefinitionKind::kSampling, bytes_of(sampling), {}, {});
}

bool DefinitionWriter::add(const CountersDefinition& counters, std::string_view event,
                           std::span<const std::string_view> names) {
  std::array<std::string_view, 1 + kMaxCounters> strings{event};
  std::copy_n(names.begin(), std::min<std::size_t>(names.size(), kMaxCounters), strings.begin() + 1);
  return add(DefinitionKind::kCounters, bytes_of(counters), {},
             std::span<const std::string_view>(strings).first(1 + counters.counters));
}

bool DefinitionWriter::add(const SamplerTotalsDefinition& totals) {
  return add(DefinitionKind::kSamplerTotals, bytes_of(totals), {}, {});
}

bool DefinitionWriter::add(const UsageDefinition& usage) {
  return add(DefinitionKind::kUsage, bytes_of(usage), {}, {});
}

bool DefinitionWriter::add(const FileAccessDefinition& access) {
  return add(DefinitionKind::kFileAccess, bytes_of(access), {}, {});
}

bool DefinitionWriter::add(const MemoryDefinition& memory, std::span<const MemoryPoint> points) {
  return add(DefinitionKind::kMemory, bytes_of(memory), std::as_bytes(points), {});
}

bool DefinitionWriter::add(const PythonCodeDefinition& code, std::string_view name, std::string_view file,
                           std::string_view lines) {
  return add(DefinitionKind::kPythonCode, bytes_of(code), {}, {name, file, lines});
}

bool DefinitionWriter::add(const EndDefinition& end) { return add(DefinitionKind::kEnd, bytes_of(end), {}, {}); }

bool DefinitionWriter::add(const RecentCallsDefinition& recent, std::span<const RecentCall> calls) {
  return add(DefinitionKind::kRecentCalls, bytes_of(recent), std::as_bytes(calls), {});
}

bool DefinitionWriter::add(const StackDefinition& stack, std::span<const StackFrame> frames) {
  return add(DefinitionKind::kStack, bytes_of(stack), std::as_bytes(frames), {});
}

bool DefinitionWriter::add(const ProcessStateDefinition& process) {
  return add(DefinitionKind::kProcessState, bytes_of(process), {}, {});
}

bool DefinitionWriter::add(const CollectivesDefinition& collectives) {
  return add(DefinitionKind::kCollectives, bytes_of(collectives), {}, {});
}

}  // namespace ardoise::instrument
