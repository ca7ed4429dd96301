// See race_windows.hpp.
#include "tools/ardoise/race_windows.hpp"

#include <algorithm>

namespace ardoise::launcher {

void RaceWindows::received(const ReceivedMessage& message) {
  Process& process = processes_[message.receiver];
  process.held.emplace(message.post, message);
  while (!process.held.empty() && process.held.begin()->first <= process.next) {
    const ReceivedMessage next = process.held.begin()->second;
    process.held.erase(process.held.begin());
    process.next = std::max(process.next, next.post + 1);
    judge(next, true);
  }
}

void RaceWindows::finish() {
  for (auto& [number, process] : processes_) {
    for (const auto& [post, message] : process.held) judge(message, true);
    process.held.clear();
  }
}

void RaceWindows::judge(const ReceivedMessage& message, bool is_received) {
  Window& window = windows_[{message.receiver, message.comm}];
  if (message.seen != UINT64_MAX) look_back(window, message, is_received);
  if (!is_received || !message.given.has_wildcard()) return;
  RacingSite& site = sites_[message.given.region];
  ++site.receives;
  site.receivers.insert(message.receiver);
  if (window.receives.size() >= most_) make_room(window, message.receiver);
  const std::uint64_t before = window.receives.empty() ? 0 : window.receives.back().most_number;
  window.receives.push_back({message, std::max(before, message.number)});
}

void RaceWindows::look_back(Window& window, const ReceivedMessage& message, bool is_received) {
  if (window.receives.empty()) return;
  if (window.judged.size() >= 4 * most_) window.judged.clear();  // costs time only
  std::uint64_t& judged = window.judged[{message.sender, message.tag}];
  const std::uint64_t end = window.first + window.receives.size(), begin = std::max(judged, window.first);
  judged = end;
  for (std::uint64_t place = end; place-- > begin;) {
    Receive& each = window.receives[static_cast<std::size_t>(place - window.first)];
    if (each.most_number <= message.seen) break;
    const GivenReceive& given = each.message.given;
    if (each.message.number <= message.seen || each.message.sender == message.sender) continue;
    if (!given.any_source || (!given.any_tag && given.tag != message.tag)) continue;
    RacingSite& site = sites_[given.region];
    site.others.insert(message.sender);
    if (!site.example) site.example = RacingSite::Example{each.message, message, is_received};
    site.racing += !each.is_racing;
    each.is_racing = true;
  }
}

void RaceWindows::make_room(Window& window, std::uint32_t process) {
  std::uint64_t floor = floor_(process);
  for (const auto& [post, message] : processes_[process].held) floor = std::min(floor, message.seen);
  const auto pop = [&] {
    window.receives.pop_front();
    ++window.first;
  };
  while (!window.receives.empty() && window.receives.front().message.number <= floor) pop();
  for (std::size_t left = most_ - most_ / 4; window.receives.size() > left; pop()) {
    const Receive& oldest = window.receives.front();
    without_room_ += !oldest.is_racing && oldest.message.given.any_source && oldest.message.number > floor;
  }
  for (auto each = window.judged.begin(); each != window.judged.end();)
    each = each->second <= window.first ? window.judged.erase(each) : std::next(each);
}

}  // namespace ardoise::launcher
