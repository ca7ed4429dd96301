// Definitions that are not sent yet. Threads add them on their slow paths (a communicator, a module, a thread). On
// paths that must not wait (a file, a call site) they leave them in the lock-free list of a DefinitionSource. The
// Sender takes all of them before it sends a pack of records. A definition is made before the first record that uses it
// is written, so no record leaves the process before its definitions.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "blackboard/threads/mutex.hpp"
#include "instrument/buffer/bin_pool.hpp"
#include "instrument/format/definition_writer.hpp"
#include "instrument/machine/activity.hpp"

namespace ardoise::instrument {

class DefinitionQueue;

// A table with entries that are added on paths that must not wait, and defined later.
class DefinitionSource {
 public:
  virtual ~DefinitionSource() = default;
  // Adds the definitions of all new entries. One caller at a time.
  virtual void define_new(DefinitionQueue& definitions) = 0;
};

class DefinitionQueue {
 public:
  explicit DefinitionQueue(BinPool& pool) : pool_(pool) {}

  // Call it before the first take(). The source must live as long as take() is called.
  void add_source(DefinitionSource& source) { sources_.push_back(&source); }

  // queue.add(FileDefinition{…}, path): the arguments of DefinitionWriter::add(). Exceeds the budget rather than lose a
  // definition. False: out of memory.
  template <class... Arguments>
  bool add(const Arguments&... arguments) {
    assert_may_wait();
    const MutexLock guard(lock_);
    if (bin_ != nullptr && writer_.add(arguments...)) return true;
    return next_bin() && writer_.add(arguments...);
  }

  // Bins that lack only the Sender's header fields. The caller owns them. One caller at a time.
  [[nodiscard]] std::vector<Bin*> take();
  // For use when all other threads have died, maybe inside this class.
  void force_unlock() { lock_.force_unlock(); }

 private:
  bool next_bin() REQUIRES(lock_);
  void close_bin() REQUIRES(lock_);

  BinPool& pool_;
  std::vector<DefinitionSource*> sources_;
  Mutex lock_;
  Bin* bin_ GUARDED_BY(lock_) = nullptr;  // being written
  DefinitionWriter writer_ GUARDED_BY(lock_){{}};
  std::vector<Bin*> full_ GUARDED_BY(lock_);
};

}  // namespace ardoise::instrument
