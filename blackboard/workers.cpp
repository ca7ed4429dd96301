// Execution of jobs: the workers' loop, failures, and drain.
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "blackboard/implementation.hpp"

namespace ardoise::blackboard {
namespace {

void pause_processor() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Exponential back-off of an idle worker: some microseconds of pauses, then yields, then sleep.
class Backoff {
 public:
  void reset() noexcept { rounds_ = 0; }
  [[nodiscard]] bool exhausted() const noexcept { return rounds_ == kPauseRounds + kYieldRounds; }
  void wait() noexcept {
    if (rounds_ < kPauseRounds) {
      for (unsigned i = 0; i < 2u << rounds_; ++i) pause_processor();
    } else {
      std::this_thread::yield();
    }
    ++rounds_;
  }

 private:
  static constexpr unsigned kPauseRounds = 6, kYieldRounds = 8;
  unsigned rounds_ = 0;
};

constexpr std::chrono::microseconds kNap{100};

// For this thread: a processor that a rank wants gives it some 1.5 % of its time. Lowering never needs a privilege.
void stay_in_background() noexcept {
  constexpr int kNicest = 19;
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNicest);
}

// Blocks all signals while threads are created, so that the program's own threads receive them.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

void Blackboard::Implementation::start_workers(bool in_background) {
  const SignalsBlocked blocked;
  for (unsigned i = 0; i < options_.workers; ++i) {
    threads_.emplace_back([this, in_background, i] {
      pthread_setname_np(pthread_self(), ("blackboard " + std::to_string(i % 1000)).c_str());
      if (in_background) stay_in_background();
      work(*workers_[i]);
    });
  }
}

void Blackboard::Implementation::work(Worker& worker) {
  const CurrentWorker current(worker);
  Backoff backoff;
  bool worked = true;
  for (Job job; true;) {
    // relaxed: a delayed view is harmless.
    if (const Pause pause = pause_.load(std::memory_order_relaxed); pause != Pause::kNone) [[unlikely]] {
      if (pause == Pause::kLeave) return;
      wait_while_paused();
    }
    if (queue_.pop(job, worker.hand)) {
      if (std::exchange(worker.hand.brought_home, false)) parking_.wake_one();
      run(worker, job);
      backoff.reset();
      worked = true;
      continue;
    }
    if (worked) {
      look_for_quiet();
      destroy_idle_sources();
      worked = false;
    }
    // acquire: effects of the stopping thread. It drained the board, so nothing is left behind.
    if (stopping_.load(std::memory_order_acquire)) return;
    if (!backoff.exhausted()) {
      backoff.wait();
      continue;
    }
    if (queue_.maybe_filled()) {
      // There are jobs, but their worker keeps up with them. Naps instead of parking: a wake-up would cost that worker
      // a system call.
      std::this_thread::sleep_for(kNap);
    } else {
      // relaxed: ordered by the fences of Parking.
      parking_.park(worker.sleeper, [this] {
        return queue_.maybe_filled() || stopping_.load(std::memory_order_relaxed) ||
               pause_.load(std::memory_order_relaxed) != Pause::kNone;
      });
    }
    backoff.reset();
  }
}

void Blackboard::Implementation::run(Worker& worker, Job job) {
  Source& source = *job.source;
  // relaxed, with a fence: either remove() sees this, or removed() is seen here.
  worker.running.store(&source, std::memory_order_relaxed);
  fence_light();
  if (source.removed()) {
    source.drop(job);
    count(&Tally::dropped);
  } else {
    call(worker, job);
  }
  // release: remove() returns after what the operation did.
  worker.running.store(nullptr, std::memory_order_release);
  source.job_ended();
  count(&Tally::ended);
}

void Blackboard::Implementation::call(Worker& worker, Job job) {
  try {
    job.source->run(job, Context{board_, worker.index});
  } catch (const std::exception& exception) {
    report_failure(*job.source, exception.what());
  } catch (...) {
    report_failure(*job.source, "an object other than std::exception");
  }
}

void Blackboard::Implementation::report_failure(const Source& source, std::string_view message) noexcept {
  count(&Tally::failed);
  if (!options_.on_failure) return;
  try {
    options_.on_failure(source.name(), message);
  } catch (...) {
    // The job is counted as failed; the message is lost.
  }
}

void Blackboard::Implementation::refuse_inside(const char* function) const {
  if (worker_of(this) == nullptr) return;
  throw std::logic_error(std::string(function) +
                         " was called from inside an operation and would wait for it: call it from outside.");
}

void Blackboard::Implementation::drain() {
  refuse_inside("drain()");
  if (options_.workers == 0 || has_no_worker_threads_) return drain_here();
  {
    const MutexLock lock(quiet_mutex_);
    // acq_rel: see look_for_quiet().
    drainers_.fetch_add(1, std::memory_order_acq_rel);
    while (!quiet()) became_quiet_.wait(lock);
    drainers_.fetch_sub(1, std::memory_order_relaxed);
  }
  destroy_idle_sources();
}

void Blackboard::Implementation::drain_here() {
  {
    const MutexLock lock(workers_mutex_);
    std::size_t idle = 0;  // consecutive idle workers
    for (std::size_t i = 0; idle < workers_.size(); i = (i + 1) % workers_.size()) {
      Worker& worker = *workers_[i];
      const CurrentWorker current(worker);
      ++idle;
      for (Job job; queue_.pop(job, worker.hand); idle = 0) run(worker, job);
    }
  }
  destroy_idle_sources();
}

void Blackboard::Implementation::while_paused(const std::function<void()>& action) {
  refuse_inside("while_paused()");
  const MutexLock alone(pause_mutex_);
  if (options_.workers == 0) {
    const MutexLock lock(workers_mutex_);
    return action();
  }
  struct ResumeWorkers {
    Implementation& board;
    ~ResumeWorkers() {
      board.pause_.store(Pause::kNone, std::memory_order_release);  // publishes the effects of the action
      board.pause_.notify_all();
    }
  };
  pause_.store(Pause::kAction, std::memory_order_relaxed);  // wake_all() fences before it looks for sleepers
  parking_.wake_all();
  const MutexLock lock(paused_mutex_);
  const ResumeWorkers resume{*this};
  while (paused_workers_ < threads_.size()) worker_paused_.wait(lock);
  action();
}

void Blackboard::Implementation::hurry() {
  refuse_inside("hurry()");
  const MutexLock alone(pause_mutex_);
  if (!options_.in_background || threads_.empty() || has_no_worker_threads_) return;
  pause_.store(Pause::kLeave, std::memory_order_relaxed);  // wake_all() fences before it looks for sleepers
  parking_.wake_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  pause_.store(Pause::kNone, std::memory_order_relaxed);  // starting a thread publishes it
  start_workers(false);
}

// A worker waits on an atomic instead of a condition: the action may fork, and in the copy, which has no workers,
// notifying a condition would wait for workers that were just leaving it.
void Blackboard::Implementation::wait_while_paused() {
  {
    const MutexLock lock(paused_mutex_);
    ++paused_workers_;
    worker_paused_.notify_all();
  }
  pause_.wait(Pause::kAction, std::memory_order_acquire);
  const MutexLock lock(paused_mutex_);
  --paused_workers_;
}

// Called by each worker that finds no job after having run one; the last one sees that all jobs have ended.
void Blackboard::Implementation::look_for_quiet() {
  // A read-modify-write that adds nothing: all changes of drainers_ have one order. If the drainer's change precedes
  // this one, it is seen here; if it follows, its acquire sees the jobs that this worker ended before this release.
  if (drainers_.fetch_add(0, std::memory_order_acq_rel) == 0) return;
  const MutexLock lock(quiet_mutex_);
  if (quiet()) became_quiet_.notify_all();
}

// True: all jobs created so far have ended. The ended ones are read first: an ended job's creation, and those of jobs
// that it created, precede its end, so all are in the second sum. If the sums are equal, the created jobs read are
// exactly the ended ones, and none of these left a job behind.
bool Blackboard::Implementation::quiet() const noexcept {
  std::uint64_t ended = 0;
  std::uint64_t created = 0;
  // acquire: pairs with the release of add_in_slot().
  for (const auto& line : tallies_) ended += line.cell.ended.load(std::memory_order_acquire);
  for (const auto& line : tallies_) created += line.cell.created.load(std::memory_order_acquire);
  return ended == created;
}

}  // namespace ardoise::blackboard
