// Samples: the tree of calling contexts of all programs, also for call stacks of calls; interrupt sources, and
// counters.
#include <algorithm>
#include <cmath>
#include <utility>

#include "knowledge_sources/contexts/context_tree.hpp"
#include "knowledge_sources/interface/resolver.hpp"
#include "knowledge_sources/otf2/writer/string_writer.hpp"
#include "knowledge_sources/otf2/writer/world_archive.hpp"

namespace ardoise::knowledge_sources {
namespace {

std::string name_of_function(const ContextTree::Function& function) {
  if (!function.symbol.empty()) return function.symbol;
  return "(" + std::filesystem::path(function.module).filename().string() + ")";
}

}  // namespace

// Archive numbers of calling contexts by node of a program's tree.
class WorldArchive::ContextNumbers {
 public:
  ContextNumbers(WorldArchive& archive, const ContextTree& tree) : archive_(archive), tree_(tree) {}

  std::uint64_t of(const ContextTree::Place& place) {
    for (auto node = static_cast<std::uint32_t>(of_node_.size()); node <= place.node; ++node)
      of_node_.push_back(number_of(node, 0));
    if (place.line == kNoLine) return of_node_[place.node];
    const ContextTree::Line& line = tree_.lines()[place.line];
    const auto known = archive_.places_.try_emplace({line.source_file, line.line}, archive_.places_.size() + 1);
    return number_of(place.node, known.first->second);
  }

 private:
  // Its parent has one.
  std::uint64_t number_of(std::uint32_t number, std::uint64_t place) {
    const ContextTree::Node& node = tree_.nodes()[number];
    const ContextTree::Function& function = tree_.functions()[node.function];
    Region region{name_of_function(function),  function.module,
                  function.source_file,        function.line,
                  TraceRegion::Kind::kSampled, function.kind == "mpi" ? 1u : 0u};
    const std::uint64_t of_region =
        archive_.regions_.try_emplace(std::move(region), archive_.regions_.size()).first->second;
    const std::uint64_t parent = node.parent == kNoNode ? kNoContext : of_node_[node.parent];
    return archive_.contexts_.try_emplace({parent, of_region, place}, archive_.contexts_.size()).first->second;
  }

  WorldArchive& archive_;
  const ContextTree& tree_;
  std::vector<std::uint64_t> of_node_;
};

void WorldArchive::add_samples(std::uint32_t first, const std::vector<const ReadPart*>& parts,
                               const Resolver& resolver) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, ThreadSamples> of_thread;
  for (const ReadPart* const part : parts) {
    for (const TraceTables::Samples& each : part->tables.samples)
      add_sums(of_thread[{each.rank, each.thread}].contexts, each.contexts);
  }
  ContextTree tree(resolver);
  ContextNumbers numbers(*this, tree);
  for (const ReadPart* const part : parts) {
    std::map<std::uint32_t, const TraceTables::Sampler*> samplers;
    for (const TraceTables::Sampler& each : part->tables.samplers) samplers[each.rank] = &each;
    for (const TraceTables::Samples& each : part->tables.samples) {
      const std::uint64_t location = trace_location(first + each.rank, kSamplesOfThread | each.thread);
      if (!threads_.contains(location)) continue;  // it has no events in the trace
      Sampled& sampled = sampled_[location];
      tree.begin(each.rank, of_thread[{each.rank, each.thread}]);
      for (const TraceTables::Place& place : each.places)
        sampled.contexts.emplace(place.number, numbers.of(tree.sample(place.key)));
      const auto found = samplers.find(each.rank);
      if (found == samplers.end()) continue;
      const TraceTables::Sampler& sampler = *found->second;
      const bool counts = sampler.unit == instrument::SampleUnit::kEvents;
      const std::uint64_t period = counts               ? sampler.period
                                   : sampler.hertz >= 1 ? static_cast<std::uint64_t>(std::llround(1e6 / sampler.hertz))
                                                        : 0;
      const Generator generator{sampler.event.empty() ? "CPU time" : sampler.event, counts, period};
      sampled.generator = generators_.try_emplace(generator, generators_.size()).first->second;
      if (each.counters == 0 || sampled.instance) continue;
      std::vector<std::string> names = sampler.counters;
      names.resize(each.counters);
      sampled.counters = counters_.try_emplace(std::move(names), counters_.size()).first->second;
      sampled.instance = instances_++;
    }
  }
  for (const ReadPart* const part : parts) {
    std::pair<std::uint32_t, std::uint32_t> begun(UINT32_MAX, UINT32_MAX);
    for (const TraceTables::Stack& each : part->tables.stacks) {
      const std::pair thread(each.rank, each.thread);
      if (std::exchange(begun, thread) != thread) tree.begin(each.rank, of_thread[thread]);
      stacks_[trace_location(first + each.rank, each.thread)].emplace(each.context,
                                                                      numbers.of(tree.sample({each.context, 0, 0, 0})));
    }
  }
}

std::uint64_t WorldArchive::metric_of(const Sampled& sampled) const {
  return names_.size() + counters_.size() + sampled.instance.value_or(0);
}

void WorldArchive::write_samples(OTF2_GlobalDefWriter* out, StringWriter& strings) const {
  OTF2_SourceCodeLocationRef place_number = 0;
  for (const auto* const place : by_number(places_, 1))
    OTF2_GlobalDefWriter_WriteSourceCodeLocation(out, place_number++, strings.of(place->first), place->second);
  OTF2_CallingContextRef context_number = 0;
  for (const auto* const context : by_number(contexts_)) {
    const auto& [parent, region, place] = *context;
    OTF2_GlobalDefWriter_WriteCallingContext(
        out, context_number++, static_cast<OTF2_RegionRef>(region),
        place == 0 ? OTF2_UNDEFINED_SOURCE_CODE_LOCATION : static_cast<OTF2_SourceCodeLocationRef>(place - 1),
        parent == kNoContext ? OTF2_UNDEFINED_CALLING_CONTEXT : static_cast<OTF2_CallingContextRef>(parent));
  }
  OTF2_InterruptGeneratorRef generator_number = 0;
  for (const auto* const generator : by_number(generators_))
    OTF2_GlobalDefWriter_WriteInterruptGenerator(
        out, generator_number++, strings.of(generator->name),
        generator->counts ? OTF2_INTERRUPT_GENERATOR_MODE_COUNT : OTF2_INTERRUPT_GENERATOR_MODE_TIME, OTF2_BASE_DECIMAL,
        generator->counts ? 0 : -6, generator->period);
  // After the names' metrics, which have one member each.
  auto member = static_cast<OTF2_MetricMemberRef>(names_.size());
  auto metric = static_cast<OTF2_MetricRef>(names_.size());
  for (const auto* const names : by_number(counters_)) {
    std::vector<OTF2_MetricMemberRef> members;
    for (const std::string& name : *names) {
      OTF2_GlobalDefWriter_WriteMetricMember(out, member, strings.of(name), strings.of("counted by the kernel"),
                                             OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64,
                                             OTF2_BASE_DECIMAL, 0, strings.of("#"));
      members.push_back(member++);
    }
    OTF2_GlobalDefWriter_WriteMetricClass(out, metric++, static_cast<std::uint8_t>(members.size()), members.data(),
                                          OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_ABSTRACT);
  }
  for (const auto& [location, sampled] : sampled_) {
    if (!sampled.instance) continue;
    const std::uint64_t thread = location & ~(std::uint64_t{kSamplesOfThread} << 32);
    const bool has_thread = threads_.contains(thread);
    OTF2_GlobalDefWriter_WriteMetricInstance(out, static_cast<OTF2_MetricRef>(metric_of(sampled)),
                                             static_cast<OTF2_MetricRef>(names_.size() + sampled.counters), location,
                                             has_thread ? OTF2_SCOPE_LOCATION : OTF2_SCOPE_LOCATION_GROUP,
                                             has_thread ? thread : std::uint64_t{static_cast<std::uint32_t>(location)});
  }
}

}  // namespace ardoise::knowledge_sources
