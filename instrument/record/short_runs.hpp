// The call sites at which the program uses datatypes of short runs of memory: each is defined once for each run that is
// shorter than those before. Thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "blackboard/threads/mutex.hpp"
#include "instrument/buffer/definition_queue.hpp"
#include "instrument/format/definitions.hpp"

namespace ardoise::instrument {

class ShortRuns {
 public:
  static constexpr std::size_t kMost = 4096;  // further call sites are not defined

  explicit ShortRuns(DefinitionQueue& definitions) : definitions_(definitions) {}

  void note(std::uint32_t call_site, std::uint32_t run_bytes) {
    const MutexLock guard(lock_);
    if (const auto known = by_site_.find(call_site); known != by_site_.end()) {
      if (known->second <= run_bytes) return;
    } else if (by_site_.size() == kMost) {
      return;
    }
    if (definitions_.add(ShortRunsDefinition{call_site, run_bytes})) by_site_[call_site] = run_bytes;
  }

 private:
  DefinitionQueue& definitions_;
  Mutex lock_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_site_ GUARDED_BY(lock_);
};

}  // namespace ardoise::instrument
