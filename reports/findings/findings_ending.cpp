// What ended a program that did not come to MPI_Finalize, and where its ranks stood then.
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

// "were" and "was", where the words are for one rank.
std::string for_several(std::string how, std::size_t ranks) {
  if (ranks > 1 && how.starts_with("was ")) how.replace(0, 3, "were");
  return how;
}

const char* advice_for(const RankEnd& end) {
  if (end.cause == "exit" || end.cause == "immediate exit")
    return "Call MPI_Finalize in every rank before the program ends.";
  if (end.cause == "exec") return "Call MPI_Finalize before, or start it as a child process.";
  if (end.cause == "error") return "MPI printed the error on standard error.";
  if (end.signal == "SIGKILL")
    return "Out of memory, a batch system's limit, or a user: the kernel's log (dmesg) says which.";
  if (end.has_address) return "The call stack is in the report; compiled with -g it has lines.";
  return "";
}

// Ranks that neither came to MPI_Finalize nor told of their end: their host may be gone. Empty where that is not known
// of each.
std::vector<std::uint32_t> silent_ranks(const Application& app) {
  std::set<std::uint32_t> told;
  for (const RankEnd& end : app.ending.ends) told.insert(end.ranks.begin(), end.ranks.end());
  std::vector<std::uint32_t> silent;
  for (std::uint32_t rank = 0; rank < app.ranks; ++rank) {
    if (!told.contains(rank)) silent.push_back(rank);
  }
  return silent.size() + app.quality.ranks_complete == app.ranks ? silent : std::vector<std::uint32_t>();
}

// " 3 other ranks ended then, too (SIGTERM)."; "": none.
std::string others_in_words(std::span<const RankEnd> ends) {
  std::size_t others = 0;
  std::set<std::string> how;
  for (const RankEnd& end : ends) {
    others += end.ranks.size();
    how.insert(end.signal.empty() ? end.cause : end.signal);
  }
  if (others == 0) return "";
  return fmt::format(" {} ended then, too ({}).", counted(others, "other rank"), joined(how, ", "));
}

// The kernel's out-of-memory killer leaves no survivor, which has the same memory.
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
                 "Fewer ranks on a machine, more memory for the job, or a smaller problem; the kernel's log (dmesg) "
                 "says which processes it were.",
                 {{"rank", facts.app.world_rank(silent.front())},
                  {"ranks", static_cast<double>(silent.size())},
                  {"memory_kills", static_cast<double>(ending.memory_kills)}}});
  return true;
}

void what_ended_it(const Facts& facts, std::vector<Finding>& out) {
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

void where_ranks_stood(const Facts& facts, std::vector<Finding>& out) {
  constexpr std::size_t kMost = 3;
  const std::vector<Stand>& stands = facts.app.ending.stands;
  // Of a program that runs a table says where its ranks are.
  if (stands.empty() || facts.app.ending.moment_seconds > 0) return;
  std::string text = "When it ended";
  for (std::size_t i = 0; i < std::min(stands.size(), kMost); ++i) {
    text += fmt::format("{} {} {} {}", i == 0 ? "," : ";", ranks_in_words(facts.app, stands[i].ranks),
                        stands[i].ranks.size() == 1 ? "was" : "were", stand_in_words(facts.app, stands[i]));
  }
  text +=
      stands.size() > kMost ? fmt::format("; {} in the report.", counted(stands.size() - kMost, "more place")) : ".";
  out.push_back({"where_ranks_stood", Severity::high, 1.5, text, "", {{"places", static_cast<double>(stands.size())}}});
}

}  // namespace

void find_ending(const Facts& facts, std::vector<Finding>& out) {
  what_ended_it(facts, out);
  where_ranks_stood(facts, out);
}

}  // namespace ardoise::reports
