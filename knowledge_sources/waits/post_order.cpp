// See post_order.hpp.
#include "knowledge_sources/waits/post_order.hpp"

#include <algorithm>

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

std::uint32_t PostOrder::post(const MessageKey& key) {
  std::uint32_t place = free_;
  if (place != kNone) {
    free_ = operations_[place].next;
  } else if (operations_.size() < kMostOperations) {
    place = static_cast<std::uint32_t>(operations_.size());
    operations_.push_back({});
  } else {
    return kNone;
  }
  operations_[place] = {key, posted_++, {}, kNone, State::kPosted};
  ++used_;
  if (is_known(key)) {
    insert(place);
  } else {
    unknown_.push_back(place);
  }
  return place;
}

// Nearly always at the end.
void PostOrder::insert(std::uint32_t place) {
  Operation& operation = operations_[place];
  Queue& queue = *queues_.insert(operation.key, Queue{}).first;
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

void PostOrder::end(std::uint32_t place, const MessageKey& key, const Part& part, std::vector<EndInOrder>& out) {
  Operation& operation = operations_[place];
  const bool was_known = is_known(operation.key);
  operation.part = part;
  operation.state = State::kEnded;
  if (!was_known) {
    end_unknown(place);
    operation.key = key;
    insert(place);
  }
  release(operation.key, out);
  if (!was_known) release_held(out);
}

void PostOrder::cancel(std::uint32_t place, std::vector<EndInOrder>& out) {
  Operation& operation = operations_[place];
  operation.state = State::kCancelled;
  if (is_known(operation.key)) return release(operation.key, out);
  end_unknown(place);
  operation.next = free_;
  free_ = place;
  --used_;
  release_held(out);
}

bool PostOrder::add(const MessageKey& key, const Part& part, std::vector<EndInOrder>& out) {
  if (used_ == 0) {
    out.push_back({key, part});
    return true;
  }
  const std::uint32_t place = post(key);
  if (place == kNone) return false;
  end(place, key, part, out);
  return true;
}

void PostOrder::release(const MessageKey& wanted, std::vector<EndInOrder>& out) {
  const MessageKey key = wanted;  // may be that of an operation that goes
  Queue* const found = queues_.find(key);
  if (found == nullptr) return;
  Queue& queue = *found;
  while (queue.first != kNone && operations_[queue.first].state != State::kPosted) {
    const std::uint32_t place = queue.first;
    Operation& operation = operations_[place];
    if (!unknown_.empty() && may_be_later(key, operation.number)) {
      if (!queue.held) held_.push_back(key);
      queue.held = true;
      return;
    }
    if (operation.state == State::kEnded) out.push_back({key, operation.part});
    queue.first = operation.next;
    operation.next = free_;
    free_ = place;
    --used_;
  }
  if (queue.first != kNone) return;
  queue.last = kNone;
  if (!queue.held) queues_.erase(found);
}

void PostOrder::release_held(std::vector<EndInOrder>& out) {
  std::vector<MessageKey> held;
  held.swap(held_);
  for (const MessageKey& key : held) {
    if (Queue* const queue = queues_.find(key); queue != nullptr) queue->held = false;
    release(key, out);
  }
}

}  // namespace ardoise::knowledge_sources
