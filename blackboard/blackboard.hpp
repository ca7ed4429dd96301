// The parallel blackboard (paper "online-analysis-server", III.B). Submitted entries are matched with sensitivities in
// a hash table; a knowledge source whose last sensitivity is satisfied becomes a job in one of several FIFOs; workers
// sweep the FIFOs from a random start and back off to sleep when they are empty.
//
// Any thread may call any function. Operations may submit entries, and register and remove knowledge sources, their own
// included. A blackboard with 0 workers runs its jobs inside drain(), on the calling thread, in order: for tests.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blackboard/data_entry.hpp"
#include "blackboard/transport.hpp"

namespace ardoise::blackboard {

class Blackboard;

// Context of an operation. `worker` is 0 … workers()-1 and selects the slot of per-worker partial results: two
// operations with the same worker number never run concurrently.
struct Context {
  Blackboard& board;
  unsigned worker;
};

// One reference for each sensitivity, in the order of the sensitivities.
using Operation = std::function<void(const Context&, std::span<EntryRef>)>;

struct KnowledgeSource {
  std::string name;                      // for messages: "mpi_profile@solver"
  std::vector<EntryType> sensitivities;  // at least one; types may repeat
  Operation operation;
};

struct SourceId {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(SourceId, SourceId) = default;
};

struct Options {
  unsigned workers = 1;                             // own threads, with all signals blocked
  bool in_background = false;                       // workers only take what others leave (nice 19), until hurry()
  std::size_t byte_limit = std::size_t{256} << 20;  // bytes of live payloads above which over_limit() is true
  // Called on the worker with one sentence when an operation throws; only that job is lost.
  std::function<void(std::string_view source_name, std::string_view message)> on_failure;
};

struct Counters {
  std::uint64_t submitted = 0;  // entries
  std::uint64_t unmatched = 0;  // entries without a matching source
  std::uint64_t jobs_run = 0;   // including failed jobs, without dropped jobs of removed sources
  std::uint64_t jobs_failed = 0;
};

class Blackboard {
 public:
  explicit Blackboard(Options options);
  // Drains, then stops the workers. Not inside an operation; no other thread may still use the board.
  ~Blackboard();
  Blackboard(const Blackboard&) = delete;
  Blackboard& operator=(const Blackboard&) = delete;

  [[nodiscard]] unsigned workers() const noexcept;  // at least 1: slots for per-worker results

  // Throws std::invalid_argument for a source without sensitivities or operation. The source sees all entries submitted
  // after add() has returned.
  SourceId add(KnowledgeSource source);
  // False: no such source. Its queued jobs are dropped, entries that waited for its other sensitivities are released.
  // Called outside of operations: when it returns, no job of the source runs or ever will, so data that the operation
  // used may be destroyed. Called inside an operation, it does not wait for jobs that other workers have already taken,
  // since two operations that remove each other would deadlock. The operation object (its captures) is destroyed after
  // the last of these jobs, on any thread.
  bool remove(SourceId id);

  // Gives the entry to every source that is sensitive to its type; never blocks. The source added last gets this
  // reference itself: an entry moved in and used by one source only is writable there. An empty reference is ignored.
  void submit(EntryRef entry);

  // Connects the boards of other processes. Before the first keyed entry; the transport outlives the board's use.
  void connect(Transport& transport);
  // Number of connected boards and own index: 1 and 0 without a transport.
  [[nodiscard]] unsigned boards() const noexcept;
  [[nodiscard]] unsigned self() const noexcept;
  // submit() on the board that owns the key: when that is another board, the entry is sent there as bytes (make_entry,
  // adopt_entry). Entries may overtake each other on the way.
  void submit_keyed(EntryRef entry, std::uint64_t key);

  // Waits until all existing jobs and the jobs that they create have run; while other threads keep submitting, that may
  // take until they pause. Throws std::logic_error inside an operation. Entries that wait for others in joins are no
  // jobs.
  void drain();

  // Calls `action` while no operation runs: workers finish their current job, wait, and continue afterwards. Queued
  // jobs stay. For a consistent view without a drain, such as a copy of the process (fork(2)). Throws std::logic_error
  // inside an operation.
  void while_paused(const std::function<void()>& action);
  // Workers in the background take part as other threads do from now on: new threads replace them, since only root may
  // raise the priority of a thread. Throws std::logic_error inside an operation.
  void hurry();
  // In such a copy, which has no worker threads: drain() runs all jobs itself from now on. The board must not be
  // destroyed.
  void continue_without_workers();

  // submit() ignores the limit: a submitter that can wait (ingest) checks it. An entry counts on the first board it is
  // submitted to until its last reference is released, even after the board's end.
  [[nodiscard]] std::size_t bytes() const noexcept;  // live payload bytes submitted to this board
  [[nodiscard]] bool over_limit() const noexcept;
  // Sleeps until bytes() is at or below the limit, or the timeout; true: below.
  bool wait_below_limit(std::chrono::milliseconds timeout);
  // Counts bytes that a knowledge source buffers itself, like bytes of entries.
  void charge(std::size_t bytes) noexcept;
  void discharge(std::size_t bytes) noexcept;
  // No job runs or is queued. Stays true while no other thread submits.
  [[nodiscard]] bool is_quiet() const noexcept;
  [[nodiscard]] Counters counters() const noexcept;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ardoise::blackboard
