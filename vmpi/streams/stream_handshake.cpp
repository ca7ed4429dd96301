// See stream_handshake.hpp.
#include "vmpi/streams/stream_handshake.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "vmpi/streams/backoff.hpp"
#include "vmpi/streams/mpi_control.hpp"
#include "vmpi/vmpi.h"
#include "vmpi/world/partition_end.hpp"
#include "vmpi/world/partitions.hpp"
#include "vmpi/world/process_identity.hpp"

namespace ardoise::vmpi {
namespace {

// What is looked after while a meeting waits: once a second whether peers on this machine live; at growing intervals,
// as it costs messages, whether partitions have ended and whether processes wait for each other in a circle.
class Vigil {
 public:
  explicit Vigil(Meeting& meeting) : meeting_(meeting) {}

  int look() {
    const auto now = Clock::now();
    if (now < next_look_) return VMPI_SUCCESS;
    next_look_ = now + std::chrono::seconds(1);
    const auto awaited = meeting_.awaited();
    const auto is_awaited = [&](int rank) { return std::find(awaited.begin(), awaited.end(), rank) != awaited.end(); };
    // What they had sent before they ended has come in the meantime.
    if (ended_ >= 0 && is_awaited(ended_)) return meeting_.give_up(ended_, "ended MPI without opening it");
    if (dead_ >= 0 && is_awaited(dead_)) return meeting_.give_up(dead_, "died without opening it");
    for (const int rank : awaited) {
      const auto process = watchable_process(rank);
      if (process == 0 || is_running(process)) continue;
      (partition_has_ended(partitions()->table.partition_of(rank)) ? ended_ : dead_) = rank;
      return VMPI_SUCCESS;
    }
    if (now < next_search_) return VMPI_SUCCESS;
    next_search_ = now + pause_;
    pause_ = std::min(2 * pause_, Seconds(64));
    for (const int rank : first_of_each_partition(awaited)) {
      if (partition_has_ended(partitions()->table.partition_of(rank))) ended_ = rank;
    }
    return ended_ >= 0 ? VMPI_SUCCESS : meeting_.look_for_circle();
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::seconds;

  static std::vector<int> first_of_each_partition(const std::vector<int>& ranks) {
    std::vector<int> firsts;
    std::vector<bool> seen(static_cast<std::size_t>(partitions()->table.count()), false);
    for (const int rank : ranks) {
      const auto id = static_cast<std::size_t>(partitions()->table.partition_of(rank));
      if (!seen[id]) firsts.push_back(rank);
      seen[id] = true;
    }
    return firsts;
  }

  Meeting& meeting_;
  Clock::time_point next_look_ = Clock::now() + Seconds(1);
  Clock::time_point next_search_ = Clock::now() + Seconds(2);
  Seconds pause_{2};
  int dead_ = -1;   // rank that was found dead at the last look
  int ended_ = -1;  // rank whose partition was found ended
};

bool other_threads_may_open() {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

}  // namespace

int meet(const std::vector<int>& ranks, StreamTerms terms, std::vector<Endpoint>& endpoints) {
  terms.finds_circles = !other_threads_may_open();
  Meeting meeting(control_mailbox(), partitions()->universe_rank, ranks, terms);
  if (const int code = meeting.start(); code != VMPI_SUCCESS) return code;
  Backoff backoff;
  Vigil vigil(meeting);
  for (;;) {
    bool has_news = false;
    if (const int code = meeting.advance(has_news); code != VMPI_SUCCESS) return code;
    if (meeting.done()) break;
    if (has_news) backoff.reset();
    backoff.pause();
    if (!backoff.is_idle()) continue;
    if (const int code = vigil.look(); code != VMPI_SUCCESS) return code;
    if (meeting.done()) break;
  }
  if (!meeting.complaint().empty()) std::fprintf(stderr, "ardoise: %s.\n", meeting.complaint().c_str());
  if (meeting.result() != VMPI_SUCCESS) return meeting.result();
  endpoints = meeting.endpoints();
  for (auto& endpoint : endpoints) endpoint.process = watchable_process(endpoint.rank);
  return VMPI_SUCCESS;
}

}  // namespace ardoise::vmpi
