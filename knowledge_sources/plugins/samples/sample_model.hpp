// Turns samples into the model: merges contexts, symbolises, sums by function, line, rank and time, and estimates
// errors. Runs once, at the end, on the root analyzer.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "knowledge_sources/contexts/thread_samples.hpp"
#include "knowledge_sources/interface/resolver.hpp"
#include "knowledge_sources/plugins/samples/sample_bins.hpp"
#include "knowledge_sources/plugins/samples/sampling_facts.hpp"
#include "reports/model.hpp"

namespace ardoise::knowledge_sources {

// All data of the knowledge source. Borrowed.
struct Sampled {
  const SampledRanks& ranks;
  const SamplingFacts& facts;
  const std::vector<SampleBins>& bins;  // of ranks 0, step, 2 x step …
  std::uint32_t step;
  std::uint64_t unplaced;  // samples whose packs lack the program's start
};

// Fills application.samples; missing samples are reported in application.quality.notices.
void contribute_samples(const Sampled& sampled, const Resolver& resolver, reports::Application& application);

}  // namespace ardoise::knowledge_sources
