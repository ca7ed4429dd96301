#include "tools/ardoise/trace/races/race_windows.hpp"

#include <algorithm>
#include <iterator>

namespace ardoise::launcher {

void RaceWindows::received(const ReceivedMessage& message) {
  Process& process = processes_[message.receiver];
  if (process.held.empty() && message.post == process.next) {
    ++process.next;
    return judge(message, true);
  }
  process.held.emplace(message.post, message);
  while (!process.held.empty() && process.held.begin()->first <= process.next) {
    const ReceivedMessage next = std::move(process.held.begin()->second);
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
  if (message.is_sent) {
    const auto end = windows_.end();
    for (auto each = windows_.lower_bound({message.receiver, message.comm, 0});
         each != end && std::get<0>(each->first) == message.receiver && std::get<1>(each->first) == message.comm;
         ++each)
      look_back(each->second, std::get<2>(each->first), message, is_received);
  }
  if (!is_received) return;
  const GivenReceive& given = message.given;
  const bool has_threads = message.posted.component != kNoComponent;
  Threads* const threads = has_threads ? &threads_[{message.receiver, message.comm}] : nullptr;
  if (given.has_wildcard()) {
    RacingSite& site = sites_[given.region];
    ++site.receives;
    site.receivers.insert(message.receiver);
  }
  if (given.any_source) {
    Window& window = windows_[{message.receiver, message.comm, message.chooser}];
    add(window, message, threads != nullptr && look_across(*threads, message));
  }
  if (threads != nullptr && message.is_sent) add(*threads, message);
}

std::size_t RaceWindows::share(std::size_t of) const {
  return std::max<std::size_t>(1, std::min(most_, std::max(most_ / 256, most_ * 8 / of)));
}

void RaceWindows::add(Window& window, const ReceivedMessage& message, bool is_racing) {
  if (const std::size_t most = share(windows_.size()); window.receives.size() >= most)
    make_room(window, most - most / 4);
  const std::uint32_t before = window.receives.empty() ? 0 : window.receives.back().most_choice;
  window.receives.push_back({message, message.given.region, message.choice, std::max(before, message.choice),
                             message.given.any_tag, is_racing});
  auto& places = window.by_sender[message.sender];
  (is_racing ? places.racing : places.open).push_back(window.first + window.receives.size() - 1);
  window.regions.insert(message.given.region);
  sites_.at(message.given.region).racing += is_racing;
}

void RaceWindows::add(Threads& threads, const ReceivedMessage& message) {
  if (threads.count >= share(threads_.size())) {
    for (const auto& [key, taken] : threads.taken) {
      std::uint32_t& last = threads.last_dropped[std::get<1>(key)];
      last = std::max(last, taken.back().posted);
    }
    threads.taken.clear();
    threads.count = 0;
  }
  auto& taken = threads.taken[{message.tag, message.posted.component, message.sender}];
  const auto place = std::upper_bound(taken.begin(), taken.end(), message.posted.number,
                                      [](std::uint32_t number, const Taken& each) { return number < each.posted; });
  taken.insert(place, {message.posted.number, message.sent, message});
  ++threads.count;
}

// Compares a receive with messages that other threads received earlier in the trace, but not before it by its thread's
// clock.
bool RaceWindows::look_across(const Threads& threads, const ReceivedMessage& receive) {
  bool is_racing = false;
  for (auto each = receive.given.any_tag ? threads.taken.begin() : threads.taken.lower_bound({receive.tag, 0, 0});
       each != threads.taken.end(); ++each) {
    const auto& [tag, component, sender] = each->first;
    if (!receive.given.any_tag && tag != receive.tag) break;
    if (component == receive.posted.component || sender == receive.sender) continue;
    const auto first = std::upper_bound(each->second.begin(), each->second.end(), receive.posted.clock.at(component),
                                        [](std::uint32_t number, const Taken& taken) { return number < taken.posted; });
    const auto other = std::find_if(
        first, each->second.end(), [&](const Taken& taken) { return taken.sent.at(receive.chooser) < receive.choice; });
    if (other == each->second.end()) continue;
    is_racing = true;
    note(receive.given.region, receive, other->message, true);
  }
  if (!is_racing) {
    without_room_ += std::any_of(threads.last_dropped.begin(), threads.last_dropped.end(), [&](const auto& dropped) {
      return dropped.first != receive.posted.component && receive.posted.clock.at(dropped.first) < dropped.second;
    });
  }
  return is_racing;
}

void RaceWindows::note(std::uint32_t region, const SentMessage& got, const SentMessage& other, bool is_received) {
  RacingSite& site = sites_.at(region);
  site.others.insert(other.sender);
  if (!site.example) site.example = RacingSite::Example{got, other, is_received};
}

void RaceWindows::look_back(Window& window, std::uint32_t chooser, const ReceivedMessage& message, bool is_received) {
  if (window.receives.empty()) return;
  const std::uint32_t seen = message.sent.at(chooser);
  // Clearing only repeats work, and may count more messages as without room.
  if (window.judged.size() >= 4 * share(windows_.size())) window.judged.clear();
  std::uint64_t& judged = window.judged[{message.sending_thread, message.tag}];
  const std::uint64_t end = window.first + window.receives.size(), begin = std::max(judged, window.first);
  without_room_ += judged < window.first && seen < window.last_dropped;
  judged = end;
  // Further races of a racing receive add nothing once each call site knows the sender.
  const bool is_new_somewhere = std::any_of(window.regions.begin(), window.regions.end(), [&](std::uint32_t region) {
    return !sites_.at(region).others.contains(message.sender);
  });
  const auto receive_at = [&](std::uint64_t place) -> Receive& {
    return window.receives[static_cast<std::size_t>(place - window.first)];
  };
  const auto is_race = [&](std::uint64_t place) {
    const Receive& receive = receive_at(place);
    return receive.choice > seen && (receive.any_tag || receive.message.tag == message.tag);
  };
  for (auto& [sender, places] : window.by_sender) {
    if (sender == message.sender) continue;
    // Searches backwards for the first place that may race.
    const auto begin_of = [&](std::vector<std::uint64_t>& list) {
      std::size_t at = list.size();
      while (at != 0 && list[at - 1] >= begin && receive_at(list[at - 1]).most_choice > seen) --at;
      return list.begin() + static_cast<std::ptrdiff_t>(at);
    };
    if (is_new_somewhere) {
      for (auto place = begin_of(places.racing); place != places.racing.end(); ++place) {
        if (is_race(*place)) sites_.at(receive_at(*place).region).others.insert(message.sender);
      }
    }
    const std::size_t raced_before = places.racing.size();
    const auto still_open = std::stable_partition(begin_of(places.open), places.open.end(),
                                                  [&](std::uint64_t place) { return !is_race(place); });
    for (auto place = still_open; place != places.open.end(); ++place) {
      Receive& receive = receive_at(*place);
      receive.is_racing = true;
      ++sites_.at(receive.region).racing;
      note(receive.region, receive.message, message, is_received);
      places.racing.push_back(*place);
    }
    places.open.erase(still_open, places.open.end());
    std::inplace_merge(places.racing.begin(), places.racing.begin() + static_cast<std::ptrdiff_t>(raced_before),
                       places.racing.end());
  }
}

void RaceWindows::make_room(Window& window, std::size_t left) {
  for (; window.receives.size() > left; ++window.first) {
    const Receive& oldest = window.receives.front();
    if (!oldest.is_racing) window.last_dropped = std::max(window.last_dropped, oldest.choice);
    window.receives.pop_front();
  }
  for (auto each = window.by_sender.begin(); each != window.by_sender.end();) {
    for (auto* const list : {&each->second.open, &each->second.racing})
      list->erase(list->begin(), std::lower_bound(list->begin(), list->end(), window.first));
    each = each->second.open.empty() && each->second.racing.empty() ? window.by_sender.erase(each) : std::next(each);
  }
  // Places before the window mean the same as its begin, so their entries can go.
  for (auto each = window.judged.begin(); each != window.judged.end();)
    each = each->second < window.first ? window.judged.erase(each) : std::next(each);
}

}  // namespace ardoise::launcher
