// The balance policies of a stream that has several endpoints, at either end; pure, used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <random>
#include <span>
#include <vector>

namespace ardoise::vmpi {

enum class Balance { none, random, round_robin };  // in the order of VMPI_Stream_balance

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
  std::size_t waiting(std::size_t endpoint) const { return lines_[endpoint].size(); }

  void push(std::size_t endpoint, Message message) {
    auto& line = lines_[endpoint];
    line.push_back(message);
    ++size_;
    if (balance_ == Balance::none || line.size() == 1) turns_.push_back(endpoint);
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
    Arrival arrival{endpoint, line.front()};
    line.pop_front();
    --size_;
    if (balance_ != Balance::none && !line.empty()) turns_.push_back(endpoint);
    return arrival;
  }

 private:
  Balance balance_;
  // By endpoint. A deque for each would cost half a kilobyte for every writer that has sent nothing.
  std::vector<std::list<Message>> lines_;
  std::deque<std::size_t> turns_;  // none: one for each message; otherwise one for each endpoint that has messages
  std::size_t size_ = 0;
  std::mt19937_64 random_;
};

}  // namespace ardoise::vmpi
