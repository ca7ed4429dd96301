// The guarantee that the fuzz targets of the analyses check: for any input the resulting model is valid.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "knowledge_sources/reduction/reduction.hpp"
#include "reports/model_check.hpp"

namespace ardoise {

// Aborts if the model is invalid.
inline void require_sound_model(const knowledge_sources::Reduction& reduction) {
  reports::Run run;
  reduction.contribute(run);
  const auto outcome = reports::check_model(run);
  if (outcome.error.empty()) return;
  std::fprintf(stderr, "%s\n", outcome.error.c_str());
  std::abort();
}

}  // namespace ardoise
