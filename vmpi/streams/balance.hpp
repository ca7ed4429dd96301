// Balance policies of a stream with several endpoints, for both ends. Pure logic, used by one thread.
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

// State of an endpoint, as its writer knows it.
struct WriterLoad {
  int in_flight = 0;
  bool is_open = true;
};

// Writer: picks the endpoint of the next block.
//   none         always the first open one
//   random       any, with equal probability
//   round_robin  each in turn
// random and round_robin skip endpoints that hold more than their share of the writer's buffers while others remain, so
// that a slow reader does not block a fast one.
class EndpointPicker {
 public:
  EndpointPicker(Balance balance, std::uint64_t seed) : balance_(balance), random_(seed) {}
  // Index into loads; empty: none is open. `buffers`: number of blocks that the writer can have in flight.
  std::optional<std::size_t> pick(std::span<const WriterLoad> loads, int buffers);

 private:
  Balance balance_;
  std::mt19937_64 random_;
  std::size_t next_ = 0;
};

// Reader: messages that have arrived and wait for a free block, in the order of service.
//   none         order of arrival
//   random       any endpoint with messages, with equal probability
//   round_robin  one message of each endpoint with messages, in turn
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
  // By endpoint. Lists, since an empty deque would cost half a kilobyte for every idle writer.
  std::vector<std::list<Message>> lines_;
  std::deque<std::size_t> turns_;  // none: one entry for each message; otherwise one for each endpoint with messages
  std::size_t size_ = 0;
  std::mt19937_64 random_;
};

}  // namespace ardoise::vmpi
