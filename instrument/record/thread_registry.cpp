#include "instrument/record/thread_registry.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <utility>

#include "blackboard/threads/thread_barrier.hpp"
#include "instrument/machine/clock.hpp"
#include "instrument/machine/mapped_memory.hpp"

namespace ardoise::instrument {
namespace {

// Acquire pairs with the release of ~ActivityScope: the thread's bins can be read.
bool is_outside(const ThreadRecorder& thread) {
  return thread.activity.load(std::memory_order_acquire) == Activity::kProgram;
}

void add(TotalsRecord& sum, const FunctionTotals& totals) {
  const auto value = [](const FunctionTotals::Counter& counter) { return counter.load(std::memory_order_relaxed); };
  sum.calls += value(totals.calls);
  sum.ticks += value(totals.ticks);
  sum.bytes_sent += value(totals.bytes_sent);
  sum.bytes_received += value(totals.bytes_received);
  sum.bytes += value(totals.bytes);
}

}  // namespace

ThreadRegistry::~ThreadRegistry() {
  for (ThreadRecorder* thread = newest_.load(std::memory_order_acquire); thread != nullptr;) {
    unmap_memory(std::exchange(thread, thread->next), sizeof(ThreadRecorder));
  }
}

ThreadRecorder* ThreadRegistry::adopt(std::uint64_t tick, std::uint32_t tid) {
  assert_may_wait();
  if (tid == 0) tid = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  ThreadRecorder* thread = nullptr;
  {
    const MutexLock guard(lock_);
    if (!idle_.empty()) {
      thread = idle_.back();
      idle_.pop_back();
      thread->restart(next_number_++);
    } else {
      void* const memory = map_memory(sizeof(ThreadRecorder));
      if (memory == nullptr) return nullptr;
      thread = new (memory) ThreadRecorder(pool_, sender_, ledger_, reduction_, next_number_++);
      thread->next = newest_.load(std::memory_order_relaxed);
      newest_.store(thread, std::memory_order_release);
    }
  }
  const ThreadDefinition definition{thread->number(), tid, tick};
  if (!definitions_.add(definition)) return nullptr;
  active_.fetch_add(1, std::memory_order_relaxed);
  return thread;
}

void ThreadRegistry::retire(ThreadRecorder* thread) {
  thread->samples.flush(now());
  active_.fetch_sub(1, std::memory_order_relaxed);
  const MutexLock guard(lock_);
  idle_.push_back(thread);
}

// Without the lock: a thread that is inside may wait for it.
bool ThreadRegistry::wait_until_outside() {
  assert_may_wait();
  blackboard::barrier_in_all_threads();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (ThreadRecorder* thread = newest_.load(std::memory_order_acquire); thread != nullptr; thread = thread->next) {
    while (!is_outside(*thread)) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      ::sched_yield();
    }
  }
  return true;
}

void ThreadRegistry::flush_all(const std::function<void(ThreadRecorder&)>& before) {
  for (ThreadRecorder* thread = newest_.load(std::memory_order_acquire); thread != nullptr; thread = thread->next) {
    if (is_outside(*thread)) {
      before(*thread);
      thread->flush();
    }
    thread->samples.flush(now());
  }
  define_changes();
}

void ThreadRegistry::force_unlock() {
  lock_.force_unlock();
  for (ThreadRecorder* thread = newest_.load(std::memory_order_acquire); thread != nullptr; thread = thread->next)
    thread->force_unlock();
}

Bin* ThreadRegistry::next_bin(bool all) {
  ThreadRecorder* const newest = newest_.load(std::memory_order_acquire);
  if (newest == nullptr) return nullptr;
  if (turn_ == nullptr) turn_ = newest;
  ThreadRecorder* const begin = turn_;
  do {
    SampleStore& samples = turn_->samples;
    turn_ = turn_->next != nullptr ? turn_->next : newest;
    if (!samples.started()) continue;
    define_changes(samples);
    if (Bin* const bin = samples.next_bin(true, all ? 0 : flush_ticks_.load(std::memory_order_relaxed), now()))
      return bin;
  } while (turn_ != begin);
  return nullptr;
}

bool ThreadRegistry::make_room() {
  SampleStore* most = nullptr;
  for (ThreadRecorder* thread = newest_.load(std::memory_order_acquire); thread != nullptr; thread = thread->next) {
    SampleStore& samples = thread->samples;
    if (samples.bins() != 0 && (most == nullptr || samples.bins() > most->bins())) most = &samples;
  }
  return most != nullptr && most->make_room(now()) != 0;
}

void ThreadRegistry::define_changes(SampleStore& samples) {
  std::array<SamplingDefinition, 8> changes;
  for (;;) {
    const std::size_t count = samples.take_changes(changes);
    for (std::size_t i = 0; i < count; ++i) (void)definitions_.add(changes[i]);
    if (count < changes.size()) return;
  }
}

void ThreadRegistry::define_changes() {
  for (ThreadRecorder* thread = newest_.load(std::memory_order_acquire); thread != nullptr; thread = thread->next) {
    if (thread->samples.started()) define_changes(thread->samples);
  }
}

std::size_t ThreadRegistry::totals(std::span<const FunctionTotals, kPosixFunctionCount> of_no_thread,
                                   std::span<TotalsRecord> room) const noexcept {
  std::size_t count = 0;
  const auto collect = [&](PackClass pack_class, std::size_t functions, auto&& totals_of) {
    for (std::size_t function = 0; function < functions && count < room.size(); ++function) {
      TotalsRecord sum{};
      sum.record_class = static_cast<std::uint16_t>(pack_class);
      sum.function = static_cast<std::uint16_t>(function);
      for (ThreadRecorder* thread = newest_.load(std::memory_order_acquire); thread != nullptr; thread = thread->next)
        add(sum, totals_of(*thread, function));
      if (pack_class == PackClass::kPosix) add(sum, of_no_thread[function]);
      if (sum.calls != 0 || sum.bytes != 0) room[count++] = sum;
    }
  };
  collect(
      PackClass::kMpi, ThreadRecorder::kMpiFunctions, [](ThreadRecorder & thread, std::size_t function) -> auto& {
        return thread.mpi_totals(static_cast<std::uint32_t>(function));
      });
  collect(
      PackClass::kPosix, kPosixFunctionCount, [](ThreadRecorder & thread, std::size_t function) -> auto& {
        return thread.posix_totals(static_cast<PosixFunction>(function));
      });
  return count;
}

std::vector<TotalsRecord> ThreadRegistry::totals(
    std::span<const FunctionTotals, kPosixFunctionCount> of_no_thread) const {
  std::vector<TotalsRecord> result(ThreadRecorder::kMpiFunctions + kPosixFunctionCount);
  result.resize(totals(of_no_thread, result));
  return result;
}

}  // namespace ardoise::instrument
