#include "knowledge_sources/calls/call_profile.hpp"

#include <algorithm>
#include <map>

#include "knowledge_sources/calls/functions.hpp"
#include "knowledge_sources/interface/pack_time.hpp"

namespace ardoise::knowledge_sources {

void CallScratch::begin(CallProfile& profile, const instrument::PackHeader& header, double ns_per_tick) {
  profile_ = &profile;
  header_ = &header;
  ns_per_tick_ = ns_per_tick;
}

void CallScratch::flush_sites() {
  sites_.for_each([this](std::uint64_t key, const SiteTicks& from) {
    CallProfile::Site& site = profile_->sites_[key];
    site.calls += from.calls * header_->weight;
    site.ns += scale_ticks(from.ticks, ns_per_tick_) * header_->weight;
    site.bytes += from.bytes * header_->weight;
    site.operations += from.operations * header_->weight;
    site.flight_ns += scale_ticks(from.flight, ns_per_tick_) * header_->weight;
    site.waited_ns += scale_ticks(from.waited, ns_per_tick_) * header_->weight;
    if (from.calls == 0) return;  // bytes of calls in earlier packs
    site.min_ps = std::min(site.min_ps, scale_ticks(from.min, ns_per_tick_ * 1e3));
    site.max_ps = std::max(site.max_ps, scale_ticks(from.max, ns_per_tick_ * 1e3));
    site.ranks.insert(header_->rank);
  });
  sites_.clear();
}

void CallScratch::finish() {
  flush_sites();
  for (std::uint32_t function = 0; function < in_use_.size(); ++function) {
    if (in_use_[function] == 0) continue;
    auto& into = profile_->sizes_[function];
    for (std::size_t bucket = 0; bucket < kSizeBuckets; ++bucket) {
      into[bucket] += sizes_[function][bucket] * header_->weight;
    }
    sizes_[function] = {};
    in_use_[function] = 0;
  }
}

void CallProfile::merge(const CallProfile& other) {
  for (const auto& [key, from] : other.sites_) {
    Site& into = sites_[key];
    into.calls += from.calls;
    into.ns += from.ns;
    into.bytes += from.bytes;
    into.operations += from.operations;
    into.flight_ns += from.flight_ns;
    into.waited_ns += from.waited_ns;
    into.min_ps = std::min(into.min_ps, from.min_ps);
    into.max_ps = std::max(into.max_ps, from.max_ps);
    into.ranks.insert(from.ranks);
  }
  for (const auto& [function, from] : other.sizes_) {
    auto& into = sizes_[function];
    for (std::size_t bucket = 0; bucket < kSizeBuckets; ++bucket) into[bucket] += from[bucket];
  }
}

void CallProfile::write(ByteWriter& out) const {
  out.put_count(sites_.size());
  for (const auto& [key, site] : sites_) {
    for (const std::uint64_t value : {key, site.calls, site.ns, site.bytes, site.min_ps, site.max_ps, site.operations,
                                      site.flight_ns, site.waited_ns})
      out.put(value);
    out.put_array(site.ranks.words());
  }
  out.put_count(sizes_.size());
  for (const auto& [function, sizes] : sizes_) {
    out.put(function);
    out.put(sizes);
  }
}

void CallProfile::read(ByteReader& in) {
  for (auto left = in.get_count(9 * sizeof(std::uint64_t)); left != 0; --left) {
    const auto key = in.get<std::uint64_t>();
    in.check(key >> 32 != 0, "has a call site of no function");
    Site& site = sites_[key];
    for (auto* value : {&site.calls, &site.ns, &site.bytes, &site.min_ps, &site.max_ps, &site.operations,
                        &site.flight_ns, &site.waited_ns})
      *value = in.get<std::uint64_t>();
    site.ranks = RankSet(in.get_array<std::uint64_t>());
  }
  for (auto left = in.get_count(sizeof(Sizes)); left != 0; --left) {
    const auto function = in.get<std::uint32_t>();
    sizes_[function] = in.get<Sizes>();
  }
}

void CallProfile::contribute(const Resolver& resolver, std::vector<reports::FunctionProfile>& functions,
                             std::vector<reports::CallSite>& call_sites) const {
  // Rank by rank, so that floating point sums do not depend on the distribution of work.
  std::map<std::uint32_t, reports::FunctionProfile> profiles;
  for (std::uint32_t rank = 0; rank < resolver.ranks(); ++rank) {
    for (const FunctionSums& sums : resolver.sums(rank)) {
      if (sums.record_class != static_cast<std::uint16_t>(record_class_)) continue;
      auto& profile = profiles[sums.function];
      profile.calls += sums.calls;
      profile.seconds += static_cast<double>(sums.ticks) * resolver.seconds_per_tick(rank);
      profile.bytes += sums.bytes;
      profile.bytes_sent += sums.bytes_sent;
      profile.bytes_received += sums.bytes_received;
    }
  }

  struct Extremes {
    std::uint64_t min_ps = std::numeric_limits<std::uint64_t>::max(), max_ps = 0;
  };
  std::map<std::uint32_t, Extremes> extremes;
  for (const auto& [key, site] : std::map(sites_.begin(), sites_.end())) {
    if (site.calls == 0) continue;
    Extremes& extreme = extremes[function_of(key)];
    extreme.min_ps = std::min(extreme.min_ps, site.min_ps);
    extreme.max_ps = std::max(extreme.max_ps, site.max_ps);

    const Location& location = resolver.call_site(static_cast<std::uint32_t>(key));
    auto& entry = call_sites.emplace_back();
    entry.function = function_info(record_class_, function_of(key)).name;
    entry.symbol = location.symbol;
    entry.source_file = location.source_file;
    entry.line = location.line;
    entry.module = location.module;
    entry.offset = location.offset;
    entry.calls = site.calls;
    entry.seconds = static_cast<double>(site.ns) * 1e-9;
    entry.bytes = site.bytes;
    entry.min_seconds = static_cast<double>(site.min_ps) * 1e-12;
    entry.mean_seconds = entry.seconds / static_cast<double>(site.calls);
    entry.max_seconds = static_cast<double>(site.max_ps) * 1e-12;
    entry.ranks = site.ranks.count();
    entry.run_bytes = location.run_bytes;
    entry.operations = site.operations;
    entry.flight_seconds = static_cast<double>(site.flight_ns) * 1e-9;
    entry.waited_seconds = static_cast<double>(site.waited_ns) * 1e-9;
  }

  for (auto& [function, profile] : profiles) {
    auto info = function_info(record_class_, function);
    profile.function = std::move(info.name);
    profile.category = std::move(info.category);
    if (profile.calls != 0) profile.mean_seconds = profile.seconds / static_cast<double>(profile.calls);
    if (const auto extreme = extremes.find(function); extreme != extremes.end()) {
      profile.min_seconds = static_cast<double>(extreme->second.min_ps) * 1e-12;
      profile.max_seconds = static_cast<double>(extreme->second.max_ps) * 1e-12;
    }
    if (const auto sizes = sizes_.find(function); sizes != sizes_.end()) {
      auto& calls = profile.calls_by_size;
      calls.assign(sizes->second.begin(), sizes->second.end());
      while (!calls.empty() && calls.back() == 0) calls.pop_back();
    }
    functions.push_back(std::move(profile));
  }
}

}  // namespace ardoise::knowledge_sources
