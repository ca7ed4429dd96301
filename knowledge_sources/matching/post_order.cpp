#include "knowledge_sources/matching/post_order.hpp"

#include <algorithm>
#include <utility>

#include "instrument/format/event_format.hpp"

namespace ardoise::knowledge_sources {
namespace {

bool is_known(const MessageKey& key) { return key.peer != instrument::kAnySource && key.tag != instrument::kAnyTag; }
bool may_be(const MessageKey& unknown, const MessageKey& key) {
  return unknown.comm == key.comm && (unknown.peer == instrument::kAnySource || unknown.peer == key.peer) &&
         (unknown.tag == instrument::kAnyTag || unknown.tag == key.tag);
}

}  // namespace

bool PostOrder::may_be_later(const MessageKey& key, std::uint64_t number) const {
  return std::ranges::any_of(unknown_, [&](std::uint32_t each) {
    return operations_[each].number < number && may_be(operations_[each].key, key);
  });
}

std::uint32_t PostOrder::post(const MessageKey& key, const CallMoments& call) {
  std::uint32_t place = free_;
  if (place != kNone) {
    free_ = operations_[place].next;
  } else if (operations_.size() < kMostOperations) {
    place = static_cast<std::uint32_t>(operations_.size());
    operations_.push_back({});
  } else {
    return kNone;
  }
  operations_[place] = {key, kNone, posted_++, {}, kNone, State::kPosted};
  Part& part = operations_[place].part;
  part.posted = call.begin.time;
  ++used_;
  if (is_known(key)) {
    insert(place);
    if (of_ == Of::kSends) part.stretch = queues_[operations_[place].queue].stretch(call);
  } else {
    unknown_.push_back(place);
  }
  return place;
}

std::uint32_t PostOrder::queue_of(const MessageKey& key) {
  if (const std::uint32_t* const known = queue_numbers_.find(key); known != nullptr) return *known;
  if (queues_.size() >= kMostIdle + 2 * used_) forget_empty_queues();
  const auto queue = static_cast<std::uint32_t>(queues_.size());
  queues_.push_back({key});
  (void)queue_numbers_.insert(key, queue);
  return queue;
}

// A program may use each tag once.
void PostOrder::forget_empty_queues() {
  std::vector<Queue> kept;
  queue_numbers_ = {};
  for (const Queue& queue : queues_) {
    if (queue.first == kNone && !queue.held) continue;
    const auto number = static_cast<std::uint32_t>(kept.size());
    if (queue.held) std::ranges::replace(held_, static_cast<std::uint32_t>(&queue - queues_.data()), number);
    for (std::uint32_t at = queue.first; at != kNone; at = operations_[at].next) operations_[at].queue = number;
    (void)queue_numbers_.insert(queue.key, number);
    kept.push_back(queue);
  }
  queues_ = std::move(kept);
}

// Nearly always at the end.
void PostOrder::insert(std::uint32_t place) {
  Operation& operation = operations_[place];
  operation.queue = queue_of(operation.key);
  Queue& queue = queues_[operation.queue];
  std::uint32_t before = queue.last;
  if (before != kNone && operations_[before].number > operation.number) {
    before = kNone;
    for (std::uint32_t at = queue.first; operations_[at].number < operation.number; at = operations_[at].next)
      before = at;
  }
  std::uint32_t& link = before == kNone ? queue.first : operations_[before].next;
  operation.next = link;
  link = place;
  if (operation.next == kNone) queue.last = place;
}

void PostOrder::end_unknown(std::uint32_t place) { unknown_.erase(std::ranges::find(unknown_, place)); }

void PostOrder::end(std::uint32_t place, std::int32_t peer, std::int32_t tag, const Part& part, const CallMoments& call,
                    std::vector<EndInOrder>& out) {
  Operation& operation = operations_[place];
  const bool was_known = is_known(operation.key);
  const double posted = operation.part.posted;
  const Stretch stretch = operation.part.stretch;
  operation.part = part;
  operation.part.posted = posted;
  operation.state = State::kEnded;
  if (!was_known) {
    end_unknown(place);
    operation.key.peer = peer;
    operation.key.tag = tag;
    insert(place);
  }
  Queue& queue = queues_[operation.queue];
  operation.part.stretch = of_ == Of::kSends ? stretch : queue.stretch(call);
  queue.end_at(call.end);
  release(operation.queue, out);
  if (!was_known) release_held(out);
}

void PostOrder::cancel(std::uint32_t place, std::vector<EndInOrder>& out) {
  Operation& operation = operations_[place];
  operation.state = State::kCancelled;
  if (is_known(operation.key)) return release(operation.queue, out);
  end_unknown(place);
  operation.next = free_;
  free_ = place;
  --used_;
  release_held(out);
}

bool PostOrder::add(const MessageKey& key, const Part& part, const CallMoments& call, std::vector<EndInOrder>& out) {
  if (used_ == 0) {
    const std::uint32_t number = queue_of(key);
    at_once_ = part;
    at_once_.stretch = queues_[number].stretch(call);
    out.push_back({key, number, &at_once_});
    queues_[number].end_at(call.end);
    return true;
  }
  const std::uint32_t place = post(key, call);
  if (place == kNone) return false;
  end(place, key.peer, key.tag, part, call, out);
  return true;
}

void PostOrder::release(std::uint32_t number, std::vector<EndInOrder>& out) {
  Queue& queue = queues_[number];
  while (queue.first != kNone && operations_[queue.first].state != State::kPosted) {
    const std::uint32_t place = queue.first;
    Operation& operation = operations_[place];
    if (!unknown_.empty() && may_be_later(queue.key, operation.number)) {
      if (!queue.held) held_.push_back(number);
      queue.held = true;
      return;
    }
    if (operation.state == State::kEnded) out.push_back({queue.key, number, &operation.part});
    queue.first = operation.next;
    operation.next = free_;
    free_ = place;
    --used_;
  }
  if (queue.first == kNone) queue.last = kNone;
}

void PostOrder::release_held(std::vector<EndInOrder>& out) {
  std::vector<std::uint32_t> held;
  held.swap(held_);
  for (const std::uint32_t queue : held) queues_[queue].held = false;
  for (const std::uint32_t queue : held) release(queue, out);
}

}  // namespace ardoise::knowledge_sources
