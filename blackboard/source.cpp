// Joins and calls of operations.
#include "blackboard/source.hpp"

#include <algorithm>
#include <cassert>
#include <memory>
#include <new>
#include <utility>

#include "blackboard/block_pool.hpp"

namespace ardoise::blackboard {

Source::Source(SourceId id, KnowledgeSource description)
    : id_(id),
      name_(std::move(description.name)),
      operation_(std::move(description.operation)),
      arity_(description.sensitivities.size()) {
  for (std::size_t position = 0; position < arity_; ++position) {
    const EntryType type = description.sensitivities[position];
    auto kind = std::find_if(kinds_.begin(), kinds_.end(), [type](const Kind& known) { return known.type == type; });
    if (kind == kinds_.end()) kind = kinds_.insert(kinds_.end(), Kind{type, {}});
    kind->positions.push_back(position);
  }
  waiting_.resize(kinds_.size());
}

Source::~Source() = default;

std::optional<Job> Source::offer(std::size_t kind, EntryRef entry) {
  if (arity_ == 1) {
    jobs_.add(1);
    return Job{this, DataEntry::detach(entry)};
  }
  const MutexLock lock(waiting_mutex_);
  waiting_[kind].push_back(std::move(entry));
  if (waiting_[kind].size() == kinds_[kind].positions.size()) ++complete_kinds_;
  if (complete_kinds_ < kinds_.size()) return std::nullopt;
  jobs_.add(1);
  return joined_job();
}

Job Source::joined_job() {
  void* const block = allocate_block(arity_ * sizeof(EntryRef));
  auto* const entries = static_cast<EntryRef*>(block);
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    const auto& positions = kinds_[kind].positions;
    for (const std::size_t position : positions) {
      new (entries + position) EntryRef(std::move(waiting_[kind].front()));
      waiting_[kind].pop_front();
    }
    if (waiting_[kind].size() < positions.size()) --complete_kinds_;
  }
  return {this, block};
}

std::span<EntryRef> Source::joined_entries(Job job) const noexcept {
  return {std::launder(static_cast<EntryRef*>(job.entries)), arity_};
}

void Source::run(Job job, const Context& context) {
  assert(job.source == this);
  if (arity_ == 1) {
    EntryRef entry = DataEntry::attach(static_cast<DataEntry*>(job.entries));
    operation_(context, {&entry, 1});
    return;
  }
  struct Dropper {
    Source* source;
    Job job;
    ~Dropper() { source->drop(job); }
  } const dropper{this, job};
  operation_(context, joined_entries(job));
}

void Source::drop(Job job) noexcept {
  assert(job.source == this);
  if (arity_ == 1) {
    const EntryRef last = DataEntry::attach(static_cast<DataEntry*>(job.entries));
    return;
  }
  const std::span<EntryRef> entries = joined_entries(job);
  std::destroy(entries.begin(), entries.end());
  release_block(job.entries, arity_ * sizeof(EntryRef));
}

std::vector<EntryRef> Source::take_waiting() {
  std::vector<EntryRef> taken;
  const MutexLock lock(waiting_mutex_);
  for (auto& entries : waiting_) {
    for (EntryRef& entry : entries) taken.push_back(std::move(entry));
    entries.clear();
  }
  complete_kinds_ = 0;
  return taken;
}

}  // namespace ardoise::blackboard
