#include "tools/ardoise/trace/races/trace_races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "instrument/settings/number_ranges.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/text/units.hpp"
#include "reports/text/utf8.hpp"
#include "tools/ardoise/common/shown_text.hpp"

namespace ardoise::launcher {

using knowledge_sources::ArchivedKind;
using knowledge_sources::kUndefined32;
using knowledge_sources::MessageHalf;
using reports::with_separators;

namespace {

constexpr std::size_t kMostRanges = 8;  // of ranks in a line

}  // namespace

TraceRaces::TraceRaces(const knowledge_sources::ArchiveDefinitions& definitions, std::size_t room)
    : definitions_(definitions),
      ranks_(definitions),
      given_(definitions),
      windows_(room),
      order_(definitions, ranks_, [this](const ReceivedMessage& message) { windows_.received(message); }),
      matcher_([this](const MessageHalf& send, const MessageHalf& receive) { order_.paired(send, receive); }),
      tracker_(
          definitions, ranks_,
          [this](const MessageHalf& half) {
            if (!half.is_send) order_.posted(half);
            matcher_.take(half);
          },
          [this](const MessageHalf& half) {
            matcher_.cancel(half);
            order_.cancelled(half);
          }) {}

bool TraceRaces::event(const Event& event) {
  const auto [found, is_new] = process_of_location_.try_emplace(event.location->id, 0);
  if (is_new) found->second = definitions_.process_of(*event.location);
  const std::uint32_t process = found->second;
  const std::uint32_t region = calls_.innermost(event).region;
  calls_.event(event);
  if (auto point = given_.event(event, process)) order_.point(event, process, std::move(point));
  switch (event.kind) {
    case ArchivedKind::kMpiSend:
    case ArchivedKind::kMpiIsend:
      order_.send(event, process, region);
      break;
    case ArchivedKind::kMpiRecv:
    case ArchivedKind::kMpiIrecv: {
      const GivenReceive given = given_.completed(event, process);
      unknown_receives_ += !given.is_known;
      order_.receive(event, process, given);
      break;
    }
    case ArchivedKind::kMpiCollectiveEnd:
    case ArchivedKind::kRmaCollectiveEnd:
    case ArchivedKind::kNonBlockingCollectiveRequest:
    case ArchivedKind::kNonBlockingCollectiveComplete: {
      // A nonblocking collective completes in another call.
      const auto* const call = definitions_.regions.find(region);
      const bool is_neighbour = call != nullptr && call->name.find("eighbor_") != std::string::npos;
      order_.collective(event, process, given_.comm_of_call(event), is_neighbour);
      break;
    }
    default:
      break;
  }
  tracker_.event(event, calls_);
  order_.run();
  return true;
}

void TraceRaces::finish() {
  tracker_.finish();
  order_.finish();
  windows_.finish();
  for (const ReceivedMessage& message : order_.never_received()) windows_.never_received(message);
}

std::string TraceRaces::place_of(std::uint32_t region) const {
  const auto* const found = definitions_.regions.find(region);
  if (found == nullptr) return "a call that is not known";
  std::string text = found->name;
  if (!found->source_file.empty()) {
    text += fmt::format(", {}{}", found->source_file, found->line == 0 ? "" : fmt::format(":{}", found->line));
  } else if (!found->description.empty()) {
    text += ", " + found->description;
  }
  return reports::printable(text);
}

std::string TraceRaces::name_of_process(std::uint32_t process) const {
  if (const auto rank = definitions_.world_ranks.find(process); rank != definitions_.world_ranks.end())
    return fmt::format("rank {}", rank->second);
  const auto* const group = definitions_.location_groups.find(process);
  return group == nullptr ? fmt::format("location group {}", process)
                          : fmt::format("'{}'", reports::printable(group->name));
}

std::uint32_t TraceRaces::rank_of(std::uint32_t process) const {
  const auto rank = definitions_.world_ranks.find(process);
  return rank == definitions_.world_ranks.end() ? process : static_cast<std::uint32_t>(rank->second);
}

std::vector<std::uint32_t> TraceRaces::ranks_of(const std::set<std::uint32_t>& processes) const {
  std::vector<std::uint32_t> ranks;
  for (const std::uint32_t process : processes) ranks.push_back(rank_of(process));
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::string TraceRaces::message_text(const SentMessage& message) const {
  return fmt::format("{} with tag {} from {}, {}", reports::counted(message.bytes, "byte"), message.tag,
                     name_of_process(message.sender),
                     message.send_region == kUndefined32 ? "whose send is not in the trace"
                                                         : "sent by " + place_of(message.send_region));
}

std::string TraceRaces::site_text(std::uint32_t region, const RacingSite& site) const {
  std::string text = fmt::format("{:>12}  {:>12}  {:>7}  {}, ranks {}\n", with_separators(site.receives),
                                 with_separators(site.racing), with_separators(site.others.size()), place_of(region),
                                 reports::rank_ranges(ranks_of(site.receivers), kMostRanges));
  if (!site.example) return text;
  const auto& [got, other, is_received] = *site.example;
  const auto margin = std::string(37, ' ');
  text += fmt::format("{}{} at {:.9f} s got {}\n", margin, name_of_process(got.receiver),
                      definitions_.clock.seconds(got.receive_time), message_text(got));
  text += fmt::format(
      "{}it could have got {}, {}\n", margin, message_text(other),
      is_received ? fmt::format("which was received at {:.9f} s", definitions_.clock.seconds(other.receive_time))
                  : "which was never received");
  return text;
}

std::string TraceRaces::timed_text() const {
  if (given_.timed().empty()) return "";
  std::string text = fmt::format(
      "\nAnswers that depend on timing; vector clocks cannot judge them\n{:>12}  {:>12}  call\n", "calls", "found");
  for (const auto& [region, timed] : given_.timed())
    text += fmt::format("{:>12}  {:>12}  {}, ranks {}\n", with_separators(timed.calls), with_separators(timed.found),
                        place_of(region), reports::rank_ranges(ranks_of(timed.processes), kMostRanges));
  return text;
}

std::string TraceRaces::notes() const {
  std::string text;
  const auto note = [&](const char* what, std::uint64_t count) {
    if (count != 0) text += fmt::format("Note: {}: {}.\n", what, with_separators(count));
  };
  note("receives whose arguments are not in the trace, and which may have had wildcards", unknown_receives_);
  note("receives whose send is not in the trace; what had happened before them is less known", order_.without_sends());
  note("parts of collectives whose other parts are not in the trace", order_.incomplete_collectives());
  note(
      "receives that are matched in the order in which they completed, since one that was posted before them does not "
      "complete for long",
      tracker_.numbered_as_completed());
  note("messages and waiting ends without room; more may race than is found, or less",
       order_.without_room() + matcher_.without_room());
  note("messages that may race with receives for which there was no room any more", windows_.without_room());
  return text;
}

std::string TraceRaces::text() const {
  std::vector<std::pair<std::uint32_t, const RacingSite*>> sites;
  std::uint64_t receives = 0;
  for (const auto& [region, site] : windows_.sites()) {
    sites.emplace_back(region, &site);
    receives += site.receives;
  }
  std::stable_sort(sites.begin(), sites.end(),
                   [](const auto& a, const auto& b) { return a.second->racing > b.second->racing; });
  std::string text;
  if (!sites.empty()) text += fmt::format("{:>12}  {:>12}  {:>7}  call\n", "wildcards", "racing", "others");
  for (const auto& [region, site] : sites) text += site_text(region, *site);
  text += timed_text();
  if (!text.empty()) text += '\n';
  const std::string of = reports::counted(messages(), "message");
  if (receives == 0) {
    text += fmt::format("No receive with a wildcard got one of {}.\n", of);
  } else if (racing() == 0) {
    text += fmt::format("None of {} with wildcards could have had a message of another sender, of {}.\n",
                        reports::counted(receives, "receive"), of);
  } else {
    text += fmt::format("{} of {} with wildcards could have had a message of another sender, of {}.\n",
                        with_separators(racing()), reports::counted(receives, "receive"), of);
  }
  return text;
}

std::uint64_t TraceRaces::racing() const {
  return std::accumulate(sites().begin(), sites().end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& each) { return sum + each.second.racing; });
}

std::string TraceRaces::csv_start(const char* kind, std::uint32_t region,
                                  const std::set<std::uint32_t>& processes) const {
  const auto* const found = definitions_.regions.find(region);
  return fmt::format("{},{},{},{},{}", kind, csv_field(found == nullptr ? place_of(region) : found->name),
                     csv_field(found == nullptr ? "" : found->source_file),
                     found == nullptr || found->line == 0 ? "" : std::to_string(found->line),
                     csv_field(instrument::ranges_text(ranks_of(processes))));
}

std::string TraceRaces::csv() const {
  std::string text =
      "kind,function,file,line,ranks,calls,racing,other_senders,found,example_time_seconds,example_rank,"
      "example_sender,example_other_sender\n";
  for (const auto& [region, site] : sites()) {
    text += fmt::format("{},{},{},{},,", csv_start("receive", region, site.receivers), site.receives, site.racing,
                        site.others.size());
    if (site.example) {
      const auto& [got, other, is_received] = *site.example;
      text += fmt::format("{:.9f},{},{},{}\n", definitions_.clock.seconds(got.receive_time), rank_of(got.receiver),
                          rank_of(got.sender), rank_of(other.sender));
    } else {
      text += ",,,\n";
    }
  }
  for (const auto& [region, timed] : given_.timed())
    text += fmt::format("{},{},,,{},,,,\n", csv_start("timed", region, timed.processes), timed.calls, timed.found);
  return text;
}

}  // namespace ardoise::launcher
