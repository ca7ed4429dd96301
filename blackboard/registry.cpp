// Registration and removal of knowledge sources.
#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "blackboard/implementation.hpp"

namespace ardoise::blackboard {

SourceId Blackboard::Implementation::add(KnowledgeSource description) {
  if (description.sensitivities.empty() || !description.operation) {
    throw std::invalid_argument("The knowledge source \"" + description.name + "\" has no " +
                                (description.operation ? "sensitivities" : "operation") +
                                "; it would never run: give it one.");
  }
  SourceId id;
  {
    const MutexLock lock(registry_mutex_);
    id = {++last_id_};
    sources_.push_back(std::make_unique<Source>(id, std::move(description)));
    publish_table();
  }
  destroy_idle_sources();
  return id;
}

bool Blackboard::Implementation::remove(SourceId id) {
  std::unique_ptr<Source> source;
  {
    const MutexLock lock(registry_mutex_);
    const auto found = std::find_if(sources_.begin(), sources_.end(), [id](const auto& s) { return s->id() == id; });
    if (found == sources_.end()) return false;
    source = std::move(*found);
    sources_.erase(found);
    publish_table();
  }
  // No thread can create a job of it any more; queued jobs will be dropped.
  source->mark_removed();
  source->take_waiting().clear();
  if (worker_of(this) == nullptr) wait_while_running(*source);
  {
    const MutexLock lock(registry_mutex_);
    removed_.push_back(std::move(source));
    removed_count_.store(removed_.size(), std::memory_order_relaxed);
  }
  destroy_idle_sources();
  return true;
}

void Blackboard::Implementation::publish_table() {
  std::vector<Source*> pointers;
  pointers.reserve(sources_.size());
  for (const auto& source : sources_) pointers.push_back(source.get());
  const SensitivityTable* const next = new SensitivityTable(pointers);
  // release: the table's contents. wait_for_readers() fences before it looks for readers.
  const SensitivityTable* const last = table_.exchange(next, std::memory_order_acq_rel);
  readers_.wait_for_readers();
  delete last;
}

void Blackboard::Implementation::wait_while_running(const Source& source) const {
  fence_heavy();  // after mark_removed(); pairs with run()'s
  // Polling: removal is rare and waits for one operation at most, not worth a wake-up check in every job.
  for (const auto& worker : workers_) {
    // acquire: after the effects of the operation.
    while (worker->running.load(std::memory_order_acquire) == &source) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

void Blackboard::Implementation::destroy_idle_sources() {
  if (removed_count_.load(std::memory_order_relaxed) == 0) return;
  std::vector<std::unique_ptr<Source>> idle;  // destroyed without the lock
  const MutexLock lock(registry_mutex_);
  const auto first = std::partition(removed_.begin(), removed_.end(), [](const auto& s) { return !s->idle(); });
  std::move(first, removed_.end(), std::back_inserter(idle));
  removed_.erase(first, removed_.end());
  removed_count_.store(removed_.size(), std::memory_order_relaxed);
}

}  // namespace ardoise::blackboard
