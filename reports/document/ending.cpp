// The end of a program without MPI_Finalize: the cause and the position of each rank, call stack and last calls of the
// first rank that ended. For a running program: the positions of its ranks. See sections.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "reports/document/sections.hpp"
#include "reports/findings/ending_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kMostRows = 12, kSummaryPositions = 6, kMostFrames = 24;

Table ends_table(const Application& a, std::size_t most) {
  Table table{"How the ranks ended", {left("Ranks", 18), left("How", 38), "After", left("Where", 34)}, {}};
  for (const RankEnd& end : a.ending.ends) {
    if (table.rows.size() == most) break;
    std::string where = where_in_words(end);
    if (where.starts_with(" in ")) where.erase(0, 4);
    table.rows.push_back({ranks_in_words(a, end.ranks), how_in_words(end), seconds(end.seconds), place(where)});
  }
  return table;
}

Table positions_table(const Application& a, std::size_t most) {
  const char* const title = a.ending.moment_seconds > 0 ? "Where the ranks are" : "Where the ranks were";
  Table table{title, {left("Ranks", 18), left("Where", 62), "For", "at most"}, {}};
  for (const RankPosition& position : a.ending.stands) {
    if (table.rows.size() == most) break;
    std::string where =
        position.call.function.empty() ? position_in_words(a, position) : call_in_words(a, position.call);
    const bool in_call = !position.call.function.empty();
    table.rows.push_back({ranks_in_words(a, position.ranks), where,
                          in_call ? Cell(seconds(position.least_seconds)) : Cell(""),
                          in_call ? Cell(seconds(position.most_seconds)) : Cell("")});
  }
  return table;
}

Table positions_in_brief(const Application& a) {
  Table table = positions_table(a, kSummaryPositions);
  if (a.ending.stands.size() > kSummaryPositions)
    table.title += fmt::format(" ({})", counted(a.ending.stands.size(), "group"));
  return table;
}

Table stack_table(const Application& a, const std::vector<std::uint32_t>& ranks, const std::vector<StackPlace>& stack) {
  Table table{fmt::format("Call stack of rank {}, innermost first", a.world_rank(ranks.front())),
              {left("Function", 56), left("Where", 50)},
              {}};
  for (const StackPlace& frame : stack) {
    if (table.rows.size() == kMostFrames) break;
    const std::string where = frame.source_file.empty()
                                  ? fmt::format("{}+{:#x}", base_name(frame.module), frame.offset)
                                  : fmt::format("{}:{}", base_name(frame.source_file), frame.line);
    table.rows.push_back({frame.symbol.empty() ? Cell("?") : Cell(symbol(frame.symbol, 56)), place(where)});
  }
  return table;
}

Table calls_table(const Application& a, const RankEnd& end) {
  Table table{fmt::format("Last calls of rank {}", a.world_rank(end.ranks.front())),
              {left("Call", 76), "Begin", "Took", "Bytes"},
              {}};
  for (const LastCall& call : end.last_calls)
    table.rows.push_back(
        {call_in_words(a, call), seconds(call.begin_seconds), seconds(call.seconds), bytes(call.bytes)});
  return table;
}

}  // namespace

Section ending(const Application& a) {
  Section section{.title = "How it ended"};
  const Ending& ending = a.ending;
  if (ending.moment_seconds > 0) {
    section.title = "Where the ranks are";
    if (ending.stands.empty()) return section;
    section.summary.push_back(positions_in_brief(a));
    section.blocks.push_back(
        note(fmt::format("Positions {} after MPI_Init, while the program ran.", human_seconds(ending.moment_seconds))));
    section.blocks.push_back(positions_table(a, kMostRows));
    add_rest(section.blocks, ending.stands.size(), kMostRows, "groups of ranks");
    return section;
  }
  if (ending.ends.empty()) return section;
  if (ending.stands.size() > 1) section.summary.push_back(positions_in_brief(a));
  section.blocks.push_back(
      note("Each process recorded its end. Times are since MPI_Init. The first row ended the run."));
  section.blocks.push_back(ends_table(a, kMostRows));
  add_rest(section.blocks, ending.ends.size(), kMostRows, "groups of ranks");
  if (!ending.stands.empty()) section.blocks.push_back(positions_table(a, kMostRows));
  add_rest(section.blocks, ending.stands.size(), kMostRows, "groups of ranks");
  const RankEnd& first = ending.ends.front();
  if (!first.stack.empty()) section.blocks.push_back(stack_table(a, first.ranks, first.stack));
  add_rest(section.blocks, first.stack.size(), kMostFrames, "frames");
  if (!first.last_calls.empty()) section.blocks.push_back(calls_table(a, first));
  return section;
}

}  // namespace ardoise::reports
