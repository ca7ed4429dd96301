#include "analyzer/hangs/hang_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/hangs/deadlock.hpp"
#include "analyzer/output_folder/safe_state_files.hpp"
#include "reports/findings/findings.hpp"
#include "reports/text/units.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;

}  // namespace

bool HangWatch::are_all_stalled(const std::map<ProcessKey, bool>& own, std::vector<StalledProcess>& processes,
                                Time now) {
  std::map<ProcessKey, double> stalled_seconds;
  for (StalledProcess& stalled : processes) {
    Seen& seen = seen_[stalled.process];
    const auto in_state = std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(stalled.seconds));
    if (seen.tick != stalled.tick) seen = {stalled.tick, now, last_look_, now - in_state};
    gone_since_.erase(stalled.process);
    stalled.seconds += std::chrono::duration<double>(now - seen.time).count();
    stalled_seconds[stalled.process] = stalled.seconds;
  }
  for (const auto& [process, seen] : seen_) {
    if (!stalled_seconds.contains(process)) gone_since_.try_emplace(process, now);
  }
  for (const auto& [process, has_ended] : own) {
    if (has_ended && !stalled_seconds.contains(process)) gone_since_.try_emplace(process, now);
  }
  last_look_ = now;
  return std::ranges::all_of(own, [&](const auto& process) {
    const auto found = stalled_seconds.find(process.first);
    return found != stalled_seconds.end() ? found->second >= setting_.seconds : process.second;
  });
}

bool HangWatch::is_consistent(const std::vector<StalledProcess>& processes) const {
  Time entered, known = Time::max();
  for (const StalledProcess& stalled : processes) {
    const Seen& seen = seen_.at(stalled.process);
    entered = std::max(entered, seen.entered);
    known = std::min(known, seen.not_before);
  }
  for (const auto& [process, since] : gone_since_) entered = std::max(entered, since);
  return entered <= known;
}

void HangWatch::mark(bool all_stalled) {
  if (all_stalled == std::exchange(is_marked_, all_stalled)) return;
  const fs::path file = safe_state_file(setting_.folder, kHangMarkPrefix, setting_.rank);
  if (all_stalled) {
    (void)write_own_file(file, "");
  } else {
    remove_own_file(file);
  }
}

std::string HangWatch::look(const std::map<ProcessKey, bool>& own, Time now) {
  const bool are_there = !position_files(setting_.folder).empty();
  auto processes = are_there ? read_stalled_processes(setting_.folder) : std::vector<StalledProcess>();
  const bool all_stalled = are_all_stalled(own, processes, now) && !processes.empty();
  mark(all_stalled);
  if (!all_stalled) is_said_ = false;
  if (setting_.rank != 0 || !all_stalled || is_said_) return "";
  if (safe_state_files(setting_.folder, kHangMarkPrefix).size() < setting_.analyzers) return "";
  find_places(processes);
  std::string text = sentence(processes);
  is_said_ = !text.empty();
  return text;
}

std::string HangWatch::sentence(const std::vector<StalledProcess>& processes) const {
  double least = processes.front().seconds;
  for (const StalledProcess& stalled : processes) least = std::min(least, stalled.seconds);
  std::string text =
      fmt::format("no rank has made progress in MPI for {}", reports::human_seconds(std::max(least, setting_.seconds)));
  // World by world; the first one with a fault is reported.
  std::map<std::uint32_t, std::vector<StalledProcess>> worlds;
  for (const StalledProcess& stalled : processes) worlds[stalled.process.first].push_back(stalled);
  HangReason best;
  for (const auto& [world, of_world] : worlds) {
    const auto program = std::ranges::find(programs_, world, &knowledge_sources::Program::world);
    HangReason reason = reason_of_hang(of_world);
    if (worlds.size() > 1 && program != programs_.end())
      reason.text += " (in " + reports::in_sentence(program->name) + ")";
    if (reason.is_fault && !best.is_fault) best = reason;
    if (best.text.empty()) best = reason;
  }
  if (best.is_fault && !is_consistent(processes)) return "";
  return text + ": " + best.text + ".";
}

}  // namespace ardoise::analyzer
