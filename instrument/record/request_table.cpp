#include "instrument/record/request_table.hpp"

#include <sched.h>

#include <bit>
#include <new>

namespace ardoise::instrument {

void RequestTable::lock() {
  for (int spins = 0; lock_.test_and_set(std::memory_order_acquire); ++spins) {
    if (spins >= 100) ::sched_yield();
  }
}

RequestTable::Node** RequestTable::bucket(std::uint64_t handle) {
  if (buckets_ == nullptr) {
    Bin* const bin = pool_.take_beyond_budget(kNoRecords);
    if (bin == nullptr) return nullptr;
    bucket_count_ = std::bit_floor(pool_.payload_bytes() / sizeof(Node*));
    buckets_ = new (bin->payload()) Node* [bucket_count_] {};
  }
  return buckets_ + (handle * 0x9E3779B97F4A7C15u >> (64 - std::countr_zero(bucket_count_)));
}

RequestTable::Node** RequestTable::find(std::uint64_t handle) {
  static Node* nothing = nullptr;
  Node** link = bucket(handle);
  if (link == nullptr) return &nothing;
  while (*link != nullptr && (*link)->handle != handle) link = &(*link)->next;
  return link;
}

RequestTable::Node** RequestTable::find_posted_before(std::uint64_t handle, std::uint64_t tick) {
  Node** found = find(handle);
  if (!locked_ || *found == nullptr) return found;
  for (Node** link = &(*found)->next; *link != nullptr; link = &(*link)->next) {
    if ((*link)->handle == handle && (*link)->request.post_end <= tick) found = link;
  }
  return found;
}

RequestTable::Node* RequestTable::allocate() {
  if (free_ == nullptr) {
    Bin* const bin = pool_.take_beyond_budget(kNoRecords);
    if (bin == nullptr) return nullptr;
    const std::size_t count = pool_.payload_bytes() / sizeof(Node);
    for (std::size_t i = 0; i < count; ++i) {
      free_ = new (bin->payload() + i * sizeof(Node)) Node{0, {}, free_};
    }
  }
  Node* const node = free_;
  free_ = node->next;
  return node;
}

RequestTable::Place RequestTable::place_for(std::uint64_t handle) {
  const bool shared = is_shared(handle);
  Node** at = shared ? queue_.end : find(handle);
  // Without concurrency, the end of an old entry with this handle was not seen.
  if (!shared && *at != nullptr && !locked_) return {*at, nullptr};
  if (!shared && buckets_ == nullptr) return {nullptr, nullptr};
  Node* const node = allocate();
  if (node == nullptr) return {nullptr, nullptr};
  node->handle = handle;
  node->next = nullptr;
  while (*at != nullptr) at = &(*at)->next;
  return {node, at};
}

RequestTable::Node** RequestTable::find_shared(std::uint32_t thread) {
  Node** link = &queue_.first;
  while (*link != nullptr && (*link)->request.thread != thread) link = &(*link)->next;
  return *link != nullptr ? link : &queue_.first;
}

Request RequestTable::take(Node** link) {
  Node* const node = *link;
  *link = node->next;
  if (queue_.end == &node->next) queue_.end = link;
  node->next = free_;
  free_ = node;
  --size_;
  return node->request;
}

std::optional<Request> RequestTable::complete(std::uint64_t handle, std::uint64_t call_begin, std::uint32_t thread) {
  const Guard guard(*this);
  Node** const link = handle == shared_ ? find_shared(thread) : find_posted_before(handle, call_begin);
  if (*link == nullptr || !(*link)->request.active) return std::nullopt;
  if (!(*link)->request.persistent) return take(link);
  (*link)->request.active = false;
  return (*link)->request;
}

std::optional<Request> RequestTable::start(std::uint64_t handle, std::uint64_t begin, std::uint32_t call_site,
                                           std::uint32_t function) {
  const Guard guard(*this);
  Node** const link = handle == shared_ ? &queue_.first : find_posted_before(handle, begin);
  if (*link == nullptr) return std::nullopt;
  Request& request = (*link)->request;
  request.active = true;
  request.post_begin = begin;
  request.call_site = call_site;
  const MpiRecord made{0, 0, 0, 0, 0, 0, request.operation};
  request.operation = make_word(made.comm(), function, made.shape());
  return request;
}

std::optional<Request> RequestTable::forget(std::uint64_t handle, std::uint64_t call_begin, std::uint32_t thread) {
  const Guard guard(*this);
  Node** const link = handle == shared_ ? find_shared(thread) : find_posted_before(handle, call_begin);
  if (*link == nullptr) return std::nullopt;
  return take(link);
}

std::optional<Request> RequestTable::look_up(std::uint64_t handle, std::uint64_t call_begin) {
  const Guard guard(*this);
  if (buckets_ == nullptr || handle == shared_) return std::nullopt;
  const Node* const node = *find_posted_before(handle, call_begin);
  if (node == nullptr) return std::nullopt;
  return node->request;
}

}  // namespace ardoise::instrument
