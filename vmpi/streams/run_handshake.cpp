#include "vmpi/streams/run_handshake.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "vmpi/streams/backoff.hpp"
#include "vmpi/streams/mpi_control.hpp"
#include "vmpi/vmpi.h"
#include "vmpi/world/partition_end.hpp"
#include "vmpi/world/partitions.hpp"
#include "vmpi/world/process_identity.hpp"

namespace ardoise::vmpi {
namespace {

constexpr const char* kTimeVariable = "VMPI_OPEN_TIMEOUT";
constexpr long kSeconds = 600;

// Seconds that an opening may take; 0: no limit.
long time_limit() {
  const char* const text = std::getenv(kTimeVariable);
  if (text == nullptr || *text == '\0') return kSeconds;
  char* end = nullptr;
  const long seconds = std::strtol(text, &end, 10);
  return *end == '\0' && seconds >= 0 && seconds <= 1'000'000'000 ? seconds : kSeconds;
}

// Detects, during an opening, peers that will not come: checks once a second whether those on this machine are alive;
// at growing intervals, since it costs messages, whether their partitions have ended; and the time limit.
class AbsenceCheck {
 public:
  explicit AbsenceCheck(Handshake& handshake) : handshake_(handshake) {}

  int look() {
    const auto now = Clock::now();
    if (now < next_look_) return VMPI_SUCCESS;
    next_look_ = now + std::chrono::seconds(1);
    const auto awaited = handshake_.awaited();
    const auto is_awaited = [&](int rank) { return std::find(awaited.begin(), awaited.end(), rank) != awaited.end(); };
    // By now, everything that they sent before they ended has arrived.
    if (ended_ >= 0 && is_awaited(ended_)) return give_up(VMPI_ERR_PEER, ended_, "ended MPI without opening it");
    if (dead_ >= 0 && is_awaited(dead_)) return give_up(VMPI_ERR_PEER, dead_, "died without opening it");
    if (++looks_ == limit_) {
      return give_up(VMPI_ERR_TIMEOUT, awaited.front(),
                     "did not open it within " + std::to_string(limit_) + " seconds (" + kTimeVariable + ")");
    }
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
    return VMPI_SUCCESS;
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::seconds;

  int give_up(int code, int rank, const std::string& what) {
    return handshake_.give_up(code, "process " + std::to_string(rank) + " of the universe " + what);
  }

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

  Handshake& handshake_;
  const long limit_ = time_limit();
  long looks_ = 0;  // counts checks instead of time, which also passes while processes are stopped
  Clock::time_point next_look_ = Clock::now() + Seconds(1);
  Clock::time_point next_search_ = Clock::now() + Seconds(2);
  Seconds pause_{2};
  int dead_ = -1;   // rank found dead at the last check
  int ended_ = -1;  // rank of a partition found ended
};

}  // namespace

int run_handshake(const std::vector<int>& ranks, const StreamTerms& terms, std::vector<Endpoint>& endpoints) {
  Handshake handshake(control_mailbox(), ranks, terms);
  if (const int code = handshake.start(); code != VMPI_SUCCESS) return code;
  Backoff backoff;
  AbsenceCheck absence(handshake);
  for (;;) {
    bool has_news = false;
    if (const int code = handshake.advance(has_news); code != VMPI_SUCCESS) return code;
    if (handshake.done()) break;
    if (has_news) backoff.reset();
    backoff.pause();
    if (!backoff.is_idle()) continue;
    if (const int code = absence.look(); code != VMPI_SUCCESS) return code;
    if (handshake.done()) break;
  }
  if (!handshake.complaint().empty()) std::fprintf(stderr, "ardoise: %s.\n", handshake.complaint().c_str());
  if (handshake.result() != VMPI_SUCCESS) return handshake.result();
  endpoints = handshake.endpoints();
  for (auto& endpoint : endpoints) endpoint.process = watchable_process(endpoint.rank);
  return VMPI_SUCCESS;
}

}  // namespace ardoise::vmpi
