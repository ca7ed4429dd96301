// The parallel blackboard (paper "online-analysis-server", III.B): entries are submitted, the sensitivities that match
// are looked up in a hash table, a knowledge source whose last sensitivity is met becomes a job in one of an array of
// FIFOs, and workers sweep the FIFOs from a random start, backing off to sleep when there is nothing to do.
//
// Any thread may call any function; operations may submit entries, register and remove knowledge sources, their own
// included. Blackboards with 0 workers run their jobs inside drain(), on the calling thread, in order: for tests.
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

// Where an operation runs. `worker` is 0 … workers()-1 and names this thread's slot in per-worker partial results: two
// operations with the same worker number never run at the same time.
struct Context {
  Blackboard& board;
  unsigned worker;
};

// One reference for each sensitivity, in the order of the sensitivities.
using Operation = std::function<void(const Context&, std::span<EntryRef>)>;

struct KnowledgeSource {
  std::string name;                      // for messages: "mpi_profile@solver"
  std::vector<EntryType> sensitivities;  // at least one; a type may stand in it several times
  Operation operation;
};

struct SourceId {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(SourceId, SourceId) = default;
};

struct Options {
  unsigned workers = 1;                             // threads of its own, with all signals blocked
  std::size_t byte_limit = std::size_t{256} << 20;  // of payloads alive; over it over_limit() is true
  // Called, on the worker, with one sentence when an operation threw; that job is lost, nothing else.
  std::function<void(std::string_view source_name, std::string_view message)> on_failure;
};

struct Counters {
  std::uint64_t submitted = 0;  // entries
  std::uint64_t unmatched = 0;  // entries that no source was sensitive to
  std::uint64_t jobs_run = 0;   // the failed ones too, the dropped ones of removed sources not
  std::uint64_t jobs_failed = 0;
};

class Blackboard {
 public:
  explicit Blackboard(Options options);
  // Drains, then stops the workers. Not inside an operation; no other thread may use the board any more.
  ~Blackboard();
  Blackboard(const Blackboard&) = delete;
  Blackboard& operator=(const Blackboard&) = delete;

  [[nodiscard]] unsigned workers() const noexcept;  // at least 1: slots for per-worker results

  // Throws std::invalid_argument for a source without sensitivities or operation. Entries submitted after add()
  // returned find the source.
  SourceId add(KnowledgeSource source);
  // False: no such source. Jobs of it that wait are dropped, entries that waited for its other sensitivities are let
  // go. Called from outside of operations: when it returns, no job of it runs or ever will, so what the operation used
  // may be destroyed. From inside of an operation it does not wait for jobs that other workers had already taken: two
  // operations that remove each other would wait for ever. The operation itself (its captures) is destroyed after the
  // last of these jobs, on whichever thread notices.
  bool remove(SourceId id);

  // Gives the entry to every source that is sensitive to its type; never waits. The source added last gets this
  // reference itself: moved in and wanted by one source only, the entry is writable there. An empty reference is
  // ignored.
  void submit(EntryRef entry);

  // Joins the boards of other processes. Before the first keyed entry; the transport outlives the use of the board.
  void connect(Transport& transport);
  // 1 and 0 without a transport.
  [[nodiscard]] unsigned boards() const noexcept;
  [[nodiscard]] unsigned self() const noexcept;
  // As submit(), on the board that owns the key: the entry goes there when that is another one, as bytes (make_entry,
  // adopt_entry). On the way entries may overtake each other.
  void submit_keyed(EntryRef entry, std::uint64_t key);

  // Waits until every job that exists or that these jobs bring about has run; while other threads go on submitting,
  // that may be until they pause. Throws std::logic_error inside an operation. Entries that wait in joins are no jobs.
  void drain();

  // Calls `action` while no operation runs: workers end the job that they are at, wait, and go on afterwards. Jobs stay
  // where they are. For a look at everything without waiting for a drain, such as a copy of the process (fork(2)).
  // Throws std::logic_error inside an operation.
  void while_still(const std::function<void()>& action);
  // In such a copy, whose workers are not there: from now on drain() runs all jobs itself. It must not be destroyed.
  void lose_workers();

  // Submission does not obey the limit: a submitter that can wait (ingest) asks and waits. An entry counts on the first
  // board it is submitted to, until its last reference goes, even if that outlives the board.
  [[nodiscard]] std::size_t bytes() const noexcept;  // payload bytes alive that were submitted here
  [[nodiscard]] bool over_limit() const noexcept;
  // Sleeps until bytes() is at or below the limit or the time is over; true: below.
  bool wait_below_limit(std::chrono::milliseconds timeout);
  // Bytes that a knowledge source keeps for itself, until something else is there, count as those of entries do.
  void keep(std::size_t bytes) noexcept;
  void let_go(std::size_t bytes) noexcept;
  // No job runs or waits. While no other thread submits, that stays so.
  [[nodiscard]] bool is_quiet() const noexcept;
  [[nodiscard]] Counters counters() const noexcept;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ardoise::blackboard
