#include "tools/ardoise/trace/races/given_receives.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "knowledge_sources/otf2/contents/trace_attribute.hpp"

namespace ardoise::launcher {

using knowledge_sources::ArchivedEvent;
using knowledge_sources::ArchivedKind;
using knowledge_sources::kUndefined32;

namespace {

constexpr std::int64_t kAnySource = -2, kNoProcess = -1, kAnyTag = -1;  // values of attributes

// The numbers of "3,-,5".
std::vector<std::uint64_t> numbers_in(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    std::uint64_t number = 0;
    if (std::from_chars(item.data(), item.data() + item.size(), number).ec == std::errc()) numbers.push_back(number);
    text.remove_prefix(std::min(text.size(), item.size() + 1));
  }
  return numbers;
}

}  // namespace

GivenReceives::GivenReceives(const knowledge_sources::ArchiveDefinitions& definitions) : definitions_(definitions) {
  static constexpr std::pair<std::string_view, Key> kKeys[] = {
      {"source", Key::kSource},       {"tag", Key::kTag},     {"recvtag", Key::kReceiveTag},
      {"comm", Key::kComm},           {"peer", Key::kPeer},   {"peertag", Key::kPeerTag},
      {"prepared", Key::kPrepared},   {"flag", Key::kFlag},   {"persistent", Key::kPersistent},
      {"completed", Key::kCompleted}, {"index", Key::kIndex},
  };
  for (const auto& attribute : definitions.attributes) {
    constexpr std::string_view kOurs = "ardoise::";
    if (!attribute.name.starts_with(kOurs)) continue;
    const std::string_view name = std::string_view(attribute.name).substr(kOurs.size());
    const auto* const found =
        std::find_if(std::begin(kKeys), std::end(kKeys), [&](const auto& each) { return each.first == name; });
    // Any attribute of an argument shows that arguments were recorded, even one not used here.
    const bool is_argument = std::any_of(
        knowledge_sources::kTraceAttributes.begin(), knowledge_sources::kTraceAttributes.end(), [&](const auto& each) {
          return each.name == attribute.name && each.key < knowledge_sources::kRequestAttribute;
        });
    if (found != std::end(kKeys)) {
      keys_[attribute.id] = found->second;
    } else if (is_argument) {
      keys_[attribute.id] = Key::kOther;
    }
  }
}

bool GivenReceives::takes_probed(std::uint32_t region) const {
  const auto* const found = definitions_.regions.find(region);
  return found != nullptr && (found->name.starts_with("MPI_Mrecv") || found->name.starts_with("MPI_Imrecv"));
}

GivenReceive GivenReceives::given_of(const Call& call) const {
  GivenReceive given;
  given.region = call.region;
  if (takes_probed(call.region)) {
    given.is_known = true;
    return given;
  }
  given.is_known = call.source.has_value() && call.tag.has_value();
  given.any_source = call.source == kAnySource;
  given.any_tag = call.tag == kAnyTag;
  return given;
}

std::shared_ptr<CausalPoint> GivenReceives::event(const ArchivedEvent& event, std::uint32_t process) {
  Location& location = locations_[event.location->id];
  switch (event.kind) {
    case ArchivedKind::kEnter:
      enter(event, location, processes_[process], process);
      return nullptr;
    case ArchivedKind::kLeave:
      return leave(location);
    case ArchivedKind::kMpiIrecvRequest:
      return post(event, location, processes_[process]);
    case ArchivedKind::kMpiRequestCancelled:
      processes_[process].posted.erase(event.request);
      return nullptr;
    default:
      return nullptr;
  }
}

void GivenReceives::enter(const ArchivedEvent& event, Location& location, Process& process, std::uint32_t number) {
  Call& call = location.calls.emplace_back();
  call.region = event.reference;
  std::optional<std::uint64_t> prepared;
  std::optional<std::int64_t> receive_tag;
  bool is_timed = false, has_found = false;
  for (const auto& [reference, value] : event.attributes) {
    const auto key = keys_.find(reference);
    if (key == keys_.end()) continue;
    switch (key->second) {
      case Key::kSource:
        call.source = value.as_signed();
        break;
      case Key::kTag:
        call.tag = value.as_signed();
        break;
      case Key::kReceiveTag:
        receive_tag = value.as_signed();
        break;
      case Key::kComm:
        call.comm = static_cast<std::uint32_t>(value.bits);
        break;
      case Key::kPeer:
        call.peer = value.as_signed();
        break;
      case Key::kPeerTag:
        call.peer_tag = value.as_signed();
        break;
      case Key::kPrepared:
        prepared = value.bits;
        break;
      case Key::kPersistent:
        call.starts = numbers_in(definitions_.text_of(value));
        break;
      case Key::kFlag:
        is_timed = true;
        call.has_found = value.bits != 0;
        has_found = has_found || call.has_found;
        break;
      case Key::kIndex:
        is_timed = true;
        has_found = has_found || value.as_signed() >= 0;
        break;
      case Key::kCompleted:
        is_timed = true;
        has_found = has_found || !numbers_in(definitions_.text_of(value)).empty();
        break;
      case Key::kOther:
        break;
    }
  }
  if (receive_tag) call.tag = receive_tag;
  if (prepared && call.source && *call.source != kNoProcess) process.prepared[*prepared] = given_of(call);
  if (!is_timed) return;
  Timed& timed = timed_[event.reference];
  ++timed.calls;
  timed.found += has_found;
  timed.processes.insert(number);
}

std::shared_ptr<CausalPoint> GivenReceives::leave(Location& location) {
  if (location.calls.empty()) return nullptr;
  const Call call = std::move(location.calls.back());
  location.calls.pop_back();
  GivenReceive given = given_of(call);
  // A probe with wildcards records the peer that it found.
  if (!given.has_wildcard() || !call.peer || *call.peer < 0 || !call.peer_tag || !call.has_found ||
      call.comm == kUndefined32)
    return nullptr;
  const auto* const region = definitions_.regions.find(call.region);
  if (region == nullptr || region->name.find("robe") == std::string::npos) return nullptr;
  const bool is_matched = region->name == "MPI_Mprobe" || region->name == "MPI_Improbe";
  // A repeated probe finds the same message.
  std::erase_if(location.probed, [&](const Probed& each) {
    return !each.is_matched && !is_matched && each.comm == call.comm && each.peer == *call.peer &&
           each.tag == *call.peer_tag;
  });
  given.point = std::make_shared<CausalPoint>();
  given.point->is_probe = true;
  location.probed.push_back({call.comm, *call.peer, *call.peer_tag, given, is_matched});
  if (location.probed.size() > kMostProbed) location.probed.pop_front();
  return given.point;
}

std::shared_ptr<CausalPoint> GivenReceives::post(const ArchivedEvent& event, Location& location, Process& process) {
  GivenReceive given;
  if (!location.calls.empty()) {
    Call& call = location.calls.back();
    given = given_of(call);
    while (call.started < call.starts.size()) {  // requests that are not there are sends
      const auto found = process.prepared.find(call.starts[call.started++]);
      if (found == process.prepared.end()) continue;
      given = found->second;
      given.region = call.region;
      break;
    }
    if (!given.has_wildcard()) {
      const bool is_matched = takes_probed(call.region);
      const auto found = std::find_if(location.probed.rbegin(), location.probed.rend(), [&](const Probed& each) {
        return each.is_matched == is_matched && each.comm == call.comm &&
               (is_matched || (each.peer == call.source && each.tag == call.tag));
      });
      if (found != location.probed.rend()) {
        given = found->given;
        location.probed.erase(std::next(found).base());
      }
    }
  }
  std::shared_ptr<CausalPoint> posted;
  if (!given.is_probed()) posted = given.point = std::make_shared<CausalPoint>();
  process.posted.insert_or_assign(event.request, std::move(given));
  return posted;
}

GivenReceive GivenReceives::completed(const ArchivedEvent& event, std::uint32_t process) {
  if (event.kind == ArchivedKind::kMpiIrecv) {
    auto& posted = processes_[process].posted;
    const auto found = posted.find(event.request);
    if (found == posted.end()) return {};
    const GivenReceive given = found->second;
    posted.erase(found);
    return given;
  }
  Location& location = locations_[event.location->id];
  if (location.calls.empty()) return {};
  const GivenReceive given = given_of(location.calls.back());
  const bool is_matched = takes_probed(location.calls.back().region);
  const auto found = std::find_if(location.probed.begin(), location.probed.end(), [&](const Probed& each) {
    return each.is_matched == is_matched && each.comm == event.comm && each.peer == event.peer && each.tag == event.tag;
  });
  if (found == location.probed.end()) return given;
  const GivenReceive probed = std::move(found->given);
  location.probed.erase(found);
  return given.has_wildcard() ? given : probed;
}

std::uint32_t GivenReceives::comm_of_call(const ArchivedEvent& event) const {
  const auto found = locations_.find(event.location->id);
  return found == locations_.end() || found->second.calls.empty() ? kUndefined32 : found->second.calls.back().comm;
}

}  // namespace ardoise::launcher
