#include "reports/losses/words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"

namespace ardoise::reports {
namespace {

constexpr std::size_t kRanges = 4;

std::string called_from(const std::string& function, const std::string& caller) {
  return caller.empty() || caller == name_of_place("", "", 0, "", 0)
             ? in_sentence(function)
             : fmt::format("{}, called from {}", in_sentence(function), caller);
}

}  // namespace

std::string ranks_in_words(const Application& a, std::vector<std::uint32_t> ranks) {
  std::ranges::sort(ranks);
  if (ranks.empty() || ranks.size() == a.ranks)
    return a.ranks == 1 ? "the rank" : a.ranks == 2 ? "both ranks" : fmt::format("all {} ranks", a.ranks);
  for (std::uint32_t& rank : ranks) rank = a.world_rank(rank);
  if (ranks.size() == 1) return fmt::format("rank {}", ranks[0]);
  return fmt::format("ranks {} ({} of {})", rank_ranges(ranks, kRanges), ranks.size(), a.ranks);
}

std::string place_of_sleep(const Application& a, const std::vector<std::uint32_t>& ranks) {
  constexpr double kMostOfLooks = 0.5;
  std::uint64_t looks = 0;
  for (const std::uint32_t rank : ranks)
    looks += rank < a.per_rank.asleep_outside.size() ? a.per_rank.asleep_outside[rank] : 0;
  if (a.sleep_sites.empty()) return "";
  const SleepSite& most = a.sleep_sites.front();
  return static_cast<double>(most.looks) < kMostOfLooks * static_cast<double>(looks)
             ? ""
             : " in " + in_sentence(name_of(most));
}

std::string name_of_work(const Application& a, const PathWork& work) {
  if (work.part->kind == "other") {
    std::vector<std::uint32_t> ranks;
    for (const RankSeconds& each : work.part->by_rank) ranks.push_back(each.rank);
    const std::string place = place_of_sleep(a, ranks);
    return fmt::format("sleep{} (a device works, or a pause)", place.empty() ? " outside MPI" : place);
  }
  return in_sentence(name_as_sampled(a.samples, work.part->symbol, work.part->source_file, work.part->line));
}

std::string name_of_call(const Application& a, const PathCall& call) {
  const bool known = !call.part->symbol.empty() || !call.part->source_file.empty();
  if (known) return called_from(call.part->function, in_sentence(name_of(*call.part)));
  if (call.site == nullptr) return called_from(call.part->function, "");
  const std::string callers = call.site->symbol.empty() ? callers_in_sentence(a, *call.site) : "";
  return called_from(call.part->function, in_sentence(name_of(*call.site)) + callers);
}

std::string name_of_site(const WaitSite& site) { return called_from(site.function, in_sentence(name_of(site))); }

const WaitSite* main_wait(const Application& a) {
  const auto most = std::ranges::max_element(a.waiting.call_sites, {}, &WaitSite::waiting_seconds);
  return most == a.waiting.call_sites.end() || !(most->waiting_seconds > 0) ? nullptr : &*most;
}

std::string where_others_wait(const Application& a, bool one_rank) {
  const WaitSite* const site = main_wait(a);
  if (site == nullptr) return "";
  return fmt::format("; the others wait for {} in {}", one_rank ? "it" : "them", name_of_site(*site));
}

}  // namespace ardoise::reports
