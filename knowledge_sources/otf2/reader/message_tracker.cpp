#include "knowledge_sources/otf2/reader/message_tracker.hpp"

#include <utility>

namespace ardoise::knowledge_sources {

void OpenCalls::event(const ArchivedEvent& event) {
  if (event.kind == ArchivedKind::kEnter) {
    calls_[event.location->id].push_back({event.reference, event.time});
  } else if (event.kind == ArchivedKind::kLeave) {
    auto& open = calls_[event.location->id];
    if (!open.empty()) open.pop_back();
  }
}

OpenCalls::Call OpenCalls::innermost(const ArchivedEvent& event) const {
  const auto found = calls_.find(event.location->id);
  return found == calls_.end() || found->second.empty() ? Call{kUndefined32, event.time} : found->second.back();
}

MessageTracker::MessageTracker(const ArchiveDefinitions& definitions, const CommRanks& ranks, Take take, Take cancel)
    : definitions_(definitions), ranks_(ranks), take_(std::move(take)), cancel_(std::move(cancel)) {}

MessageTracker::Process& MessageTracker::process_of(const ArchivedEvent& event, std::uint32_t& number) {
  const auto [found, is_new] = process_of_location_.try_emplace(event.location->id, 0);
  if (is_new) found->second = definitions_.process_of(*event.location);
  number = found->second;
  return processes_[number];
}

void MessageTracker::event(const ArchivedEvent& event, const OpenCalls& calls) {
  std::uint32_t own = 0;
  switch (event.kind) {
    case ArchivedKind::kMpiSend:
      return send(event, calls, true);
    case ArchivedKind::kMpiIsend:
      return send(event, calls, false);
    case ArchivedKind::kMpiRecv:
      return receive(event, calls, true);
    case ArchivedKind::kMpiIrecv:
      return receive(event, calls, false);
    case ArchivedKind::kMpiIrecvRequest: {
      Process& process = process_of(event, own);
      if (process.early.erase(event.request) != 0) return;
      const OpenCalls::Call call = calls.innermost(event);
      process.posts.insert_or_assign(event.request, Post{process.receives.post(), call.begin, call.region});
      return;
    }
    case ArchivedKind::kMpiIsendComplete:
      process_of(event, own).sends.erase(event.request);
      return;
    case ArchivedKind::kMpiRequestCancelled: {
      Process& process = process_of(event, own);
      if (const auto sent = process.sends.find(event.request); sent != process.sends.end()) {
        cancel_(sent->second);
        process.sends.erase(sent);
      }
      if (const auto post = process.posts.find(event.request); post != process.posts.end()) {
        process.receives.drop(post->second.order);
        process.posts.erase(post);
        release(process, false);
      }
      return;
    }
    default:
      return;
  }
}

void MessageTracker::send(const ArchivedEvent& event, const OpenCalls& calls, bool is_blocking) {
  std::uint32_t own = 0;
  Process& process = process_of(event, own);
  const CommRanks::Comm* const comm = ranks_.find(event.comm);
  const std::uint32_t peer = comm == nullptr ? kUndefined32 : ranks_.process_of(*comm, event.peer, own);
  if (peer == kUndefined32) {
    ++unknown_ends_;
    return;
  }
  const OpenCalls::Call call = calls.innermost(event);
  MessageHalf half{{event.comm, own, peer, event.tag},
                   true,
                   0,
                   event.location,
                   event.position,
                   call.begin,
                   event.time,
                   call.region,
                   event.bytes,
                   event.request};
  half.number = sent_[half.channel]++;
  if (!is_blocking) process.sends.insert_or_assign(event.request, half);
  take_(half);
}

void MessageTracker::receive(const ArchivedEvent& event, const OpenCalls& calls, bool is_blocking) {
  std::uint32_t own = 0;
  Process& process = process_of(event, own);
  const OpenCalls::Call call = calls.innermost(event);
  Post post{0, call.begin, call.region};
  const auto posted = is_blocking ? process.posts.end() : process.posts.find(event.request);
  if (posted != process.posts.end()) {
    post = posted->second;
    process.posts.erase(posted);
  } else {
    post.order = process.receives.pass();
    if (!is_blocking && process.early.size() < kMostEarly) process.early.insert(event.request);
  }
  const CommRanks::Comm* const comm = ranks_.find(event.comm);
  const std::uint32_t peer = comm == nullptr ? kUndefined32 : ranks_.process_of(*comm, event.peer, own);
  if (peer == kUndefined32) {
    ++unknown_ends_;
    process.receives.drop(post.order);
  } else {
    process.receives.complete(post.order, MessageHalf{{event.comm, peer, own, event.tag},
                                                      false,
                                                      0,
                                                      event.location,
                                                      event.position,
                                                      post.begin,
                                                      event.time,
                                                      post.region,
                                                      event.bytes,
                                                      event.request});
  }
  release(process, false);
}

void MessageTracker::release(Process& process, bool all) {
  numbered_as_completed_ += process.receives.release([this](const MessageHalf& half) { number_and_take(half); }, all);
}

void MessageTracker::number_and_take(MessageHalf half) {
  half.number = received_[half.channel]++;
  take_(half);
}

void MessageTracker::finish() {
  for (auto& [number, process] : processes_) release(process, true);
}

}  // namespace ardoise::knowledge_sources
