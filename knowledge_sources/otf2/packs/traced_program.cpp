// Processes, threads, time, marks; the regions are in traced_regions.cpp, the communicators in
// traced_communicators.cpp.
#include "knowledge_sources/otf2/packs/traced_program.hpp"

#include <fmt/format.h>
#include <otf2/otf2.h>

#include <algorithm>
#include <cmath>

#include "instrument/format/mark_name.hpp"
#include "knowledge_sources/containers/counted.hpp"
#include "knowledge_sources/otf2/contents/trace_attribute.hpp"
#include "knowledge_sources/otf2/packs/mpi_names.hpp"
#include "knowledge_sources/otf2/writer/trace_tables.hpp"
#include "reports/text/joined.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::string_view kSamplesSuffix = ", samples";  // suffix of a thread name, in traces of Ardoise
constexpr std::uint64_t kMostBeforeInit = 1'000'000;      // events of the first thread in which MPI_Init is searched

bool is_init(std::string_view region) {
  const auto function = mpi_function(region);
  return function == vmpi::FunctionId::kInit || function == vmpi::FunctionId::kInit_thread;
}

// Searches the first thread for the end of MPI_Init and the name of the program.
class BeginFinder final : public EventConsumer {
 public:
  explicit BeginFinder(const ArchiveDefinitions& definitions) : definitions_(definitions) {}
  bool event(const ArchivedEvent& event) override {
    if (!first_) first_ = event.time;
    if (event.kind == ArchivedKind::kProgramBegin) program_ = definitions_.string_of(event.reference);
    if (event.kind == ArchivedKind::kLeave) {
      const ArchivedRegion* const region = definitions_.regions.find(event.reference);
      if (region != nullptr && is_init(region->name)) init_ = event.time;
    }
    return !init_ && event.position < kMostBeforeInit;
  }
  [[nodiscard]] std::optional<std::uint64_t> first() const { return first_; }
  [[nodiscard]] std::optional<std::uint64_t> init() const { return init_; }
  [[nodiscard]] const std::string& program() const { return program_; }

 private:
  const ArchiveDefinitions& definitions_;
  std::optional<std::uint64_t> first_, init_;
  std::string program_;
};

class FirstTime final : public EventConsumer {
 public:
  bool event(const ArchivedEvent& event) override {
    time_ = std::min(time_, event.time);
    return false;
  }
  [[nodiscard]] std::uint64_t time() const { return time_; }

 private:
  std::uint64_t time_ = UINT64_MAX;
};

// For an archive without a program name: "scorep-solver", of …/scorep-solver/traces.otf2.
std::string name_of_folder(const std::filesystem::path& anchor) {
  std::error_code ignored;
  const auto folder = std::filesystem::absolute(anchor, ignored).lexically_normal().parent_path();
  const bool is_inner = folder.filename() == "trace" || folder.filename() == "traces";
  const std::string name = (is_inner ? folder.parent_path() : folder).filename().string();
  return name.empty() ? "trace" : name;
}

// As a trace of Ardoise reports it, in seconds; 0: not reported.
double clock_error_of(const ArchivedLocation& location) {
  for (const ArchivedProperty& property : location.properties) {
    if (property.name != "ardoise::clock_error_ns" || !property.value.is_real()) continue;
    if (const double ns = property.value.as_real(); ns > 0 && ns < 1e18) return ns / 1e9;
  }
  return 0;
}

}  // namespace

TracedProgram::TracedProgram(const ArchiveReader& archive)
    : archive_(archive), definitions_(archive.definitions()), is_ours_(archive.anchor().creator == "Ardoise") {
  find_ranks();
  find_threads();
  find_origin();
  find_marks();
  for (const ArchivedAttribute& each : definitions_.attributes) {
    if (each.name == trace_attribute(kCallStackAttribute)->name) stack_attribute_ = each.id;
  }
  find_regions();
  find_communicators();
  find_windows();
  find_files();
  find_losses();
}

void TracedProgram::find_ranks() {
  std::map<std::uint64_t, std::uint32_t> by_rank;
  for (const ArchivedLocationGroup& group : definitions_.location_groups) {
    const auto rank = definitions_.world_ranks.find(group.id);
    if (rank != definitions_.world_ranks.end() && group.type != OTF2_LOCATION_GROUP_TYPE_ACCELERATOR)
      by_rank.emplace(rank->second, group.id);
  }
  for (const auto& [rank, group] : by_rank) {
    ranks_.emplace(group, static_cast<std::uint32_t>(groups_.size()));
    groups_.push_back(group);
    const ArchivedLocationGroup* const found = definitions_.location_groups.find(group);
    std::string host;
    std::uint32_t node = found->node;
    for (const auto* each = definitions_.system_tree.find(node); each != nullptr;
         each = definitions_.system_tree.find(node = each->parent)) {
      if (host.empty() || each->kind == "node" || each->kind == "host") host = each->name;
      if (each->kind == "node" || each->kind == "host") break;
    }
    nodes_.push_back(fmt::format("node {} of the trace", node == kUndefined32 ? found->node : node));
    hosts_.push_back(host.empty() ? archive_.anchor().machine : host);
  }
  std::uint64_t accelerators = 0, others = 0;
  for (const ArchivedLocationGroup& group : definitions_.location_groups) {
    if (group.type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR) {
      ++accelerators;
    } else if (!ranks_.contains(group.id)) {
      ++others;
    }
  }
  if (accelerators != 0) notices_.push_back(fmt::format("The activity of {} accelerators is not shown.", accelerators));
  if (others != 0)
    notices_.push_back(
        fmt::format("{} location groups of the trace are not MPI ranks; their activity is not shown.", others));
}

void TracedProgram::find_threads() {
  std::vector<std::uint32_t> threads(groups_.size());
  clock_errors_.resize(groups_.size());
  std::vector<std::unordered_map<std::string, std::uint32_t>> named(groups_.size());
  std::uint64_t streams = 0, metrics = 0;
  // The thread that represents the process in communicators comes first.
  std::unordered_map<std::uint64_t, bool> is_first;
  for (const ArchivedGroup& group : definitions_.groups) {
    if (group.type != OTF2_GROUP_TYPE_COMM_LOCATIONS || group.paradigm != OTF2_PARADIGM_MPI) continue;
    for (const std::uint64_t member : group.members) is_first[member] = true;
  }
  for (const bool first : {true, false}) {
    for (const ArchivedLocation& location : definitions_.locations) {
      const auto rank = ranks_.find(location.group);
      if (location.type != OTF2_LOCATION_TYPE_CPU_THREAD || rank == ranks_.end() ||
          is_first.contains(location.id) != first)
        continue;
      const std::uint32_t number = threads[rank->second]++;
      threads_[location.id] = {rank->second, number, false};
      clock_errors_[rank->second] = std::max(clock_errors_[rank->second], clock_error_of(location));
      named[rank->second].emplace(location.name, number);
    }
  }
  for (const ArchivedLocation& location : definitions_.locations) {
    if (location.type == OTF2_LOCATION_TYPE_CPU_THREAD) continue;
    const auto rank = ranks_.find(location.group);
    const bool is_metric = location.type == OTF2_LOCATION_TYPE_METRIC;
    if (is_metric && rank != ranks_.end() && location.name.ends_with(kSamplesSuffix)) {
      auto& of_rank = named[rank->second];
      const std::string thread = location.name.substr(0, location.name.size() - kSamplesSuffix.size());
      const auto [found, is_new] = of_rank.try_emplace(thread, threads[rank->second]);
      if (is_new) ++threads[rank->second];
      threads_[location.id] = {rank->second, found->second, true};
    } else if (location.events != 0) {
      ++(is_metric ? metrics : streams);
    }
  }
  if (streams != 0)
    notices_.push_back(fmt::format("The activity of {} of accelerators is not shown.", counted(streams, "stream")));
  if (metrics != 0)
    notices_.push_back(fmt::format("The metrics of {} without a thread are not shown.", counted(metrics, "location")));
}

void TracedProgram::find_origin() {
  const ArchivedClock& clock = definitions_.clock;
  const double ticks = static_cast<double>(std::max<std::uint64_t>(clock.ticks_per_second, 1));
  ticks_per_tick_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(1e9 / ticks)));
  ticks_per_second_ = ticks * static_cast<double>(ticks_per_tick_);
  length_ = clock.length;
  name_ = name_of_folder(archive_.anchor().file);
  BeginFinder finder(definitions_);
  for (const ArchivedLocation& location : definitions_.locations) {
    const auto thread = thread_of(location);
    if (!thread || thread->rank != 0 || thread->thread != 0 || thread->is_samples) continue;
    (void)archive_.read(location, finder);
  }
  has_init_ = finder.init().has_value();
  for (const auto& [name, value] : archive_.anchor().properties) {
    if (name == "ARDOISE::PROGRAM" && !value.empty()) name_ = value;
  }
  if (!finder.program().empty()) name_ = std::filesystem::path(finder.program()).filename().string();
  if (is_ours_) {
    origin_ = kTraceLead;
  } else if (finder.init()) {
    origin_ = *finder.init();
  } else if (clock.is_known) {
    origin_ = clock.begin;
  } else {
    FirstTime first;
    for (const ArchivedLocation& location : definitions_.locations) {
      if (threads_.contains(location.id)) (void)archive_.read(location, first);
    }
    origin_ = first.time() == UINT64_MAX ? 0 : first.time();
  }
}

std::optional<TracedProgram::Thread> TracedProgram::thread_of(const ArchivedLocation& location) const {
  const auto found = threads_.find(location.id);
  return found == threads_.end() ? std::nullopt : std::optional(found->second);
}

// In traces of Ardoise each parameter is a mark, and each metric of the program itself.
void TracedProgram::find_marks() {
  if (!is_ours_) return;
  const auto name_mark = [&](const std::string& name) {
    const std::uint32_t id = instrument::mark_name_id(name);
    mark_names_.emplace(id, name);
    return id;
  };
  for (const ArchivedParameter& parameter : definitions_.parameters)
    parameters_[parameter.id] = parameter.name == "MPI_Pcontrol" ? 0 : name_mark(parameter.name);
  for (const ArchivedMetricClass& metric : definitions_.metric_classes) {
    if (metric.members.size() != 1) continue;
    const ArchivedMetricMember* const member = definitions_.metric_members.find(metric.members[0]);
    if (member != nullptr && member->type == OTF2_METRIC_TYPE_USER) metrics_[metric.id] = name_mark(member->name);
  }
}

const std::string& TracedProgram::mark_name(std::uint32_t id) const {
  static const std::string kNone;
  const auto found = mark_names_.find(id);
  return found == mark_names_.end() ? kNone : found->second;
}

std::optional<std::uint32_t> TracedProgram::mark_of_parameter(std::uint32_t parameter) const {
  const auto found = parameters_.find(parameter);
  return found == parameters_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::uint32_t> TracedProgram::mark_of_metric(std::uint32_t metric) const {
  const auto found = metrics_.find(metric);
  return found == metrics_.end() ? std::nullopt : std::optional(found->second);
}

void TracedProgram::find_files() {
  std::unordered_map<std::string, std::uint32_t> numbers;
  for (const ArchivedHandle& handle : definitions_.handles) {
    const ArchivedFile* const file = definitions_.files.find(handle.file);
    const std::string& path = file != nullptr ? file->path : handle.name;
    if (path.empty() || path == "(not known)") continue;
    const auto [number, is_new] = numbers.try_emplace(path, static_cast<std::uint32_t>(paths_.size()) + 1);
    if (is_new) paths_.push_back(path);
    files_[handle.id] = number->second;
  }
}

std::uint32_t TracedProgram::file_of(std::uint32_t handle) const {
  const auto found = files_.find(handle);
  return found == files_.end() ? 0 : found->second;
}

// Losses that the trace itself reports.
void TracedProgram::find_losses() {
  struct Loss {
    std::string_view property, what;
  };
  static constexpr Loss kLosses[] = {
      {"ARDOISE::CALLS_AS_SUMS", "calls aggregated for lack of memory"},
      {"ARDOISE::COUNTED_CALLS", "quick queries that were only counted"},
      {"ARDOISE::UNTIMED_CALLS", "calls at unknown times"},
      {"ARDOISE::UNTIMED_SAMPLES", "samples at unknown times"},
      {"ARDOISE::MISSING_PLACES", "calls of packs that did not arrive, in gaps"},
      {"ARDOISE::RECORDS_BEYOND_LIMIT", "records dropped because of its limit"},
      {"ARDOISE::UNSEEN_RANKS", "ranks whose analyzer could not write their part"},
  };
  std::vector<std::string> list;
  for (const Loss& loss : kLosses) {
    for (const auto& [name, value] : archive_.anchor().properties) {
      if (name == loss.property) list.push_back(fmt::format("{} ({})", loss.what, value));
    }
  }
  if (!list.empty()) notices_.push_back(fmt::format("The trace lacks {}.", reports::joined(list, ", ")));
  if (archive_.anchor().is_selection())
    notices_.push_back(fmt::format("The trace contains only the selection {}; all numbers refer to it.",
                                   archive_.anchor().description));
}

void TracedProgram::define_process(MadePacks& packs, std::uint32_t rank, std::uint64_t begin_tick,
                                   std::uint64_t init_ticks, std::uint32_t thread_level) const {
  instrument::ProcessDefinition process{};
  process.world_size = process.ranks = ranks();
  process.universe_rank = rank;
  process.thread_level = thread_level;
  process.begin_tick = begin_tick;
  process.init_ticks = init_ticks;
  packs.define(process, std::string_view(name_), std::string_view(name_), std::string_view(hosts_[rank]),
               std::string_view());
}

// All processes have the clock of the archive. The last one has the later moment, a whole second.
void TracedProgram::define_clock(MadePacks& packs, std::uint32_t rank, std::uint64_t end_tick) const {
  const ArchivedClock& clock = definitions_.clock;
  instrument::ClockDefinition definition{};
  definition.tick = origin_tick();
  if (clock.begin_realtime_ns != kUndefined64)
    definition.realtime_ns = clock.begin_realtime_ns + static_cast<std::uint64_t>(clock.nanoseconds(origin_));
  if (end_tick != 0) {
    definition.tick += static_cast<std::uint64_t>(ticks_per_second_);
    definition.realtime_ns += 1'000'000'000;
  }
  definition.ticks_per_second = ticks_per_second_;
  definition.offset_error_seconds = clock_errors_[rank];
  definition.end_tick = end_tick;
  packs.define(definition, std::string_view("OTF2"), std::string_view(nodes_[rank]));
}

}  // namespace ardoise::knowledge_sources
