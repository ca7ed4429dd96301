// See race_windows.hpp.
#include "tools/ardoise/race_windows.hpp"

#include <algorithm>
#include <iterator>

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
  if (!message.given.any_source) return;
  window.by_sender[message.sender].open.push_back(window.first + window.receives.size() - 1);
  window.regions.insert(message.given.region);
}

void RaceWindows::look_back(Window& window, const ReceivedMessage& message, bool is_received) {
  if (window.receives.empty()) return;
  if (window.judged.size() >= 4 * most_) window.judged.clear();  // costs time only
  std::uint64_t& judged = window.judged[{message.sender, message.tag}];
  const std::uint64_t end = window.first + window.receives.size(), begin = std::max(judged, window.first);
  judged = end;
  // Which of those that race anyway it races with tells nothing new once each call site knows the sender.
  const bool is_new_somewhere = std::any_of(window.regions.begin(), window.regions.end(), [&](std::uint32_t region) {
    return !sites_.at(region).others.contains(message.sender);
  });
  const auto receive_at = [&](std::uint64_t place) -> Receive& {
    return window.receives[static_cast<std::size_t>(place - window.first)];
  };
  for (auto& [sender, places] : window.by_sender) {
    if (sender == message.sender) continue;
    // From the last one back to the first that may race.
    const auto begin_of = [&](std::vector<std::uint64_t>& list) {
      std::size_t at = list.size();
      while (at != 0 && list[at - 1] >= begin && receive_at(list[at - 1]).most_number > message.seen) --at;
      return list.begin() + static_cast<std::ptrdiff_t>(at);
    };
    if (is_new_somewhere) {
      for (auto place = begin_of(places.racing); place != places.racing.end(); ++place) {
        const Receive& receive = receive_at(*place);
        if (is_race(receive, message)) sites_.at(receive.message.given.region).others.insert(message.sender);
      }
    }
    const std::size_t raced_before = places.racing.size();
    const auto still_open = std::stable_partition(begin_of(places.open), places.open.end(), [&](std::uint64_t place) {
      return !is_race(receive_at(place), message);
    });
    for (auto place = still_open; place != places.open.end(); ++place) {
      Receive& receive = receive_at(*place);
      RacingSite& site = sites_.at(receive.message.given.region);
      receive.is_racing = true;
      ++site.racing;
      site.others.insert(message.sender);
      if (!site.example) site.example = RacingSite::Example{receive.message, message, is_received};
      places.racing.push_back(*place);
    }
    places.open.erase(still_open, places.open.end());
    std::inplace_merge(places.racing.begin(), places.racing.begin() + static_cast<std::ptrdiff_t>(raced_before),
                       places.racing.end());
  }
}

bool RaceWindows::is_race(const Receive& receive, const ReceivedMessage& message) const {
  const GivenReceive& given = receive.message.given;
  return receive.message.number > message.seen && (given.any_tag || given.tag == message.tag);
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
  for (auto each = window.by_sender.begin(); each != window.by_sender.end();) {
    for (auto* const list : {&each->second.open, &each->second.racing})
      list->erase(list->begin(), std::lower_bound(list->begin(), list->end(), window.first));
    each = each->second.open.empty() && each->second.racing.empty() ? window.by_sender.erase(each) : std::next(each);
  }
  for (auto each = window.judged.begin(); each != window.judged.end();)
    each = each->second <= window.first ? window.judged.erase(each) : std::next(each);
}

}  // namespace ardoise::launcher
