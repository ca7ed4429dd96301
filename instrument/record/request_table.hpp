// The program's active requests, from the call that created each to the call that completes or frees it. Keeps the data
// that the completing call lacks (peer, bytes, call site of the start). Used by mpi_recorder.cpp.
//
// A handle is not always unique: Open MPI and MPICH use one shared, completed request for many small sends, and under
// MPI_THREAD_MULTIPLE a handle may be posted again before the thread that completed it reports that. Requests with the
// shared handle form a queue: a thread completes its own first, first in, first out, and then those of others. For
// other equal handles, a call means the latest request posted before the call began: it could not have had the handle
// of a later one.
//
// Memory comes from bins: one for the buckets and one for each 800 or so active requests, beyond the budget if
// necessary, since the program decides how many requests are active.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "instrument/buffer/bin_pool.hpp"

namespace ardoise::instrument {

struct Request {
  std::uint64_t post_begin = 0;  // tick: with the rank, the id of the operation
  std::uint64_t post_end = 0;    // tick at which the program got it
  std::uint64_t made = 0;        // tick of the call that created it; for a persistent request, before any start
  std::uint64_t sent = 0;        // bytes that one operation sends
  std::uint64_t received = 0;    // bytes that one operation receives: capacity of a receive
  std::uint32_t operation =
      0;  // make_word(comm, function, shape) of the call that began it, with the operation's shape
  std::uint32_t call_site = 0;
  std::int32_t peer = 0;
  std::int32_t tag = 0;
  std::uint32_t thread = 0;      // that posted it
  std::uint32_t collective = 0;  // as in RecentCall
  bool persistent = false;
  bool active = true;  // false: a persistent request that is not started
};

class RequestTable {
 public:
  // locked: several threads may call at once (MPI_THREAD_MULTIPLE). A single lock suffices: it is held for some ten
  // nanoseconds, and MPI libraries serialise such threads far longer themselves.
  RequestTable(BinPool& pool, bool locked) : pool_(pool), locked_(locked) {}

  // The handle of requests that are complete from the start; 0: none. Set before the first post.
  void set_shared(std::uint64_t handle) { shared_ = handle; }

  // False: out of memory, the request stays unknown. make() returns the Request, which is written in place: that
  // spares the hot path a copy of words that were stored a moment ago.
  template <class Make>
  bool post_made(std::uint64_t handle, const Make& make) {
    const Guard guard(*this);
    const Place place = place_for(handle);
    if (place.node == nullptr) return false;
    place.node->request = make();
    link(place);
    return true;
  }
  bool post(std::uint64_t handle, const Request& request) {
    return post_made(handle, [&] { return request; });
  }
  // The operation is complete, by a call that began at call_begin: removes it, or deactivates it if persistent. Empty:
  // unknown or inactive.
  std::optional<Request> complete(std::uint64_t handle, std::uint64_t call_begin, std::uint32_t thread = 0);
  // Starts a persistent request by a call of `function`, under which its data is counted. Empty: unknown.
  std::optional<Request> start(std::uint64_t handle, std::uint64_t begin, std::uint32_t call_site,
                               std::uint32_t function);
  // Removes it in any state, by a call that began at call_begin. Empty: unknown.
  std::optional<Request> forget(std::uint64_t handle, std::uint64_t call_begin, std::uint32_t thread = 0);

  // The request that a call which began at call_begin means. Empty: unknown, or the handle is shared.
  [[nodiscard]] std::optional<Request> look_up(std::uint64_t handle, std::uint64_t call_begin);
  [[nodiscard]] bool is_shared(std::uint64_t handle) const { return handle == shared_ && shared_ != 0; }
  // For use when all other threads have died, maybe inside this class.
  void force_unlock() { lock_.clear(std::memory_order_relaxed); }

  [[nodiscard]] std::size_t size() const { return size_; }  // known requests; exact when no other thread is calling

 private:
  struct Node {
    std::uint64_t handle;
    Request request;
    Node* next;
  };
  struct Queue {  // requests with the shared handle
    Node* first = nullptr;
    Node** end = &first;
  };
  // A spin lock that yields, since its holder may have lost the processor. Acquire and release as in any lock.
  class Guard {
   public:
    explicit Guard(RequestTable& table) : table_(table) {
      if (table_.locked_) table_.lock();
    }
    ~Guard() {
      if (table_.locked_) table_.lock_.clear(std::memory_order_release);
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    RequestTable& table_;
  };

  void lock();
  struct Place {
    Node* node;   // nullptr: out of memory
    Node** link;  // where a new node belongs; nullptr: the node replaces an old request
  };
  Place place_for(std::uint64_t handle);
  void link(const Place& place) {
    if (place.link == nullptr) return;
    std::atomic_signal_fence(std::memory_order_release);  // the process may die here: what is linked is whole
    *place.link = place.node;
    if (place.link == queue_.end) queue_.end = &place.node->next;
    ++size_;
  }
  Node* allocate();
  Node** bucket(std::uint64_t handle);
  Node** find(std::uint64_t handle);  // the link to the first node with this handle, or to null
  Node** find_shared(std::uint32_t thread);
  Node** find_posted_before(std::uint64_t handle, std::uint64_t tick);  // the latest; without one as find()
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
