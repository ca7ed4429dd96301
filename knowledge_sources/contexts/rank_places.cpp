#include "knowledge_sources/contexts/rank_places.hpp"

#include <utility>

namespace ardoise::knowledge_sources {

std::uint32_t RankPlaces::number_of(std::uint32_t thread, const instrument::SampledExtension& sample) {
  constexpr std::uint32_t kFlags = instrument::kPartialUnwind | instrument::kTruncatedContext | instrument::kPosixCall;
  const SampledPlace place{
      thread, {sample.context, sample.function == 0 ? sample.pc_offset : 0, sample.function, sample.flags & kFlags}};
  if (const std::uint32_t* const known = numbers_.find(place); known != nullptr) return *known;
  if (places_.size() >= kMost) return 0;
  places_.push_back(place);
  const auto number = static_cast<std::uint32_t>(places_.size());
  (void)numbers_.insert(place, number);
  return number;
}

void RankPlaces::read(std::vector<SampledPlace> places) {
  places_ = std::move(places);
  for (std::uint32_t i = 0; i < places_.size(); ++i) (void)numbers_.insert(places_[i], i + 1);
}

}  // namespace ardoise::knowledge_sources
