// Writes blocks of snapshots to a file in a thread of its own: workers and the event loop never wait for the disk. If
// the disk is too slow, whole blocks are dropped and counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "blackboard/threads/mutex.hpp"
#include "knowledge_sources/snapshot_files/snapshot_block.hpp"

namespace ardoise::analyzer {

class BlockWriter {
 public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;  // of the file
  static constexpr std::size_t kMostWaiting = 64;                      // blocks, some 2 MB each at most

  // complain: gets sentences, in any thread. descriptor: file to write to; -1: a new file.
  BlockWriter(std::string path, std::function<void(const std::string&)> complain, int descriptor = -1)
      : path_(std::move(path)), complain_(std::move(complain)), file_(descriptor) {}
  ~BlockWriter() { finish(); }
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  // Any thread. After finish() blocks are dropped.
  void write(knowledge_sources::SnapshotBlock block);
  // Waits until all blocks are written, and reports missing ones.
  void finish();

 private:
  void run();
  void write_now(const knowledge_sources::SnapshotBlock& block);
  void fail(const std::string& reason);

  const std::string path_;
  const std::function<void(const std::string&)> complain_;
  Mutex mutex_;
  Condition filled_;
  std::deque<knowledge_sources::SnapshotBlock> waiting_ GUARDED_BY(mutex_);
  bool is_finished_ GUARDED_BY(mutex_) = false;
  std::uint64_t too_late_ GUARDED_BY(mutex_) = 0;  // snapshots dropped because the queue was full
  std::thread thread_;                             // started by the first block
  // Used by the thread, and after it has ended.
  int file_;
  std::uint64_t bytes_ = 0, left_out_ = 0;  // left_out: snapshots beyond kMostBytes
  bool has_failed_ = false;
};

}  // namespace ardoise::analyzer
