// The files of the archive.
#include <fmt/format.h>
#include <otf2/otf2.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "knowledge_sources/matching/patterns.hpp"
#include "knowledge_sources/otf2/contents/trace_attribute.hpp"
#include "knowledge_sources/otf2/contents/trace_selection.hpp"
#include "knowledge_sources/otf2/writer/function_kinds.hpp"
#include "knowledge_sources/otf2/writer/joined_events.hpp"
#include "knowledge_sources/otf2/writer/otf2_archive.hpp"
#include "knowledge_sources/otf2/writer/string_writer.hpp"
#include "knowledge_sources/otf2/writer/world_archive.hpp"

namespace ardoise::knowledge_sources {
namespace {

namespace fs = std::filesystem;

void write_mapping(OTF2_DefWriter* out, OTF2_MappingType type, const std::vector<std::uint64_t>& numbers) {
  if (numbers.empty()) return;
  OTF2_IdMap* const map = OTF2_IdMap_CreateFromUint64Array(numbers.size(), numbers.data(), true);
  OTF2_DefWriter_WriteMappingTable(out, type, map);
  OTF2_IdMap_Free(map);
}

void write_mapping(OTF2_DefWriter* out, OTF2_MappingType type, const std::map<std::uint64_t, std::uint64_t>& numbers) {
  if (numbers.empty()) return;
  OTF2_IdMap* const map = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, numbers.size());
  for (const auto& [number, global] : numbers) OTF2_IdMap_AddIdPair(map, number, global);
  OTF2_DefWriter_WriteMappingTable(out, type, map);
  OTF2_IdMap_Free(map);
}

RegionKind kind_of(TraceRegion::Kind kind, std::uint32_t function) {
  switch (kind) {
    case TraceRegion::Kind::kMpi:
      return mpi_region(function);
    case TraceRegion::Kind::kPosix:
      return posix_region(function);
    case TraceRegion::Kind::kPhase:
      break;
    case TraceRegion::Kind::kSampled:
      if (function != 0) return {OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI};
      return {OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_SAMPLING};
  }
  return {OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_USER};
}

}  // namespace

// The time stamp by the clock's last rate.
std::uint64_t WorldArchive::corrected(const Thread& thread, std::uint64_t time) const {
  const TraceClock& clock = ranks_[thread.told.rank].clock;
  const TraceClock& last = ranks_[thread.told.rank].last_clock;
  if (clock.ns_per_tick <= 0 || last.ns_per_tick <= 0 || last.origin_tick == 0) return time;
  const double lead = static_cast<double>(kTraceLead);
  const double ticks = (static_cast<double>(time) - lead) / clock.ns_per_tick +
                       static_cast<double>(static_cast<std::int64_t>(clock.origin_tick - last.origin_tick));
  // Floating point is exact enough for the small difference.
  const double difference = ticks * last.ns_per_tick - (static_cast<double>(time) - lead);
  const auto moved = static_cast<std::int64_t>(time) + std::llround(difference);
  return moved < 0 ? 0 : static_cast<std::uint64_t>(moved);
}

// Data of the rank's calls that is known only at the end.
CopiedCalls WorldArchive::calls_of(std::uint32_t rank) {
  const OfRank& of_rank = ranks_[rank];
  std::vector<RankWait> waits;
  std::vector<CopiedCalls::Value> values;
  for (const OfRank::Notes& each : of_rank.notes) {
    std::vector<NotedValue> of_part;
    each.of_part->add_to(waits, of_part, each.rank, losses_.attributes);
    add_values(values, rank, *each.of_part, of_part);
  }
  CopiedCalls calls(std::move(waits));
  if (!values.empty())
    losses_.attributes += calls.attach(std::move(values), TraceSelection(selection_).has_all_calls());
  if (of_rank.times) calls.restrict_to(*of_rank.times);
  return calls;
}

// Counts attributes in use, and waits whose call was not found though it should exist.
void WorldArchive::count_waits(const CopiedCalls& calls, std::uint32_t rank, std::span<const std::uint64_t> locations) {
  if (calls.waited().empty()) return;
  const TraceSelection selection(selection_);
  std::uint64_t patterns = 0;  // bits
  for (const CopiedCalls::Waited& each : calls.waited()) {
    if (each.is_found) {
      patterns |= std::uint64_t{1} << each.pattern;
      continue;
    }
    const std::int64_t begin = static_cast<std::int64_t>(each.time) - static_cast<std::int64_t>(kTraceLead);
    const bool is_in_time = std::ranges::any_of(locations, [&](std::uint64_t location) {
      const TraceTables::Thread& told = threads_[location].told;
      return told.events != 0 && each.time >= told.first_time && each.time <= told.last_time;
    });
    if (is_in_time && selection.is_by_call() &&
        selection.has_call(false, each.function, begin, static_cast<std::int64_t>(each.ns)))
      ++waits_without_call_;
  }
  if (patterns == 0) return;
  attributes_ |= std::uint64_t{1} << kWaitingAttribute | std::uint64_t{1} << kWaitAttribute;
  for (std::uint32_t pattern = 0; pattern < kWaitPatterns; ++pattern) {
    if ((patterns >> pattern & 1) == 0) continue;
    std::string name(pattern_name(static_cast<WaitPattern>(pattern)));
    ranks_[rank].texts.emplace(CopiedCalls::kPatterns + pattern,
                               texts_.try_emplace(std::move(name), texts_.size() + 1).first->second);
  }
}

std::string WorldArchive::take_events(OTF2_Archive* archive, std::uint64_t location, Thread& thread,
                                      const fs::path& folder, CopiedCalls& calls) const {
  const std::string name = fmt::format("{}.evt", location);
  const bool has_clocks = clocked_.contains(location);
  if (thread.parts.size() == 1 && !calls.has_anything_to_do() && !has_clocks) {
    std::error_code fault;
    const fs::path from = thread.parts[0].folder / "traces" / name, to = folder / "traces" / name;
    fs::rename(from, to, fault);
    return fault ? fmt::format("'{}' cannot become '{}': {}", from.string(), to.string(), fault.message()) : "";
  }
  ClocksOfLocation clocks(has_clocks ? clocks_->clocks_of(location) : fs::path());
  JoinedEvents joined(archive, location, calls, has_clocks ? &clocks : nullptr, own_parameter());
  const Numbers of_samples{0};  // their metric stays unchanged
  for (const Thread::InPart& part : thread.parts) {
    const OfPart& numbers = *part.numbers;
    if (!joined.add(part.folder, {numbers.regions, thread.told.thread >= kSamplesOfThread ? of_samples : numbers.names,
                                  numbers.keys}))
      return fmt::format("'{}' cannot be copied: {}", (part.folder / "traces" / name).string(), last_otf2_error());
  }
  const JoinedEvents::Ended ended = joined.end();
  if (!ended.fault.empty()) return fmt::format("'{}' cannot be written: {}", (folder / name).string(), ended.fault);
  thread.told.events = ended.events;
  thread.told.first_time = ended.first_time;
  thread.told.last_time = ended.last_time;
  thread.parts.front().numbers = std::make_shared<OfPart>();  // archive numbers from now on
  return "";
}

std::string WorldArchive::take_events(OTF2_Archive* archive, std::uint32_t rank,
                                      std::span<const std::uint64_t> locations, const fs::path& folder) {
  CopiedCalls calls = calls_of(rank);
  for (const std::uint64_t location : locations) {
    std::string fault = take_events(archive, location, threads_[location], folder, calls);
    if (!fault.empty()) return fault;
  }
  count_waits(calls, rank, locations);
  return "";
}

std::string WorldArchive::write(const fs::path& folder) {
  OTF2_Archive* const archive = open_otf2_archive(folder);
  if (archive == nullptr) return fmt::format("'{}' cannot be made: {}", folder.string(), last_otf2_error());
  if (std::string fault = make_clocks(fs::path(folder) += ".clocks"); !fault.empty()) {
    abandon_otf2_archive(archive);
    return fault;
  }
  std::map<std::uint32_t, std::vector<std::uint64_t>> locations;  // by rank
  for (const auto& [location, thread] : threads_) locations[thread.told.rank].push_back(location);
  for (const auto& [rank, of_rank] : locations) {
    if (std::string fault = take_events(archive, rank, of_rank, folder); !fault.empty()) {
      abandon_otf2_archive(archive);
      return fault;
    }
  }
  clocks_.reset();
  events_ = 0;
  for (const auto& [location, thread] : threads_) events_ += thread.told.events;
  // Readers expect a file for each location.
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    const std::uint64_t location = trace_location(rank, 0);
    if (threads_.contains(location)) continue;
    OTF2_Archive_CloseEvtWriter(archive, OTF2_Archive_GetEvtWriter(archive, location));
    threads_[location].told.rank = rank;
  }
  OTF2_Archive_CloseEvtFiles(archive);
  OTF2_Archive_SetCreator(archive, "Ardoise");
  OTF2_Archive_SetDescription(archive, fmt::format("--trace {}", selection_).c_str());
  if (!ranks_.empty()) OTF2_Archive_SetMachineName(archive, ranks_.front().host.c_str());
  const auto tell = [archive](const char* name, std::uint64_t number) {
    if (number != 0) OTF2_Archive_SetProperty(archive, name, std::to_string(number).c_str(), true);
  };
  OTF2_Archive_SetProperty(archive, "ARDOISE::PROGRAM", name_.c_str(), true);
  tell("ARDOISE::CALLS_AS_SUMS", losses_.sums);
  tell("ARDOISE::COUNTED_CALLS", losses_.counted);
  tell("ARDOISE::MISSING_PLACES", losses_.gaps);
  tell("ARDOISE::UNTIMED_CALLS", losses_.untimed);
  tell("ARDOISE::MOVED_CALLS", losses_.moved);
  tell("ARDOISE::MOVED_SAMPLES", losses_.moved_samples);
  tell("ARDOISE::UNTIMED_SAMPLES", losses_.untimed_samples);
  tell("ARDOISE::FURTHER_MARKERS", further_markers_);
  tell("ARDOISE::UNFINISHED_OPERATIONS", losses_.incomplete);
  tell("ARDOISE::RECORDS_BEYOND_LIMIT", losses_.limited);
  tell("ARDOISE::MISSING_ATTRIBUTES", losses_.attributes + losses_.stacks);
  tell("ARDOISE::REFUSED_VALUES", refused_values_);
  tell("ARDOISE::WAITS_WITHOUT_CALL", waits_without_call_);
  tell("ARDOISE::CLOCKS_WITHOUT_OTHER_END", clocks_without_other_end_);
  tell("ARDOISE::UNSEEN_RANKS", unseen_ranks_);
  const std::string fault = fault_of_close([&] {
    write_local_definitions(archive);
    write_global_definitions(archive);
    if (!gaps_.empty() || !markers_.empty()) write_markers(archive);
    return OTF2_Archive_Close(archive);
  });
  if (!fault.empty()) return fmt::format("'{}' cannot be written: {}", folder.string(), fault);
  return "";
}

// Numbers of the attributes in use, by key.
std::map<std::uint64_t, std::uint64_t> WorldArchive::attribute_numbers() const {
  std::map<std::uint64_t, std::uint64_t> numbers;
  for (std::uint32_t key = 0; key < kMostAttributes; ++key) {
    if ((attributes_ >> key & 1) != 0 && trace_attribute(key) != nullptr) numbers.emplace(key, numbers.size());
  }
  for (std::uint64_t key = 0; key < plugin_keys_.size(); ++key) numbers.emplace(kMostAttributes + key, numbers.size());
  return numbers;
}

void WorldArchive::write_local_definitions(OTF2_Archive* archive) const {
  OTF2_Archive_OpenDefFiles(archive);
  for (const auto& each : threads_) {
    const Thread& thread = each.second;
    OTF2_DefWriter* const out = OTF2_Archive_GetDefWriter(archive, each.first);
    if (!thread.parts.empty()) {
      const OfPart& part = *thread.parts.front().numbers;
      const OfRank& rank = ranks_[thread.told.rank];
      if (const auto sampled = sampled_.find(each.first); sampled != sampled_.end()) {
        write_mapping(out, OTF2_MAPPING_CALLING_CONTEXT, sampled->second.contexts);
        write_mapping(out, OTF2_MAPPING_INTERRUPT_GENERATOR, Numbers{sampled->second.generator});
        write_mapping(out, OTF2_MAPPING_METRIC, Numbers{metric_of(sampled->second)});
      } else {
        write_mapping(out, OTF2_MAPPING_REGION, part.regions);
        write_mapping(out, OTF2_MAPPING_PARAMETER, part.names);
        write_mapping(out, OTF2_MAPPING_METRIC, part.names);
        write_mapping(out, OTF2_MAPPING_COMM, rank.communicators);
        write_mapping(out, OTF2_MAPPING_IO_HANDLE, rank.handles);
        write_mapping(out, OTF2_MAPPING_RMA_WIN, rank.windows);
        write_mapping(out, OTF2_MAPPING_GROUP, rank.groups);
        write_mapping(out, OTF2_MAPPING_STRING, rank.texts);
        write_mapping(out, OTF2_MAPPING_ATTRIBUTE, attribute_numbers());
        if (const auto stacks = stacks_.find(each.first); stacks != stacks_.end())
          write_mapping(out, OTF2_MAPPING_CALLING_CONTEXT, stacks->second);
      }
      const auto offset = [&](std::uint64_t time) {
        return static_cast<std::int64_t>(corrected(thread, time)) - static_cast<std::int64_t>(time);
      };
      const std::uint64_t first = thread.told.first_time, last = thread.told.last_time;
      if (thread.told.events != 0 && (offset(first) != 0 || offset(last) != 0)) {
        OTF2_DefWriter_WriteClockOffset(out, first, offset(first), 0);
        if (last > first) OTF2_DefWriter_WriteClockOffset(out, last, offset(last), 0);
      }
    }
    OTF2_Archive_CloseDefWriter(archive, out);
  }
  OTF2_Archive_CloseDefFiles(archive);
}

WorldArchive::Range WorldArchive::range() const {
  Range range{kTraceLead, kTraceLead};
  for (const auto& [location, thread] : threads_) {
    if (thread.told.events == 0) continue;
    range.first = std::min(range.first, corrected(thread, thread.told.first_time));
    range.last = std::max(range.last, corrected(thread, thread.told.last_time));
  }
  return range;
}

void WorldArchive::write_global_definitions(OTF2_Archive* archive) const {
  OTF2_GlobalDefWriter* const out = OTF2_Archive_GetGlobalDefWriter(archive);
  const auto [first, last] = range();
  OTF2_GlobalDefWriter_WriteClockProperties(
      out, 1'000'000'000, first, last - first + 1,
      start_realtime_ns_ == 0 ? OTF2_UNDEFINED_TIMESTAMP : start_realtime_ns_ - (kTraceLead - first));
  StringWriter strings(out);
  for (const std::string* const text : by_number(texts_, 1)) (void)strings.of(*text);  // these come first
  for (const auto& [key, number] : attribute_numbers()) {
    if (key >= kMostAttributes) break;
    const TraceAttribute& each = *trace_attribute(static_cast<std::uint32_t>(key));
    OTF2_GlobalDefWriter_WriteAttribute(out, static_cast<OTF2_AttributeRef>(number), strings.of(std::string(each.name)),
                                        strings.of(std::string(each.description)), each.type);
  }
  write_plugin_keys(out, strings);

  OTF2_GlobalDefWriter_WriteSystemTreeNode(out, 0, strings.of("machine"), strings.of("machine"),
                                           OTF2_UNDEFINED_SYSTEM_TREE_NODE);
  std::map<std::string, std::uint32_t> nodes;
  for (const OfRank& rank : ranks_) {
    const auto [node, is_new] = nodes.try_emplace(rank.host, static_cast<std::uint32_t>(nodes.size()) + 1);
    if (!is_new) continue;
    OTF2_GlobalDefWriter_WriteSystemTreeNode(out, node->second, strings.of(rank.host), strings.of("node"), 0);
    OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(out, node->second, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
  }
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank)
    OTF2_GlobalDefWriter_WriteLocationGroup(out, rank, strings.of(fmt::format("MPI Rank {}", rank)),
                                            OTF2_LOCATION_GROUP_TYPE_PROCESS, nodes.at(ranks_[rank].host),
                                            OTF2_UNDEFINED_LOCATION_GROUP);
  for (const auto& [location, thread] : threads_) {
    const auto rank = static_cast<std::uint32_t>(location), number = static_cast<std::uint32_t>(location >> 32);
    const bool is_samples = (number & kSamplesOfThread) != 0;
    const std::uint32_t of_thread = number & ~kSamplesOfThread;
    const std::string name = of_thread == 0 ? "Master thread" : fmt::format("Thread {}", of_thread);
    OTF2_GlobalDefWriter_WriteLocation(out, location, strings.of(is_samples ? name + ", samples" : name),
                                       is_samples ? OTF2_LOCATION_TYPE_METRIC : OTF2_LOCATION_TYPE_CPU_THREAD,
                                       thread.told.events, rank);
    if (clocked_.contains(location) && ranks_[rank].clock_error_ns) {
      const OTF2_AttributeValue error{.float64 = *ranks_[rank].clock_error_ns};
      OTF2_GlobalDefWriter_WriteLocationProperty(out, location, strings.of("ardoise::clock_error_ns"), OTF2_TYPE_DOUBLE,
                                                 error);
    }
  }

  OTF2_GlobalDefWriter_WriteParadigm(out, OTF2_PARADIGM_MPI, strings.of("MPI"), OTF2_PARADIGM_CLASS_PROCESS);
  OTF2_RegionRef region_number = 0;
  for (const Region* const each : by_number(regions_)) {
    const Region& region = *each;
    const RegionKind kind = kind_of(region.kind, region.function);
    const OTF2_StringRef name = strings.of(region.name);
    OTF2_GlobalDefWriter_WriteRegion(out, region_number++, name, name, strings.of(region.description), kind.role,
                                     kind.paradigm, OTF2_REGION_FLAG_NONE, strings.of(region.source_file), region.line,
                                     region.line);
  }

  write_communicators(out, strings);

  if (!files_.empty()) {
    OTF2_GlobalDefWriter_WriteIoParadigm(out, 0, strings.of("POSIX"), strings.of("POSIX I/O and stdio"),
                                         OTF2_IO_PARADIGM_CLASS_SERIAL, OTF2_IO_PARADIGM_FLAG_OS, 0, nullptr, nullptr,
                                         nullptr);
    OTF2_GlobalDefWriter_WriteIoParadigm(out, 1, strings.of("MPI-IO"), strings.of("MPI-IO"),
                                         OTF2_IO_PARADIGM_CLASS_PARALLEL, OTF2_IO_PARADIGM_FLAG_NONE, 0, nullptr,
                                         nullptr, nullptr);
  }
  std::map<std::string, OTF2_IoFileRef> paths;
  OTF2_IoHandleRef handle = 0;
  for (const File* const each : by_number(files_)) {
    const File& file = *each;
    const auto [path, is_new] = paths.try_emplace(file.path, static_cast<OTF2_IoFileRef>(paths.size()));
    if (is_new) OTF2_GlobalDefWriter_WriteIoRegularFile(out, path->second, strings.of(file.path), 0);
    OTF2_GlobalDefWriter_WriteIoHandle(out, handle, strings.of(file.path), path->second, file.is_mpi_io ? 1 : 0,
                                       OTF2_IO_HANDLE_FLAG_PRE_CREATED, OTF2_UNDEFINED_COMM, OTF2_UNDEFINED_IO_HANDLE);
    OTF2_GlobalDefWriter_WriteIoPreCreatedHandleState(out, handle++, OTF2_IO_ACCESS_MODE_READ_WRITE,
                                                      OTF2_IO_STATUS_FLAG_NONE);
  }

  std::uint32_t reference = 0;
  for (const std::string* const each : by_number(names_)) {
    const std::string& name = *each;
    OTF2_GlobalDefWriter_WriteParameter(out, reference, strings.of(name), OTF2_PARAMETER_TYPE_INT64);
    OTF2_GlobalDefWriter_WriteMetricMember(out, reference, strings.of(name), strings.of("value from the program"),
                                           OTF2_METRIC_TYPE_USER, OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE,
                                           OTF2_BASE_DECIMAL, 0, strings.of(""));
    OTF2_GlobalDefWriter_WriteMetricClass(out, reference, 1, &reference, OTF2_METRIC_ASYNCHRONOUS,
                                          OTF2_RECORDER_KIND_CPU);
    ++reference;
  }
  if (has_own_events_)
    OTF2_GlobalDefWriter_WriteParameter(out, own_parameter(), strings.of("ardoise::value"), OTF2_PARAMETER_TYPE_STRING);
  write_samples(out, strings);
  OTF2_Archive_CloseGlobalDefWriter(archive, out);
}

}  // namespace ardoise::knowledge_sources
