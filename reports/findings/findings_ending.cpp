// The end of a program without MPI_Finalize: its cause, and the positions of the ranks.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "reports/findings/ending_view.hpp"
#include "reports/findings/findings.hpp"
#include "reports/text/joined.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

// Replaces "was" by "were" for several ranks.
std::string for_several(std::string how, std::size_t ranks) {
  if (ranks > 1 && how.starts_with("was ")) how.replace(0, 3, "were");
  return how;
}

const char* advice_for(const RankEnd& end) {
  if (end.cause == "exit" || end.cause == "immediate exit")
    return "Call MPI_Finalize in every rank before the program ends.";
  if (end.cause == "exec") return "Call MPI_Finalize before exec, or start the other program as a child process.";
  if (end.cause == "error") return "MPI printed the error on standard error.";
  if (end.signal == "SIGKILL")
    return "Possible causes: lack of memory, a limit of the batch system, a user. See the kernel's log (dmesg).";
  if (end.has_address) return "The report shows the call stack; compile with -g for source lines.";
  return "";
}

// Ranks without MPI_Finalize and without a recorded end: their host may be gone. Empty if that is not known for each.
std::vector<std::uint32_t> silent_ranks(const Application& app) {
  std::set<std::uint32_t> ended;
  for (const RankEnd& end : app.ending.ends) ended.insert(end.ranks.begin(), end.ranks.end());
  std::vector<std::uint32_t> silent;
  for (std::uint32_t rank = 0; rank < app.ranks; ++rank) {
    if (!ended.contains(rank)) silent.push_back(rank);
  }
  return silent.size() + app.quality.ranks_complete == app.ranks ? silent : std::vector<std::uint32_t>();
}

// " 3 other ranks also ended (SIGTERM)."; "": none.
std::string others_in_words(std::span<const RankEnd> ends) {
  std::size_t others = 0;
  std::set<std::string> how;
  for (const RankEnd& end : ends) {
    others += end.ranks.size();
    how.insert(end.signal.empty() ? end.cause : end.signal);
  }
  if (others == 0) return "";
  return fmt::format(" {} also ended ({}).", counted(others, "other rank"), joined(how, ", "));
}

// The out-of-memory killer also ends the survivor process, so these ranks record no end.
bool find_lack_of_memory(const Facts& facts, std::span<const std::uint32_t> silent, std::vector<Finding>& out) {
  const Ending& ending = facts.app.ending;
  if (silent.empty() || ending.memory_kills == 0) return false;
  out.push_back({"run_ended",
                 Severity::high,
                 2,
                 fmt::format("{} {} probably ended by the kernel for lack of memory: its out-of-memory killer ended {} "
                             "while the launch ran, and nothing more arrived from {}.{}",
                             capitalised(ranks_in_words(facts.app, silent)), silent.size() == 1 ? "was" : "were",
                             ending.memory_kills == 1 ? "a process" : fmt::format("{} processes", ending.memory_kills),
                             silent.size() == 1 ? "this rank" : "these ranks", others_in_words(ending.ends)),
                 "Use fewer ranks on a host, more memory for the job, or a smaller problem. The kernel's log (dmesg) "
                 "names the ended processes.",
                 {{"rank", facts.app.world_rank(silent.front())},
                  {"ranks", static_cast<double>(silent.size())},
                  {"memory_kills", static_cast<double>(ending.memory_kills)}}});
  return true;
}

void find_cause(const Facts& facts, std::vector<Finding>& out) {
  const Ending& ending = facts.app.ending;
  const auto silent = silent_ranks(facts.app);
  if (find_lack_of_memory(facts, silent, out) || ending.ends.empty()) return;
  const RankEnd& first = ending.ends.front();
  std::string text = fmt::format("{} {}{} after {}.", capitalised(ranks_in_words(facts.app, first.ranks)),
                                 for_several(how_in_words(first), first.ranks.size()), where_in_words(first),
                                 human_seconds(first.seconds));
  text += others_in_words(std::span(ending.ends).subspan(1));
  if (!silent.empty())
    text +=
        fmt::format(" Nothing more arrived from {}, which may have ended earlier.", ranks_in_words(facts.app, silent));
  std::size_t ranks = 0;
  for (const RankEnd& end : ending.ends) ranks += end.ranks.size();
  out.push_back({"run_ended",
                 Severity::high,
                 2,  // before everything else
                 text,
                 advice_for(first),
                 {{"rank", facts.app.world_rank(first.ranks.front())},
                  {"seconds", first.seconds},
                  {"ranks", static_cast<double>(ranks)}}});
}

void find_positions(const Facts& facts, std::vector<Finding>& out) {
  constexpr std::size_t kMost = 3;
  const std::vector<RankPosition>& positions = facts.app.ending.stands;
  // For a running program, a table shows the positions.
  if (positions.empty() || facts.app.ending.moment_seconds > 0) return;
  std::string text = "When it ended";
  for (std::size_t i = 0; i < std::min(positions.size(), kMost); ++i) {
    text += fmt::format("{} {} {} {}", i == 0 ? "," : ";", ranks_in_words(facts.app, positions[i].ranks),
                        positions[i].ranks.size() == 1 ? "was" : "were", position_in_words(facts.app, positions[i]));
  }
  text += positions.size() > kMost ? fmt::format("; {} in the report.", counted(positions.size() - kMost, "more place"))
                                   : ".";
  out.push_back(
      {"where_ranks_stood", Severity::high, 1.5, text, "", {{"places", static_cast<double>(positions.size())}}});
}

}  // namespace

void find_ending(const Facts& facts, std::vector<Finding>& out) {
  find_cause(facts, out);
  find_positions(facts, out);
}

}  // namespace ardoise::reports
