#include "tools/ardoise/trace/trace_info.hpp"

#include <fmt/format.h>
#include <otf2/OTF2_Definitions.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <set>
#include <thread>
#include <unordered_map>

#include "reports/text/joined.hpp"
#include "reports/text/units.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::launcher {
namespace {

using namespace knowledge_sources;
using reports::with_separators;

constexpr std::size_t kMostRows = 20;

// Counts of one reading thread.
class TraceCounts : public EventConsumer {
 public:
  bool event(const ArchivedEvent& event) override {
    if (!has_time || event.time < first) first = event.time;
    if (!has_time || event.time > last) last = event.time;
    has_time = true;
    if (event.kind == ArchivedKind::kEnter) ++visits[event.reference];
    for (const ArchivedEvent::Attribute& attribute : event.attributes) ++attributes[attribute.reference];
    return true;
  }
  void merge(const TraceCounts& other) {
    for (const auto& [region, count] : other.visits) visits[region] += count;
    for (const auto& [key, count] : other.attributes) attributes[key] += count;
    for (std::size_t kind = 0; kind < counts.size(); ++kind) counts[kind] += other.counts[kind];
    faults.merge(other.faults);
    events += other.events;
    if (!other.has_time) return;
    first = has_time ? std::min(first, other.first) : other.first;
    last = has_time ? std::max(last, other.last) : other.last;
    has_time = true;
  }

  std::unordered_map<std::uint32_t, std::uint64_t> visits, attributes;
  EventCounts counts{};
  ArchiveFaults faults;
  std::uint64_t events = 0, first = 0, last = 0;
  bool has_time = false;
};

TraceCounts count_all(const ArchiveReader& archive) {
  const auto& locations = archive.definitions().locations;
  const std::size_t threads = std::min<std::size_t>(
      {std::max(1u, std::thread::hardware_concurrency()), 8, std::max<std::size_t>(1, locations.size())});
  std::vector<TraceCounts> of_threads(threads);
  std::vector<std::exception_ptr> failures(threads);
  std::atomic<std::size_t> next{0};
  const auto work = [&](std::size_t number) {
    TraceCounts& counts = of_threads[number];
    try {
      // Relaxed: threads share only the numbers.
      for (std::size_t at = 0; (at = next.fetch_add(1, std::memory_order_relaxed)) < locations.size();) {
        const ReadLocation read = archive.read(locations.begin()[static_cast<std::ptrdiff_t>(at)], counts);
        for (std::size_t kind = 0; kind < read.counts.size(); ++kind) counts.counts[kind] += read.counts[kind];
        counts.events += read.events;
        if (!read.fault.empty()) counts.faults.add(read.fault, read.detail);
      }
    } catch (...) {
      failures[number] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t number = 1; number < threads; ++number) others.emplace_back(work, number);
    work(0);
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  TraceCounts all;
  for (const TraceCounts& each : of_threads) all.merge(each);
  return all;
}

std::string name_of_paradigm(const ArchiveDefinitions& all, std::uint8_t paradigm) {
  const auto* const found = all.paradigms.find(paradigm);
  if (found != nullptr && !found->name.empty()) return found->name;
  switch (paradigm) {
    case OTF2_PARADIGM_USER:
      return "user";
    case OTF2_PARADIGM_COMPILER:
      return "compiler";
    case OTF2_PARADIGM_OPENMP:
      return "OpenMP";
    case OTF2_PARADIGM_MPI:
      return "MPI";
    case OTF2_PARADIGM_CUDA:
      return "CUDA";
    case OTF2_PARADIGM_PTHREAD:
      return "Pthread";
    case OTF2_PARADIGM_NONE:
      return "no paradigm";
    default:
      return fmt::format("paradigm {}", unsigned{paradigm});
  }
}

class InfoText {
 public:
  void line(const std::string& name, const std::string& value) {
    text_ += fmt::format("{:<16}{}\n", name, reports::printable(value));
  }
  void heading(const std::string& title) { text_ += fmt::format("\n{}\n", title); }
  // Appends a count and its name.
  void row(std::uint64_t count, const std::string& what) {
    text_ += fmt::format("{:>16}  {}\n", with_separators(count), reports::printable(what));
  }
  void more(std::size_t rows, const char* what) {
    if (rows > kMostRows) text_ += fmt::format("{:>16}  more {}\n", with_separators(rows - kMostRows), what);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void tell_head(InfoText& text, const ArchiveReader& archive, const TraceCounts& counts) {
  const ArchiveDefinitions& all = archive.definitions();
  const ArchiveAnchor& anchor = archive.anchor();
  text.line("trace", anchor.file.string());
  text.line("written by", fmt::format("{}, OTF2 {}.{}.{}", anchor.creator.empty() ? "unknown" : anchor.creator,
                                      unsigned{anchor.major}, unsigned{anchor.minor}, unsigned{anchor.bugfix}));
  if (!anchor.description.empty()) text.line("description", anchor.description);
  if (!anchor.machine.empty()) text.line("machine", anchor.machine);
  if (all.clock.begin_realtime_ns != kUndefined64) {
    const auto seconds = static_cast<std::int64_t>(all.clock.begin_realtime_ns / 1'000'000'000);
    text.line("began", reports::utc_time(seconds, "%Y-%m-%d %H:%M:%S UTC"));
  }
  const auto seconds = [&](std::uint64_t ticks) {
    return reports::human_seconds(static_cast<double>(ticks) / static_cast<double>(all.clock.ticks_per_second));
  };
  if (all.clock.is_known) text.line("length", seconds(all.clock.length));
  if (counts.has_time) text.line("events span", seconds(counts.last - counts.first));
  text.line("clock", fmt::format("{} ticks per second", with_separators(all.clock.ticks_per_second)));

  std::map<std::string, std::uint64_t> nodes;
  for (const ArchivedSystemNode& node : all.system_tree) ++nodes[node.kind.empty() ? "node" : node.kind];
  std::vector<std::string> tree;
  for (const auto& [kind, count] : nodes) tree.push_back(fmt::format("{} {}", count, kind));
  if (!tree.empty()) text.line("system tree", reports::joined(tree, ", "));
  std::uint64_t processes = 0, accelerators = 0, threads = 0, streams = 0, others = 0;
  for (const ArchivedLocationGroup& group : all.location_groups)
    ++(group.type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR ? accelerators : processes);
  for (const ArchivedLocation& location : all.locations)
    ++(location.type == OTF2_LOCATION_TYPE_CPU_THREAD           ? threads
       : location.type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM ? streams
                                                                : others);
  text.line("processes", with_separators(processes));
  text.line("threads", with_separators(threads));
  if (accelerators + streams != 0)
    text.line("accelerators",
              fmt::format("{} with {} streams", with_separators(accelerators), with_separators(streams)));
  if (others != 0) text.line("other locations", with_separators(others));
}

void tell_events(InfoText& text, const ArchiveDefinitions& all, const TraceCounts& counts) {
  text.heading(fmt::format("{} events", with_separators(counts.events)));
  for (std::size_t kind = 0; kind < counts.counts.size(); ++kind) {
    if (counts.counts[kind] != 0) text.row(counts.counts[kind], std::string(name_of(static_cast<ArchivedKind>(kind))));
  }
  std::vector<std::pair<std::uint64_t, const ArchivedRegion*>> visits;
  for (const ArchivedRegion& region : all.regions) {
    const auto found = counts.visits.find(region.id);
    visits.emplace_back(found == counts.visits.end() ? 0 : found->second, &region);
  }
  std::stable_sort(visits.begin(), visits.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  text.heading(fmt::format("{}, and how often they are entered", reports::counted(visits.size(), "region")));
  for (std::size_t i = 0; i < std::min(visits.size(), kMostRows); ++i) {
    const ArchivedRegion& region = *visits[i].second;
    const std::string place =
        region.source_file.empty()
            ? ""
            : fmt::format(", {}{}", region.source_file, region.line == 0 ? "" : fmt::format(":{}", region.line));
    text.row(visits[i].first, fmt::format("{} ({}){}", region.name, name_of_paradigm(all, region.paradigm), place));
  }
  text.more(visits.size(), "regions");
}

template <class List, class Tell>
void tell_list(InfoText& text, const char* one, const List& list, Tell&& tell) {
  if (list.empty()) return;
  text.heading(reports::counted(list.size(), one));
  std::size_t told = 0;
  for (const auto& each : list) {
    if (told++ == kMostRows) break;
    tell(each);
  }
  text.more(list.size(), "of them");
}

void tell_definitions(InfoText& text, const ArchiveDefinitions& all, const TraceCounts& counts) {
  tell_list(text, "communicator", all.comms, [&](const ArchivedComm& comm) {
    const bool is_inter = comm.other_group != kUndefined32;
    text.row(comm.is_self ? 1 : comm.members.size(),
             fmt::format("{}{}", comm.name.empty() ? fmt::format("communicator {}", comm.id) : comm.name,
                         is_inter ? ", between them and " + reports::counted(comm.others.size(), "other") : ""));
  });
  tell_list(text, "window", all.windows, [&](const ArchivedWindow& window) {
    const auto* const comm = all.comms.find(window.comm);
    text.row(comm == nullptr ? 0 : comm->members.size(),
             window.name.empty() ? fmt::format("window {}", window.id) : window.name);
  });
  tell_list(text, "topology", all.topologies, [&](const ArchivedTopology& topology) {
    std::vector<std::string> sizes;
    for (const auto& each : topology.dimensions)
      sizes.push_back(fmt::format("{}{}", each.size, each.is_periodic ? " periodic" : ""));
    text.row(topology.places.size(), fmt::format("{} {}", topology.name, reports::joined(sizes, " x ")));
  });
  tell_list(text, "file", all.files, [&](const ArchivedFile& file) {
    text.row(
        static_cast<std::uint64_t>(std::count_if(all.handles.begin(), all.handles.end(),
                                                 [&](const ArchivedHandle& handle) { return handle.file == file.id; })),
        fmt::format("{} (handles)", file.path));
  });
  tell_list(text, "metric", all.metric_members, [&](const ArchivedMetricMember& member) {
    text.row(member.id, fmt::format("{}{}{}", member.name, member.unit.empty() ? "" : " in " + member.unit,
                                    member.description.empty() ? "" : ", " + member.description));
  });
  tell_list(text, "attribute", all.attributes, [&](const ArchivedAttribute& attribute) {
    const auto used = counts.attributes.find(attribute.id);
    text.row(used == counts.attributes.end() ? 0 : used->second,
             fmt::format("{}{}", attribute.name, attribute.description.empty() ? "" : ", " + attribute.description));
  });
  tell_list(text, "parameter", all.parameters, [&](const ArchivedParameter& each) { text.row(each.id, each.name); });
  tell_list(text, "marker", all.markers, [&](const ArchivedMarker& marker) {
    text.row(marker.time, fmt::format("{} {}: {}", marker.group, marker.category, marker.text));
  });
}

}  // namespace

std::string trace_info(const ArchiveReader& archive, ArchiveFaults& faults) {
  const ArchiveDefinitions& all = archive.definitions();
  const TraceCounts counts = count_all(archive);
  faults = all.faults;
  faults.merge(counts.faults);
  if (const std::uint64_t unknown = counts.counts[static_cast<std::size_t>(ArchivedKind::kUnknown)]; unknown != 0)
    faults.add("events of a kind that this version does not know", "", unknown);
  if (all.unknown_definitions != 0)
    faults.add("definitions of a kind that this version does not know", "", all.unknown_definitions);
  InfoText text;
  tell_head(text, archive, counts);
  const auto& properties = archive.anchor().properties;
  if (!properties.empty()) text.heading("properties");
  for (const auto& [name, value] : properties) text.line("", fmt::format("{} = {}", name, value));
  tell_events(text, all, counts);
  tell_definitions(text, all, counts);
  return text.take();
}

}  // namespace ardoise::launcher
