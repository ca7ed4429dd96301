#include "instrument/buffer/hierarchical_buffer.hpp"

#include <algorithm>

namespace ardoise::instrument {

void HierarchicalBuffer::open(std::uint32_t lowest, std::uint32_t levels) {
  base_ = lowest_ = lowest;
  last_ = std::clamp(levels, 1u, kMaxLevels) - 1;
}

void HierarchicalBuffer::close_bin(Lane& lane) {
  if (lane.bin == nullptr) return;
  PackHeader& header = lane.bin->header;
  header.record_count = static_cast<std::uint32_t>(lane.records - lane.in_full);
  header.payload_bytes = static_cast<std::uint32_t>(lane.cursor - lane.bin->payload());
  header.last_tick = lane.last_tick;
  lane.in_full = lane.records;
  lane.bin = nullptr;
  lane.cursor = lane.limit = nullptr;
}

bool HierarchicalBuffer::next_bin(Lane& lane, std::uint64_t tick) {
  Bin* const bin = pool_.take(pack_class_);
  if (bin == nullptr) return false;
  close_bin(lane);
  bin->header.first_tick = tick;
  lane.list.append(pool_, bin);
  lane.bin = bin;
  lane.cursor = bin->payload();
  lane.limit = lane.cursor + pool_.payload_bytes();
  ++bins_;
  return true;
}

HierarchicalBuffer::Dropped HierarchicalBuffer::drop_lowest() {
  Lane& lane = lanes_[lowest_ - base_];
  const Dropped dropped{lane.list.bins, lane.records};
  bins_ -= lane.list.bins;
  pool_.give(lane.list, pack_class_);
  lane = {};
  ++lowest_;
  return dropped;
}

HierarchicalBuffer::Sealed HierarchicalBuffer::seal(BinList& into) {
  const Sealed sealed{bins_, records()};
  for (std::uint32_t i = lowest_ - base_; i <= last_; ++i) {
    close_bin(lanes_[i]);
    into.append(pool_, lanes_[i].list);
    lanes_[i] = {};
  }
  bins_ = 0;
  return sealed;
}

void HierarchicalBuffer::abandon() {
  lanes_.fill({});
  bins_ = 0;
}

std::uint64_t HierarchicalBuffer::records() const {
  std::uint64_t sum = 0;
  for (const Lane& lane : lanes_) sum += lane.records;
  return sum;
}

std::uint32_t HierarchicalBuffer::full_bins() const {
  std::uint32_t sum = 0;
  for (const Lane& lane : lanes_) sum += lane.list.bins - (lane.bin != nullptr ? 1 : 0);
  return sum;
}

}  // namespace ardoise::instrument
