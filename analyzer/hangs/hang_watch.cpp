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

bool HangWatch::are_all_stalled(const std::map<ProcessKey, bool>& own, std::vector<StalledProcess>& processes) {
  const auto now = std::chrono::steady_clock::now();
  std::map<ProcessKey, double> stalled_seconds;
  for (StalledProcess& stalled : processes) {
    Seen& seen = seen_[stalled.process];
    if (seen.tick != stalled.tick) seen = {stalled.tick, now};
    stalled.seconds += std::chrono::duration<double>(now - seen.time).count();
    stalled_seconds[stalled.process] = stalled.seconds;
  }
  return std::ranges::all_of(own, [&](const auto& process) {
    const auto found = stalled_seconds.find(process.first);
    return found != stalled_seconds.end() ? found->second >= setting_.seconds : process.second;
  });
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

std::string HangWatch::look(const std::map<ProcessKey, bool>& own) {
  const bool are_there = !position_files(setting_.folder).empty();
  auto processes = are_there ? read_stalled_processes(setting_.folder) : std::vector<StalledProcess>();
  const bool all_stalled = !processes.empty() && are_all_stalled(own, processes);
  mark(all_stalled);
  if (!all_stalled) is_said_ = false;
  if (setting_.rank != 0 || !all_stalled || is_said_) return "";
  if (safe_state_files(setting_.folder, kHangMarkPrefix).size() < setting_.analyzers) return "";
  is_said_ = true;
  find_places(processes);
  return sentence(processes);
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
  return text + ": " + best.text + ".";
}

}  // namespace ardoise::analyzer
