// Carries keyed entries between the blackboards of the analyzers, over MPI. Workers put entries into a queue; the event
// loop, in whose thread MPI is called, sends them and submits received ones.
//
//   worker: send() ─▶ queue ─▶ loop: at most kSending at a time ─▶ MPI ─▶ loop: at most kTaken unprocessed ─▶ board
//
// No deadlock: every analyzer receives at any time, workers never block, and keyed entries only derive from entries of
// packs. Back-pressure: queued entries count on the board's byte limit, above which the analyzer takes no packs.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <vector>

#include "analyzer/run/analyzer_run.hpp"
#include "analyzer/run/event_loop.hpp"
#include "blackboard/threads/mutex.hpp"
#include "blackboard/transport.hpp"

namespace ardoise::analyzer {

class MpiTransport final : public blackboard::Transport {
 public:
  static constexpr std::size_t kSending = 16;
  static constexpr std::size_t kTaken = 64;

  // analyzers: all of them; kTag on it is ours. Collective.
  MpiTransport(MPI_Comm analyzers, AnalyzerRun& run);
  ~MpiTransport() override;

  [[nodiscard]] unsigned boards() const noexcept override { return static_cast<unsigned>(boards_); }
  [[nodiscard]] unsigned self() const noexcept override { return static_cast<unsigned>(self_); }
  void send(unsigned board, blackboard::EntryRef entry) override;

  // In the loop's thread, as a source of the loop.
  Found poll();
  // Collective, after all packs of this analyzer are submitted: runs the loop until no entry is in flight between any
  // analyzers, and all are processed.
  void settle(EventLoop& loop);

 private:
  static constexpr int kTag = 3;

  struct Queued {
    int board;
    blackboard::EntryRef entry;
  };
  struct Sending {
    std::vector<std::byte> bytes;  // type of the entry, then its payload
    MPI_Request request = MPI_REQUEST_NULL;
    blackboard::EntryRef entry;  // counts until it is sent
  };
  struct Taken;
  void start_sends();
  Found end_sends();
  Found take();
  Found end_takes();
  [[nodiscard]] bool has_left() const;
  void fail(const char* what, int code);

  MPI_Comm analyzers_;
  AnalyzerRun& run_;
  int boards_ = 1, self_ = 0;
  mutable Mutex mutex_;
  std::deque<Queued> queue_ GUARDED_BY(mutex_);
  std::atomic<bool> has_queued_{false};
  std::list<Sending> sending_;
  std::list<std::unique_ptr<Taken>> arriving_;
  std::shared_ptr<std::atomic<std::size_t>> taken_;  // unprocessed entries here
  std::uint64_t sent_ = 0, received_ = 0;
};

}  // namespace ardoise::analyzer
