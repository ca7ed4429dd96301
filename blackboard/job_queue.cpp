// Push, sweep, overflow.
#include "blackboard/job_queue.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ardoise::blackboard {

JobQueue::JobQueue(unsigned workers) {
  for (unsigned i = 0; i < workers; ++i) homes_.push_back(std::make_unique<Fifo>());
  // One for each worker, and at least two, so that workers rarely collide with a submitter at one FIFO.
  for (unsigned i = 0; i < (workers == 0 ? 0 : std::max(2u, workers)); ++i) shared_.push_back(std::make_unique<Fifo>());
}

bool JobQueue::push_shared(Fifo& fifo, Job job) {
  // The plain load keeps the line shared while another thread holds the lock. acquire: after the last producer's use of
  // the ring.
  if (fifo.producing.load(std::memory_order_relaxed) || fifo.producing.exchange(true, std::memory_order_acquire)) {
    return false;
  }
  const bool pushed = fifo.ring.push(job);
  fifo.producing.store(false, std::memory_order_release);  // hands the ring to the next producer
  return pushed;
}

void JobQueue::push(Job job, Random& random) noexcept {
  const std::size_t count = shared_.size();
  const std::size_t start = count == 0 ? 0 : random() % count;
  for (std::size_t i = 0; i < count; ++i) {
    if (push_shared(*shared_[(start + i) % count], job)) return;
  }
  push_overflow(job);
}

void JobQueue::push_home(Job job, Hand& hand) noexcept {
  if (homes_.empty()) return push_overflow(job);
  if (!homes_[hand.home]->ring.push(job)) push(job, hand.random);
}

std::size_t JobQueue::take(Fifo& fifo, Job* jobs, std::size_t most) {
  std::uint32_t turn = fifo.turn.load(std::memory_order_relaxed);
  // acquire: after the last consumer's use of the ring.
  if (turn % 2 != 0 ||
      !fifo.turn.compare_exchange_strong(turn, turn + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
    return 0;
  }
  const std::size_t taken = most == 1 ? static_cast<std::size_t>(fifo.ring.pop(*jobs)) : fifo.ring.pop(jobs, most);
  fifo.turn.store(turn + 2, std::memory_order_release);  // hands the ring to the next consumer
  return taken;
}

bool JobQueue::pop(Job& job, Hand& hand) {
  if (homes_.empty()) return pop_overflow(job);
  if (++hand.pops % kFairTurn == 0 && sweep(job, hand, shared_.size() + 1)) return true;
  Fifo& home = *homes_[hand.home];
  if (home.ring.read_available() != 0 && take(home, &job, 1) == 1) return true;
  return sweep(job, hand, shared_.size() + 1 + homes_.size());
}

// Places: the shared FIFOs, the overflow list, the home FIFOs; the first `places` of them are searched.
bool JobQueue::sweep(Job& job, Hand& hand, std::size_t places) {
  const std::size_t start = hand.random() % places;
  for (std::size_t i = 0; i < places; ++i) {
    std::size_t at = start + i < places ? start + i : start + i - places;
    if (at < shared_.size()) {
      if (take_share(*shared_[at], job, hand)) return true;
      continue;
    }
    at -= shared_.size();
    if (at == 0) {
      if (pop_overflow(job)) return true;
      continue;
    }
    const auto other = static_cast<unsigned>(at - 1);
    if (other != hand.home && !owner_keeps_up(other, hand) && take_share(*homes_[other], job, hand)) return true;
  }
  return false;
}

// Stealing a job that its worker would have run within a microsecond costs both more than it gains: cache lines of the
// FIFO and of the entry move between cores. So the thief first checks, against its previous look, whether the owner is
// taking jobs.
bool JobQueue::owner_keeps_up(unsigned home, Hand& hand) {
  Fifo& fifo = *homes_[home];
  const std::size_t waiting = fifo.ring.read_available();
  if (waiting == 0) return true;
  if (waiting > kPlenty) return false;
  hand.last_turns.resize(homes_.size(), 1);  // 1: never a value between two takes
  const std::uint32_t turn = fifo.turn.load(std::memory_order_relaxed);
  return std::exchange(hand.last_turns[home], turn) != turn;
}

bool JobQueue::take_share(Fifo& fifo, Job& job, Hand& hand) {
  const std::size_t waiting = fifo.ring.read_available();
  if (waiting == 0) return false;
  std::array<Job, kMostTaken> jobs;
  const std::size_t taken = take(fifo, jobs.data(), std::min(kMostTaken, (waiting + 1) / 2));
  if (taken == 0) return false;
  job = jobs[0];
  // In the home FIFO others can take them again: no job waits behind a long one.
  for (std::size_t i = 1; i < taken; ++i) push_home(jobs[i], hand);
  hand.brought_home = taken > 1;
  return true;
}

void JobQueue::push_overflow(Job job) {
  const MutexLock lock(overflow_mutex_);
  overflow_.push_back(job);
  // relaxed: readers that need the value use fences (maybe_filled) or take the lock.
  overflow_size_.store(overflow_.size(), std::memory_order_relaxed);
}

bool JobQueue::pop_overflow(Job& job) {
  if (overflow_size_.load(std::memory_order_relaxed) == 0) return false;
  const MutexLock lock(overflow_mutex_);
  if (overflow_.empty()) return false;
  job = overflow_.front();
  overflow_.pop_front();
  overflow_size_.store(overflow_.size(), std::memory_order_relaxed);
  return true;
}

bool JobQueue::maybe_filled() const noexcept {
  const auto filled = [](const auto& fifo) { return fifo->ring.read_available() != 0; };
  return overflow_size_.load(std::memory_order_relaxed) != 0 || std::any_of(homes_.begin(), homes_.end(), filled) ||
         std::any_of(shared_.begin(), shared_.end(), filled);
}

}  // namespace ardoise::blackboard
