#include "analyzer/results/block_writer.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "instrument/machine/own_folder.hpp"
#include "reports/text/units.hpp"

namespace ardoise::analyzer {

void BlockWriter::write(knowledge_sources::SnapshotBlock block) {
  const MutexLock lock(mutex_);
  if (is_finished_) return;
  if (waiting_.size() >= kMostWaiting) {
    too_late_ += block.records.size();
    return;
  }
  waiting_.push_back(std::move(block));
  filled_.notify_one();
  if (thread_.joinable()) return;
  // Signals go to other threads.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void BlockWriter::run() {
  for (;;) {
    knowledge_sources::SnapshotBlock block;
    {
      const MutexLock lock(mutex_);
      while (waiting_.empty() && !is_finished_) filled_.wait(lock);
      if (waiting_.empty()) return;
      block = std::move(waiting_.front());
      waiting_.pop_front();
    }
    write_now(block);
  }
}

void BlockWriter::finish() {
  std::uint64_t too_late = 0;
  {
    const MutexLock lock(mutex_);
    if (std::exchange(is_finished_, true)) return;
    too_late = too_late_;
    filled_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  if (left_out_ != 0)
    complain_(fmt::format("'{}' has reached its maximum size, {} GiB: {} not in it.", path_, kMostBytes >> 30,
                          reports::counted(left_out_, "snapshot", "is", "are")));
  if (too_late != 0)
    complain_(fmt::format("'{}' lacks {}: the disk was too slow.", path_, reports::counted(too_late, "snapshot")));
  if (file_ >= 0 && ::close(file_) != 0) fail(std::strerror(errno));
  file_ = -1;
}

void BlockWriter::write_now(const knowledge_sources::SnapshotBlock& block) {
  if (has_failed_) return;
  if (bytes_ >= kMostBytes) {
    left_out_ += block.records.size();
    return;
  }
  if (file_ < 0) {
    const std::filesystem::path path(path_);
    file_ = static_cast<int>(instrument::OwnFolder(path.parent_path().c_str()).replace(path.filename().c_str(), 0666));
  }
  if (file_ < 0) return fail(std::strerror(-file_));
  const std::vector<std::byte> bytes = encode(block);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t more = ::write(file_, bytes.data() + done, bytes.size() - done);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) {
      fail(std::strerror(errno));
      // Whole blocks only.
      [[maybe_unused]] const int cut = ::ftruncate(file_, static_cast<off_t>(bytes_));
      return;
    }
    done += static_cast<std::size_t>(more);
  }
  bytes_ += bytes.size();
}

void BlockWriter::fail(const std::string& reason) {
  has_failed_ = true;
  complain_(fmt::format("'{}' cannot be written: {}. Later snapshots are missing.", path_, reason));
}

}  // namespace ardoise::analyzer
