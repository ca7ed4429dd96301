// Pushing, sweeping, overflowing.
#include "blackboard/job_queue.hpp"

namespace ardoise::blackboard {
namespace {

// The load keeps the line shared while another holds the lock. acquire: after what the last holder did.
bool try_lock(std::atomic<unsigned>& lock) noexcept {
  return lock.load(std::memory_order_relaxed) == 0 && lock.exchange(1, std::memory_order_acquire) == 0;
}

}  // namespace

JobQueue::JobQueue(unsigned fifos) {
  for (unsigned i = 0; i < fifos; ++i) fifos_.push_back(std::make_unique<Fifo>());
}

bool JobQueue::try_push(Fifo& fifo, Job job) {
  if (!try_lock(fifo.producer)) return false;
  const bool pushed = fifo.ring.push(job);
  // release: the ring for the next producer. seq_cst exchange rather than a store: the caller reads next who sleeps,
  // and a worker that announced its sleep reads this lock next (maybe_filled); one of the two sees the other. All
  // changes of the lock are read-modify-writes, so whoever reads a later value of it also sees the job.
  fifo.producer.exchange(0, std::memory_order_seq_cst);
  return pushed;
}

bool JobQueue::try_pop(Fifo& fifo, Job& job) {
  if (fifo.ring.read_available() == 0 || !try_lock(fifo.consumer)) return false;
  const bool popped = fifo.ring.pop(job);
  fifo.consumer.store(0, std::memory_order_release);  // the ring for the next consumer
  return popped;
}

void JobQueue::push(Job job, Random& random) {
  const std::size_t count = fifos_.size();
  const std::size_t start = count == 0 ? 0 : random() % count;
  for (std::size_t i = 0; i < count; ++i) {
    if (try_push(*fifos_[(start + i) % count], job)) return;
  }
  push_overflow(job);
}

bool JobQueue::pop(Job& job, Random& random) {
  const std::size_t count = fifos_.size() + 1;  // the overflow list takes its turn like a FIFO
  const std::size_t start = random() % count;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = (start + i) % count;
    if (at == fifos_.size() ? pop_overflow(job) : try_pop(*fifos_[at], job)) return true;
  }
  return false;
}

void JobQueue::push_overflow(Job job) {
  const std::lock_guard lock(overflow_mutex_);
  overflow_.push_back(job);
  // seq_cst: before the caller reads who sleeps; see try_push.
  overflow_size_.store(overflow_.size(), std::memory_order_seq_cst);
}

bool JobQueue::pop_overflow(Job& job) {
  // relaxed: a hint; before sleeping maybe_filled() looks properly.
  if (overflow_size_.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard lock(overflow_mutex_);
  if (overflow_.empty()) return false;
  job = overflow_.front();
  overflow_.pop_front();
  overflow_size_.store(overflow_.size(), std::memory_order_relaxed);
  return true;
}

bool JobQueue::maybe_filled() const noexcept {
  if (overflow_size_.load(std::memory_order_seq_cst) != 0) return true;
  for (const auto& fifo : fifos_) {
    // A taken lock means a job may be on its way. Order: see try_push.
    if (fifo->producer.load(std::memory_order_seq_cst) != 0 || fifo->ring.read_available() != 0) return true;
  }
  return false;
}

}  // namespace ardoise::blackboard
