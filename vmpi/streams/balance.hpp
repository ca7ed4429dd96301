// The balance policies of a stream that has several endpoints, at either end; pure, used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <span>
#include <vector>

namespace ardoise::vmpi {

enum class Balance { none, random, round_robin };

// What a writer knows of an endpoint when it chooses.
struct WriterLoad {
  int in_flight = 0;
  bool is_open = true;
};

// Writer: to which endpoint the next block goes.
//   none         always the first that is open
//   random       any, with equal chances
//   round_robin  one after the other
// The last two leave out endpoints that hold more than their share of the writer's buffers, as long as there are
// others: a slow reader must not stop blocks that a fast one could take.
class EndpointPicker {
 public:
  EndpointPicker(Balance balance, std::uint64_t seed) : balance_(balance), random_(seed) {}
  // Index into loads; empty: none is open. `buffers` is the number of blocks the writer can have in flight.
  std::optional<std::size_t> pick(std::span<const WriterLoad> loads, int buffers);

 private:
  Balance balance_;
  std::mt19937_64 random_;
  std::size_t next_ = 0;
};

// Reader: messages that have arrived and wait for a free block, in the order in which they are to be served.
//   none         as they arrived
//   random       any endpoint that has some, with equal chances
//   round_robin  one of each endpoint that has some, in turn
// Messages of one endpoint stay in order under every policy.
template <typename Message>
class ArrivalQueue {
 public:
  struct Arrival {
    std::size_t endpoint;
    Message message;
  };
  ArrivalQueue(Balance balance, std::size_t endpoints, std::uint64_t seed)
      : balance_(balance), lines_(endpoints), random_(seed) {}

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::size_t waiting(std::size_t endpoint) const { return lines_[endpoint].length; }

  void push(std::size_t endpoint, Message message) {
    const auto node = free_ == kNone ? nodes_.size() : free_;
    if (node == nodes_.size()) {
      nodes_.push_back({message, kNone});
    } else {
      free_ = nodes_[node].next;
      nodes_[node] = {message, kNone};
    }
    auto& line = lines_[endpoint];
    (line.length == 0 ? line.first : nodes_[line.last].next) = static_cast<std::uint32_t>(node);
    line.last = static_cast<std::uint32_t>(node);
    ++line.length;
    ++size_;
    if (balance_ == Balance::none || line.length == 1) turns_.push_back(endpoint);
  }

  // Requires !empty().
  Arrival pop() {
    if (balance_ == Balance::random) {
      const auto chosen = std::uniform_int_distribution<std::size_t>(0, turns_.size() - 1)(random_);
      std::swap(turns_[chosen], turns_.front());
    }
    const auto endpoint = turns_.front();
    turns_.pop_front();
    auto& line = lines_[endpoint];
    const auto node = line.first;
    Arrival arrival{endpoint, nodes_[node].message};
    line.first = nodes_[node].next;
    nodes_[node].next = free_;
    free_ = node;
    --line.length;
    --size_;
    if (balance_ != Balance::none && line.length > 0) turns_.push_back(endpoint);
    return arrival;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Node {
    Message message;
    std::uint32_t next;
  };
  // Of one endpoint. A deque for each would cost half a kilobyte for every writer that has sent nothing.
  struct Line {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    std::uint32_t length = 0;
  };

  Balance balance_;
  std::vector<Line> lines_;  // by endpoint
  std::vector<Node> nodes_;  // of all lines, and those that are free again
  std::uint32_t free_ = kNone;
  std::deque<std::size_t> turns_;  // none: one for each message; otherwise one for each endpoint that has messages
  std::size_t size_ = 0;
  std::mt19937_64 random_;
};

}  // namespace ardoise::vmpi
