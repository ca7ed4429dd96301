#include "instrument/buffer/definition_queue.hpp"

namespace ardoise::instrument {

void DefinitionQueue::close_bin() {
  if (bin_ == nullptr) return;
  bin_->header.pack_class = static_cast<std::uint16_t>(PackClass::kDefinitions);
  bin_->header.payload_bytes = static_cast<std::uint32_t>(writer_.bytes());
  bin_->header.record_count = writer_.count();
  full_.push_back(std::exchange(bin_, nullptr));
}

bool DefinitionQueue::next_bin() {
  close_bin();
  bin_ = pool_.take_beyond_budget(PackClass::kDefinitions);
  if (bin_ == nullptr) return false;
  writer_ = DefinitionWriter({bin_->payload(), pool_.payload_bytes()});
  return true;
}

std::vector<Bin*> DefinitionQueue::take() {
  for (DefinitionSource* const source : sources_) source->define_new(*this);
  const MutexLock guard(lock_);
  close_bin();
  return std::exchange(full_, {});
}

}  // namespace ardoise::instrument
