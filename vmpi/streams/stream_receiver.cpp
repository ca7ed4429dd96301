#include "vmpi/streams/stream_receiver.hpp"

#include <algorithm>

namespace ardoise::vmpi {

StreamReceiver::StreamReceiver(Transport& transport, std::vector<Endpoint>& endpoints, int tag, std::size_t block_bytes,
                               std::size_t pool_blocks, Balance balance, std::uint64_t seed)
    : transport_(transport),
      endpoints_(endpoints),
      tag_(tag),
      block_bytes_(block_bytes),
      pool_(block_bytes, pool_blocks),
      matched_(balance, endpoints.size(), seed),
      passed_over_(endpoints.size(), 0),
      open_endpoints_(endpoints.size()) {
  for (std::size_t i = 0; i < endpoints.size(); ++i) endpoint_of_rank_.emplace(endpoints[i].rank, i);
}

int StreamReceiver::match() {
  // More matched messages would not improve the choice; unmatched ones wait in MPI.
  const std::size_t enough = 2 * endpoints_.size() + pool_.blocks();
  while (matched_.size() < enough) {
    bool found = false;
    Incoming incoming;
    if (const int code = transport_.probe(tag_, found, incoming); code != VMPI_SUCCESS) return code;
    if (!found) return VMPI_SUCCESS;
    activity_ = true;
    const auto known = endpoint_of_rank_.find(incoming.source);
    if (incoming.bytes == 0) {
      MPI_Request none = MPI_REQUEST_NULL;
      if (const int code = transport_.receive(incoming, nullptr, none); code != VMPI_SUCCESS) return code;
      if (known != endpoint_of_rank_.end()) {
        mark_closed(known->second);
        if (transport_.has_left(incoming.source, tag_)) left_.push_back(known->second);
      }
    } else if (known != endpoint_of_rank_.end() && incoming.bytes <= block_bytes_) {
      matched_.push(known->second, incoming);
    } else {
      return VMPI_ERR_PROTOCOL;
    }
  }
  return VMPI_SUCCESS;
}

int StreamReceiver::fill(ReadAhead how_far) {
  for (;;) {
    if (const int code = find_completed(); code != VMPI_SUCCESS) return code;
    if (discards_) discard_completed();
    const bool is_far_enough = how_far == ReadAhead::nothing || (how_far == ReadAhead::one_block && complete_ > 0);
    if (matched_.empty() || is_far_enough) return VMPI_SUCCESS;
    void* block = pool_.acquire();
    if (block == nullptr) return VMPI_SUCCESS;
    auto arrival = matched_.pop();
    MPI_Request request = MPI_REQUEST_NULL;
    if (const int code = transport_.receive(arrival.message, block, request); code != VMPI_SUCCESS) {
      pool_.recycle(block);
      return code;
    }
    receiving_.push_back({arrival.endpoint, block, arrival.message.bytes, false});
    transfers_.add(request, &receiving_.back());
  }
}

int StreamReceiver::find_completed() {
  const auto completed = [this](Receive* receive) {
    receive->is_complete = true;
    ++complete_;
    activity_ = true;
  };
  if (const int code = transfers_.poll(transport_, completed); code != VMPI_SUCCESS) return code;
  return direct_.poll(transport_, [this](std::size_t) { activity_ = true; });
}

bool StreamReceiver::deliver(Delivery& delivery) {
  ++delivery_number_;
  for (auto next = receiving_.begin(); next != receiving_.end(); ++next) {
    auto& passed_over = passed_over_[next->endpoint];
    if (passed_over == delivery_number_) continue;  // an earlier block of this writer is incomplete
    if (!next->is_complete) {
      passed_over = delivery_number_;
      continue;
    }
    delivery = {next->block, next->bytes, endpoints_[next->endpoint].rank};
    pool_.deliver(next->block);
    --complete_;
    receiving_.erase(next);
    return true;
  }
  return false;
}

int StreamReceiver::start_direct(void* memory, Delivery& delivery) {
  auto arrival = matched_.pop();
  MPI_Request request = MPI_REQUEST_NULL;
  if (const int code = transport_.receive(arrival.message, memory, request); code != VMPI_SUCCESS) return code;
  delivery = {memory, arrival.message.bytes, endpoints_[arrival.endpoint].rank};
  direct_.add(request, arrival.endpoint);
  return VMPI_SUCCESS;
}

void StreamReceiver::mark_closed(std::size_t endpoint) {
  if (endpoints_[endpoint].has_closed) return;
  endpoints_[endpoint].has_closed = true;
  --open_endpoints_;
  activity_ = true;
}

bool StreamReceiver::has_blocks_of(std::size_t endpoint) const {
  return matched_.waiting(endpoint) > 0 || std::any_of(receiving_.begin(), receiving_.end(), [&](const auto& receive) {
           return receive.endpoint == endpoint;
         });
}

void StreamReceiver::take_left(std::deque<int>& ranks) {
  std::erase_if(left_, [&](std::size_t endpoint) {
    if (has_blocks_of(endpoint)) return false;
    ranks.push_back(endpoints_[endpoint].rank);
    return true;
  });
}

void StreamReceiver::abandon(std::size_t endpoint) {
  const auto is_given_up = [&](const Receive& receive) { return receive.endpoint == endpoint && !receive.is_complete; };
  transfers_.forget([&](MPI_Request, const Receive* receive) { return is_given_up(*receive); });
  direct_.forget([&](MPI_Request, std::size_t from) {
    direct_lost_ = direct_lost_ || from == endpoint;
    return from == endpoint;
  });
  for (const auto& receive : receiving_) {
    if (is_given_up(receive)) pool_.recycle(receive.block);
  }
  if (std::erase_if(receiving_, is_given_up) > 0) activity_ = true;
}

void StreamReceiver::discard_completed() {
  for (auto next = receiving_.begin(); next != receiving_.end();) {
    if (next->is_complete) {
      pool_.recycle(next->block);
      --complete_;
      next = receiving_.erase(next);
    } else {
      ++next;
    }
  }
}

}  // namespace ardoise::vmpi
