// Definitions that were made and not sent yet. Threads add on their slow paths (a new call site, file, communicator),
// the Sender takes all of them before it sends a pack of records; because a definition is added before the first record
// that uses it is written, no record ever leaves the process before its definitions.
#pragma once

#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "instrument/buffer/bin_pool.hpp"
#include "instrument/format/definition_writer.hpp"

namespace ardoise::instrument {

class DefinitionQueue {
 public:
  explicit DefinitionQueue(BinPool& pool) : pool_(pool) {}

  // queue.add(FileDefinition{…}, path): the arguments of DefinitionWriter::add(). Goes beyond the budget rather than
  // lose a definition. False: out of memory.
  template <class... Arguments>
  bool add(const Arguments&... arguments) {
    const std::lock_guard guard(lock_);
    if (bin_ != nullptr && writer_.add(arguments...)) return true;
    return next_bin() && writer_.add(arguments...);
  }

  // Bins ready to be sent but for the Sender's fields of the header. The caller owns them.
  [[nodiscard]] std::vector<Bin*> take();

 private:
  bool next_bin();  // lock_ is held
  void close_bin();

  BinPool& pool_;
  std::mutex lock_;
  Bin* bin_ = nullptr;  // being written; all below guarded by lock_
  DefinitionWriter writer_{{}};
  std::vector<Bin*> full_;
};

}  // namespace ardoise::instrument
