// Looks many times a second at the thread that called MPI_Init: is it asleep, in which kind of call, and why? It
// corrects the kernel's time of waiting for a processor (schedstat). Since Linux 6.12 a thread may stay in the run
// queue for a moment after it went to sleep; if it is moved to another processor meanwhile, its whole sleep counts as
// waiting for a processor. A thread that was seen asleep cannot have waited for longer than since then, so the rest is
// subtracted: the error of such a sleep is at most the time between two looks.
//
// The survivor looks while the program runs, the thread itself once at the end; of two at a time one does nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace ardoise::instrument {

// The kind of call that a thread is in.
enum class CallPlace : std::uint8_t { kOutside = 0, kMpi = 1, kIo = 2 };
inline constexpr std::size_t kCallPlaces = 3;

// The reason of a sleep, by the function of the kernel in which the thread sleeps.
enum class SleepReason : std::uint8_t {
  kUnknown = 0,   // also pipes, sockets, select() and poll(), which pauses use too
  kThread = 1,    // a futex: a lock, a condition, a semaphore, or the end of a thread
  kTime = 2,      // sleep(), nanosleep()
  kProgram = 3,   // wait(): the end of another program
  kFileLock = 4,  // flock(), fcntl()
};
inline constexpr std::size_t kSleepReasons = 5;
// wait_channel: the text of /proc/<pid>/task/<tid>/wchan.
[[nodiscard]] SleepReason sleep_reason(std::string_view wait_channel) noexcept;

// One thread's, by /proc/<pid>/task/<tid>/schedstat; 0: unknown.
struct ScheduledTime {
  std::uint64_t cpu_ns = 0;
  std::uint64_t waiting_ns = 0;  // ready to run, without a processor
};
// path: of that file. Allocates nothing, takes no lock, leaves errno unchanged.
[[nodiscard]] ScheduledTime scheduled_time(const char* path) noexcept;

class ThreadWatch {
 public:
  // Looks at thread `tid` of this process.
  explicit ThreadWatch(std::uint32_t tid);

  // True: it is asleep outside of calls. Allocates nothing, takes no lock, uses no thread-local memory.
  bool look(CallPlace place) noexcept;
  // The same for given facts. now_ns: of any steady clock; asleep: at that time; time: read after that.
  void note(CallPlace place, bool is_asleep, std::uint64_t now_ns, ScheduledTime time) noexcept;

  // Part of the thread's waiting time since the construction that was sleep.
  [[nodiscard]] std::uint64_t wrong_ns() const { return wrong_.load(std::memory_order_relaxed); }
  // At the last look.
  [[nodiscard]] ScheduledTime last() const {
    return {last_cpu_.load(std::memory_order_relaxed), last_waiting_.load(std::memory_order_relaxed)};
  }
  // Looks that found the thread asleep there.
  [[nodiscard]] std::uint32_t asleep(CallPlace place) const {
    return asleep_[static_cast<std::size_t>(place)].load(std::memory_order_relaxed);
  }
  // Looks outside of calls, by reason.
  [[nodiscard]] std::uint32_t asleep_outside_for(SleepReason reason) const {
    return reasons_[static_cast<std::size_t>(reason)].load(std::memory_order_relaxed);
  }
  // The thread's, now.
  [[nodiscard]] ScheduledTime time() const noexcept { return scheduled_time(schedstat_path_.data()); }

 private:
  void compare(bool is_asleep, std::uint64_t now_ns, ScheduledTime time) noexcept;

  std::array<char, 64> stat_path_{}, schedstat_path_{}, wait_channel_path_{};
  // Relaxed: each is a number of its own.
  std::atomic<std::uint64_t> wrong_ = 0, last_cpu_ = 0, last_waiting_ = 0;
  std::array<std::atomic<std::uint32_t>, kCallPlaces> asleep_{};
  std::array<std::atomic<std::uint32_t>, kSleepReasons> reasons_{};
  // Set by who looks; acquire and release: for the members below.
  std::atomic_flag is_looked_at_ = ATOMIC_FLAG_INIT;
  // When the thread was last known not to wait for a processor, and its times then.
  std::uint64_t known_ns_ = 0;
  ScheduledTime known_;
};

}  // namespace ardoise::instrument
