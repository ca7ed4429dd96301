#include "knowledge_sources/otf2/packs/region_time.hpp"

#include <algorithm>
#include <cmath>

namespace ardoise::knowledge_sources {

using instrument::PackClass;
using instrument::SampleRecord;

std::uint32_t TracedContexts::child(std::uint32_t parent, CodePlace place) {
  const auto next = static_cast<std::uint32_t>(numbers_.size()) + 1;
  if (next > kMost) {
    const auto known = numbers_.find({parent, place.code, place.line});
    return known == numbers_.end() ? parent : known->second;
  }
  const auto [found, is_new] = numbers_.try_emplace({parent, place.code, place.line}, next);
  if (is_new)
    new_.push_back({next, parent, instrument::kPythonModule, 0, std::uint64_t{place.code} << 32 | place.line});
  return found->second;
}

void TracedContexts::send(MadePacks& packs, std::uint32_t thread) {
  packs.contexts(thread, new_);
  new_.clear();
}

void ContextCalls::add(std::uint32_t context, std::uint32_t function, std::uint64_t ticks, std::uint64_t sent,
                       std::uint64_t received) {
  if (context == 0) return;
  const bool is_posix = (function & kPosixFunction) != 0;
  auto& sums = sums_[std::uint64_t{function} << 32 | context];
  sums.context = context;
  sums.record_class = static_cast<std::uint16_t>(is_posix ? PackClass::kPosix : PackClass::kMpi);
  sums.function = static_cast<std::uint16_t>((function & ~kPosixFunction) - 1);
  ++sums.calls;
  sums.ticks += ticks;
  sums.bytes_sent += sent;
  sums.bytes_received += received;
}

void ContextCalls::send(MadePacks& packs, std::uint32_t thread) {
  std::vector<instrument::ContextTotalsRecord> totals;
  for (const auto& [key, sums] : sums_) totals.push_back(sums);
  sums_.clear();
  packs.context_totals(thread, totals);
}

void RegionTime::send(MadePacks& packs, std::uint32_t thread) {
  told_ = last_;
  if (times_.empty()) return;
  contexts_.send(packs, thread);
  std::vector<SampleRecord> samples;
  for (const auto& [key, ticks] : times_) {
    const auto function = static_cast<std::uint32_t>(key >> 32);
    double& rest = rests_[key];
    rest += static_cast<double>(ticks) * ns_per_tick_;
    auto ns = static_cast<std::uint64_t>(rest);
    rest -= static_cast<double>(ns);
    while (ns != 0) {
      const auto some = static_cast<std::uint32_t>(std::min<std::uint64_t>(ns, UINT32_MAX));
      ns -= some;
      SampleRecord sample{};
      sample.tick = last_;
      sample.context = static_cast<std::uint32_t>(key);
      sample.weight = some;
      sample.function = static_cast<std::uint16_t>(function & ~kPosixFunction);
      if (function != 0)
        sample.flags = (function & kPosixFunction) != 0 ? instrument::kPosixCall : instrument::kInsideMpi;
      samples.push_back(sample);
    }
  }
  times_.clear();
  packs.samples(thread, samples);
}

}  // namespace ardoise::knowledge_sources
