// Definitions that were made and not sent yet. Threads add on their slow paths (a communicator, a module, a thread), or
// leave them in the lock-free list of a DefinitionSource where they must not wait (a file, a call site); the Sender
// takes all of them before it sends a pack of records. Because a definition is made before the first record that uses
// it is written, no record leaves the process before its definitions.
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

// A table whose entries are made where nothing may wait, and defined later.
class DefinitionSource {
 public:
  virtual ~DefinitionSource() = default;
  // Adds what is new. One caller at a time.
  virtual void define_new(DefinitionQueue& definitions) = 0;
};

class DefinitionQueue {
 public:
  explicit DefinitionQueue(BinPool& pool) : pool_(pool) {}

  // Before the first take(); it lives as long as that is called.
  void add_source(DefinitionSource& source) { sources_.push_back(&source); }

  // queue.add(FileDefinition{…}, path): the arguments of DefinitionWriter::add(). Goes beyond the budget rather than
  // lose a definition. False: out of memory.
  template <class... Arguments>
  bool add(const Arguments&... arguments) {
    assert_may_wait();
    const MutexLock guard(lock_);
    if (bin_ != nullptr && writer_.add(arguments...)) return true;
    return next_bin() && writer_.add(arguments...);
  }

  // Bins ready to be sent but for the Sender's fields of the header. The caller owns them. One caller at a time.
  [[nodiscard]] std::vector<Bin*> take();
  // All other threads have died, maybe in here.
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
