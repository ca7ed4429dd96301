// Keeps sampling correct when modules are loaded and unloaded: see sampler.hpp.
#include <algorithm>

#include "instrument/sampling/sampler.hpp"

namespace ardoise::instrument {

void Sampler::before_unload(std::span<const LoadedModule> loaded) {
  unloading_.fetch_add(1, std::memory_order_acq_rel);
  if (!running_.load(std::memory_order_acquire)) return;
  wait_until_unused();
  const MutexLock guard(lock_);
  forget_replaced(loaded);
  // Sends the contexts in the module while it can still be described.
  for (SampledThread* thread : threads_) context_sender_.send_contexts(*thread, true);
}

void Sampler::after_unload(std::span<const LoadedModule> before, std::span<const LoadedModule> after) {
  {
    const MutexLock guard(lock_);
    bool any = false;
    for (const LoadedModule& module : before) {
      if (std::find(after.begin(), after.end(), module) != after.end()) continue;
      any = true;
      if (std::find(gone_.begin(), gone_.end(), module) == gone_.end()) gone_.push_back(module);
    }
    if (any && running_.load(std::memory_order_acquire)) {
      unwinder_.forget_rules();
      for (SampledThread* thread : threads_) thread->calls.forget();
    }
  }
  unloading_.fetch_sub(1, std::memory_order_acq_rel);
}

// Requires lock_, and that no thread uses its contexts.
void Sampler::forget_replaced(std::span<const LoadedModule> loaded) {
  for (auto gone = gone_.begin(); gone != gone_.end();) {
    const auto there = std::find_if(loaded.begin(), loaded.end(), [&](const LoadedModule& module) {
      return module.begin < gone->end && gone->begin < module.end;
    });
    if (there == loaded.end()) {
      ++gone;
      continue;
    }
    if (*there != *gone) {
      for (SampledThread* thread : threads_) {
        thread->contexts.forget(gone->begin, gone->end);
        thread->calls.forget();
      }
      recorder_.call_sites.forget(gone->begin, gone->end);
    }
    gone = gone_.erase(gone);
  }
}

void Sampler::watch_modules() {
  {
    const MutexLock guard(lock_);
    if (gone_.empty()) return;
  }
  const std::vector<LoadedModule> loaded = loaded_modules();
  unloading_.fetch_add(1, std::memory_order_acq_rel);
  wait_until_unused();
  {
    const MutexLock guard(lock_);
    forget_replaced(loaded);
  }
  unloading_.fetch_sub(1, std::memory_order_acq_rel);
}

}  // namespace ardoise::instrument
