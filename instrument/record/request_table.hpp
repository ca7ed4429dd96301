// The program's active requests, from the call that made each to the one that completes or frees it: what the
// completing call can't know (peer, bytes, call site of the start) waits here. Used by mpi_recorder.cpp.
//
// A handle is not always unique: Open MPI and MPICH give one shared, already completed request to many small sends, and
// under MPI_THREAD_MULTIPLE a handle may be posted again before the thread that completed it came to say so. The
// shared ones therefore queue up: a thread completes its own first, first in, first out, and those of others where it
// has none. Of other equal ones a call means the latest that had been posted when it began: it could not have had the
// handle of a later one.
//
// Memory comes from bins, 1 for the buckets and 1 for each 800 or so active requests, beyond the budget if need be: the
// program decides how many requests are active.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "instrument/buffer/bin_pool.hpp"

namespace ardoise::instrument {

struct Request {
  std::uint64_t post_begin = 0;  // tick: with the rank, the id of the operation
  std::uint64_t post_end = 0;    // tick: when the program had it
  std::uint64_t made = 0;        // tick: of the call that made it; where it is persistent, before any start
  std::uint64_t sent = 0;        // bytes that one operation sends
  std::uint64_t received = 0;    // bytes that one operation receives: capacity of a receive
  std::uint32_t operation =
      0;  // make_word(comm, function, shape) of the call that began it, with the operation's shape
  std::uint32_t call_site = 0;
  std::int32_t peer = 0;
  std::int32_t tag = 0;
  std::uint32_t thread = 0;  // that posted it
  std::uint32_t collective = 0;  // as RecentCall's
  bool persistent = false;
  bool active = true;  // false: a persistent request that is not started
};

class RequestTable {
 public:
  // locked: several threads may call at once (MPI_THREAD_MULTIPLE). One lock for all: it is held for some ten
  // nanoseconds, and MPI libraries serialise such threads far longer themselves.
  RequestTable(BinPool& pool, bool locked) : pool_(pool), locked_(locked) {}

  // The handle of requests that are complete from the start; 0: there is none. Set before the first post.
  void set_shared(std::uint64_t handle) { shared_ = handle; }

  // False: out of memory, the request will be unknown.
  bool post(std::uint64_t handle, const Request& request);
  // The operation is complete, by a call that began then: forgets it, or deactivates it when persistent. Empty: unknown
  // or inactive.
  std::optional<Request> complete(std::uint64_t handle, std::uint64_t call_begin, std::uint32_t thread = 0);
  // Starts a persistent request by a call of `function`, under which its data are counted. Empty: unknown.
  std::optional<Request> start(std::uint64_t handle, std::uint64_t begin, std::uint32_t call_site,
                               std::uint32_t function);
  // Forgets it in any state, by a call that began then. Empty: unknown.
  std::optional<Request> forget(std::uint64_t handle, std::uint64_t call_begin, std::uint32_t thread = 0);

  // That of a call that began then. Empty: unknown, or one of those that share a handle.
  [[nodiscard]] std::optional<Request> look_up(std::uint64_t handle, std::uint64_t call_begin);
  [[nodiscard]] bool is_shared(std::uint64_t handle) const { return handle == shared_ && shared_ != 0; }
  // All other threads have died, maybe in here.
  void force_unlock() { lock_.clear(std::memory_order_relaxed); }

  [[nodiscard]] std::size_t size() const { return size_; }  // known requests; exact when no other thread is calling

 private:
  struct Node {
    std::uint64_t handle;
    Request request;
    Node* next;
  };
  struct Queue {  // the shared handle's requests
    Node* first = nullptr;
    Node** end = &first;
  };
  class Guard;

  Node* allocate();
  Node** bucket(std::uint64_t handle);
  Node** find(std::uint64_t handle);  // the link to the first node with this handle, or to null
  Node** find_shared(std::uint32_t thread);
  Node** find_posted_before(std::uint64_t handle, std::uint64_t tick);  // the latest; else as find()
  Request take(Node** link);

  BinPool& pool_;
  const bool locked_;
  std::uint64_t shared_ = 0;
  std::atomic_flag lock_ = ATOMIC_FLAG_INIT;
  Node** buckets_ = nullptr;
  std::size_t bucket_count_ = 0;  // a power of two
  Node* free_ = nullptr;
  Queue queue_;
  std::size_t size_ = 0;
};

}  // namespace ardoise::instrument
