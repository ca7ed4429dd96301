// What the fuzz targets of the analyses promise: whatever bytes came in, the model that comes out is sound.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "knowledge_sources/reduction/reduction.hpp"
#include "reports/model_check.hpp"

namespace ardoise {

// Ends the process where it is not.
inline void require_sound_model(const knowledge_sources::Reduction& reduction) {
  reports::Run run;
  reduction.contribute(run);
  const auto outcome = reports::check_model(run);
  if (outcome.error.empty()) return;
  std::fprintf(stderr, "%s\n", outcome.error.c_str());
  std::abort();
}

}  // namespace ardoise
