#include "knowledge_sources/plugins/snapshots/sink_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "knowledge_sources/plugins/snapshots/rank_marks.hpp"
#include "reports/text/joined.hpp"

namespace ardoise::knowledge_sources {
namespace {

// "main;step;relax", as in folded stacks: outermost caller first. Deeper ones lack the outermost.
std::string stack_of(const ContextTree& tree, std::uint32_t node) {
  constexpr std::size_t kMostFrames = 128;
  std::vector<std::string> frames;
  for (; node != kNoNode && frames.size() < kMostFrames; node = tree.nodes()[node].parent) {
    const ContextTree::Function& function = tree.functions()[tree.nodes()[node].function];
    std::string name =
        function.symbol.empty() ? std::filesystem::path(function.module).filename().string() : function.symbol;
    std::ranges::replace(name, ';', ':');
    frames.push_back(std::move(name));
  }
  std::ranges::reverse(frames);
  return reports::joined(frames, ";");
}

}  // namespace

void SinkNames::give(std::uint32_t rank, std::span<const std::uint64_t> keys,
                     std::span<const PlaceNodes::Where> where) {
  for (const std::uint64_t key : keys) {
    if (key == RankMarks::kFurther || (key & kIsCounted) != 0) continue;
    if ((key & kIsSampled) == 0) {
      if (!named_.insert(key).second) continue;
      const Location& place = resolver_.call_site(place_of_key(key));
      sink_.name_call(partition_, rank, key,
                      {place.module, place.offset, place.symbol, place.source_file, place.line, {}});
    } else if (const std::uint32_t number = place_of_key(key); number < where.size()) {
      const std::uint32_t node = where[number].node;
      if (node == kNoNode) continue;
      const auto& function = tree_.functions()[tree_.nodes()[node].function];
      const std::string stack = stack_of(tree_, node);
      sink_.name_call(partition_, rank, key,
                      {function.module, 0, function.symbol, function.source_file, function.line, stack});
    }
  }
}

std::string title_of_loop(const reports::SnapshotSeries& series) {
  const std::string place = series.symbol.empty() ? "" : fmt::format(" in {}", series.symbol);
  const std::string line =
      series.source_file.empty()
          ? ""
          : fmt::format(" ({}:{})", std::filesystem::path(series.source_file).filename().string(), series.line);
  return (series.name.empty() ? "" : series.name + ": ") + series.function + place + line;
}

}  // namespace ardoise::knowledge_sources
