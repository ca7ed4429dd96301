// A registered knowledge source: its operation and, for several sensitivities, the entries that wait for the others
// (the paper's FIFO of each sensitivity). Created by Blackboard::add, found through the sensitivity table.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "blackboard/blackboard.hpp"
#include "blackboard/thread_slot.hpp"
#include "blackboard/threads/mutex.hpp"

namespace ardoise::blackboard {

class Source;

// The paper's pair {entries, operation} as two pointers: `entries` is the entry itself for a source with one
// sensitivity, otherwise a block with one reference for each. A plain value so that FIFOs can hold it: the code that
// removes it from a FIFO must call Source::run or Source::drop, once.
struct Job {
  Source* source;
  void* entries;
};

// Lives until it is removed, unreachable for readers of the table, and its last job has ended (idle()).
class Source {
 public:
  Source(SourceId id, KnowledgeSource description);
  ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  [[nodiscard]] SourceId id() const noexcept { return id_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // Number of distinct types; the index is the `kind` of offer().
  [[nodiscard]] std::size_t kinds() const noexcept { return kinds_.size(); }
  [[nodiscard]] EntryType kind(std::size_t index) const noexcept { return kinds_[index].type; }

  // Adds one entry of that kind; returns a job when it was the last one missing. Any thread, in a read section of the
  // table.
  [[nodiscard]] std::optional<Job> offer(std::size_t kind, EntryRef entry);

  // Calls the operation and releases the entries, even when it throws.
  void run(Job job, const Context& context);
  void drop(Job job) noexcept;

  // Both relaxed: a worker announces the job, then reads this; a remover sets this, then reads the announcements. With
  // the asymmetric fences between, one sees the other; removed_ itself publishes no data.
  void mark_removed() noexcept { removed_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool removed() const noexcept { return removed_.load(std::memory_order_relaxed); }
  // Removes and returns entries that wait for others. Only after the table's readers have left.
  [[nodiscard]] std::vector<EntryRef> take_waiting();

  // No job of it exists; final once it is removed and out of the table.
  [[nodiscard]] bool idle() const noexcept { return jobs_.sum() == 0; }
  // Called by the thread that ended a job, as the last access to this source.
  void job_ended() noexcept { jobs_.add(-1); }

 private:
  struct Kind {
    EntryType type;
    std::vector<std::size_t> positions;  // in the list of sensitivities
  };
  [[nodiscard]] Job joined_job() REQUIRES(waiting_mutex_);
  [[nodiscard]] std::span<EntryRef> joined_entries(Job job) const noexcept;

  const SourceId id_;
  const std::string name_;
  const Operation operation_;
  const std::size_t arity_;
  std::atomic<bool> removed_{false};
  SlotCounter jobs_;
  std::vector<Kind> kinds_;  // as constructed
  Mutex waiting_mutex_;
  std::vector<std::deque<EntryRef>> waiting_ GUARDED_BY(waiting_mutex_);  // of each kind
  // Number of kinds with an entry waiting for each of their positions.
  std::size_t complete_kinds_ GUARDED_BY(waiting_mutex_) = 0;
};

}  // namespace ardoise::blackboard
