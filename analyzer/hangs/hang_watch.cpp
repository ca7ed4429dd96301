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

bool HangWatch::do_all_stand(const std::map<ProcessKey, bool>& own, std::vector<ProcessStand>& stands) {
  const auto now = std::chrono::steady_clock::now();
  std::map<ProcessKey, double> standing;
  for (ProcessStand& stand : stands) {
    Seen& seen = seen_[stand.process];
    if (seen.tick != stand.tick) seen = {stand.tick, now};
    stand.seconds += std::chrono::duration<double>(now - seen.time).count();
    standing[stand.process] = stand.seconds;
  }
  return std::ranges::all_of(own, [&](const auto& process) {
    const auto found = standing.find(process.first);
    return found != standing.end() ? found->second >= setting_.seconds : process.second;
  });
}

void HangWatch::mark(bool all_stand) {
  if (all_stand == std::exchange(is_marked_, all_stand)) return;
  const fs::path file = safe_state_file(setting_.folder, kHangMarkPrefix, setting_.rank);
  if (all_stand) {
    (void)write_own_file(file, "");
  } else {
    remove_own_file(file);
  }
}

std::string HangWatch::look(const std::map<ProcessKey, bool>& own) {
  const bool are_there = !stand_files(setting_.folder).empty();
  auto stands = are_there ? read_stands(setting_.folder) : std::vector<ProcessStand>();
  const bool all_stand = !stands.empty() && do_all_stand(own, stands);
  mark(all_stand);
  if (!all_stand) is_said_ = false;
  if (setting_.rank != 0 || !all_stand || is_said_) return "";
  if (safe_state_files(setting_.folder, kHangMarkPrefix).size() < setting_.analyzers) return "";
  is_said_ = true;
  find_places(stands);
  return sentence(stands);
}

std::string HangWatch::sentence(const std::vector<ProcessStand>& stands) const {
  double least = stands.front().seconds;
  for (const ProcessStand& stand : stands) least = std::min(least, stand.seconds);
  std::string text =
      fmt::format("no rank has made progress in MPI for {}", reports::human_seconds(std::max(least, setting_.seconds)));
  // World by world; the first one with a fault is reported.
  std::map<std::uint32_t, std::vector<ProcessStand>> worlds;
  for (const ProcessStand& stand : stands) worlds[stand.process.first].push_back(stand);
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
