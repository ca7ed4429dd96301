#include "vmpi/streams/stream_sender.hpp"

#include <cassert>
#include <cstdlib>
#include <new>

namespace ardoise::vmpi {

void StreamSender::Free::operator()(void* memory) const { std::free(memory); }

StreamSender::StreamSender(Transport& transport, std::vector<Endpoint>& endpoints, std::size_t block_bytes, int buffers,
                           Balance balance, std::uint64_t seed)
    : transport_(transport),
      endpoints_(endpoints),
      block_bytes_(block_bytes),
      buffers_(buffers),
      picker_(balance, seed),
      loads_(endpoints.size()) {}

void* StreamSender::free_buffer() {
  if (!free_.empty()) {
    void* buffer = free_.back();
    free_.pop_back();
    return buffer;
  }
  if (owned_.size() == static_cast<std::size_t>(buffers_)) return nullptr;
  constexpr std::size_t page = 4096;
  void* buffer = std::aligned_alloc(page, (block_bytes_ + page - 1) / page * page);
  if (buffer == nullptr) throw std::bad_alloc();
  owned_.emplace_back(buffer);
  return buffer;
}

int StreamSender::start(void* block, std::size_t bytes, bool is_lent) {
  for (std::size_t i = 0; i < loads_.size(); ++i) loads_[i].is_open = !endpoints_[i].has_closed;
  const auto chosen = picker_.pick(loads_, buffers_);
  int code = VMPI_ERR_PEER;
  MPI_Request request = MPI_REQUEST_NULL;
  if (chosen) code = transport_.send(block, bytes, endpoints_[*chosen].rank, endpoints_[*chosen].tag, request);
  if (code != VMPI_SUCCESS) {
    if (!is_lent) free_.push_back(block);
    return code;
  }
  ++loads_[*chosen].in_flight;
  lent_in_flight_ += is_lent ? 1U : 0U;
  in_flight_.add(request, {block, *chosen, is_lent});
  return VMPI_SUCCESS;
}

int StreamSender::poll() {
  return in_flight_.poll(transport_, [this](const Block& block) { retire(block); });
}

void StreamSender::retire(const Block& block) {
  assert(loads_[block.endpoint].in_flight > 0);
  --loads_[block.endpoint].in_flight;
  if (block.is_lent) {
    --lent_in_flight_;
    reclaimable_.push_back(block.memory);
  } else {
    free_.push_back(block.memory);
  }
}

void* StreamSender::reclaim() {
  if (reclaimable_.empty()) return nullptr;
  void* memory = reclaimable_.front();
  reclaimable_.pop_front();
  return memory;
}

int StreamSender::send_ends(EndTo whom) {
  for (std::size_t i = 0; i < endpoints_.size(); ++i) {
    auto& endpoint = endpoints_[i];
    if (endpoint.sent_end) continue;
    if (whom == EndTo::open_peers && endpoint.has_closed) continue;
    if (whom == EndTo::closed_peers && (!endpoint.has_closed || loads_[i].in_flight > 0)) continue;
    if (const int code = transport_.send_empty(endpoint.rank, endpoint.tag); code != VMPI_SUCCESS) return code;
    endpoint.sent_end = true;
  }
  return VMPI_SUCCESS;
}

void StreamSender::forget(std::size_t endpoint) {
  endpoints_[endpoint].sent_end = true;
  in_flight_.forget([&](MPI_Request, const Block& block) {
    if (block.endpoint != endpoint) return false;
    retire(block);
    return true;
  });
}

}  // namespace ardoise::vmpi
