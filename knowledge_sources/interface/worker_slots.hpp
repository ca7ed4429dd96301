// One T for each worker of a blackboard, each allocated separately: data that an operation may use without a lock, as
// two operations with the same Context::worker never run concurrently. Filled in Analysis::attach(); subscribe() passes
// the slot of the worker to an operation.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blackboard/blackboard.hpp"
#include "knowledge_sources/interface/level_sources.hpp"

namespace ardoise::knowledge_sources {

template <class T>
class WorkerSlots {
 public:
  // make() returns a unique_ptr<T>.
  template <class Make>
  void create(const LevelSources& sources, Make&& make) {
    while (slots_.size() < sources.workers()) slots_.push_back(make());
  }
  [[nodiscard]] T& of(const blackboard::Context& context) { return *slots_[context.worker]; }
  [[nodiscard]] auto begin() const { return slots_.begin(); }
  [[nodiscard]] auto end() const { return slots_.end(); }

 private:
  std::vector<std::unique_ptr<T>> slots_;
};

// Registers add(slot, span) for the typed spans `entry` (kMpiEvents …) of a level. `slots` are filled and outlive the
// level's jobs.
template <class SpanOfRecords, class T, class Add>
void subscribe(LevelSources& sources, const std::string& analysis, const std::string& level, std::string_view entry,
               WorkerSlots<T>& slots, Add add) {
  sources.add(
      {analysis + "@" + level,
       {blackboard::entry_type(level, entry)},
       [&slots, add = std::move(add)](const blackboard::Context& context, std::span<blackboard::EntryRef> entries) {
         add(slots.of(context), entries[0].as<SpanOfRecords>());
       }});
}

}  // namespace ardoise::knowledge_sources
