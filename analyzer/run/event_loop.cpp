#include "analyzer/run/event_loop.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>
#include <utility>

#include "vmpi/streams/backoff.hpp"

namespace ardoise::analyzer {
namespace {

// Data of the signal handler. Both relaxed: they publish no other data.
std::atomic<int> wakeup_of_handler{-1};
std::atomic<std::uint64_t> pending{0};  // a bit for each signal
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

extern "C" void note_signal(int signal) {
  const int error = errno;
  pending.fetch_or(std::uint64_t{1} << signal, std::memory_order_relaxed);
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wakeup_of_handler.load(std::memory_order_relaxed), &one, sizeof one);
  errno = error;
}

}  // namespace

EventLoop::EventLoop() : wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wakeup_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

EventLoop::~EventLoop() {
  for (const auto& [signal, action] : signals_) std::signal(signal, SIG_IGN);
  if (!signals_.empty()) wakeup_of_handler.store(-1, std::memory_order_relaxed);
  ::close(wakeup_);
}

EventLoop::Registration EventLoop::poll(std::function<Found()> source) { return {sources_, {std::move(source)}}; }

EventLoop::Registration EventLoop::every(Clock::duration interval, std::function<void()> action) {
  return {sources_, {[action = std::move(action)] { return action(), Found::nothing; }, interval, Clock::now()}};
}

void EventLoop::on_signal(int signal, std::function<void()> action) {
  signals_[signal] = std::move(action);
  wakeup_of_handler.store(wakeup_, std::memory_order_relaxed);
  struct sigaction handler {};
  handler.sa_handler = note_signal;
  handler.sa_flags = SA_RESTART;
  ::sigaction(signal, &handler, nullptr);
}

void EventLoop::run() {
  constexpr std::chrono::milliseconds kLongestSleep(16);
  vmpi::Backoff backoff(kLongestSleep);
  Found before = Found::nothing;
  for (stopped_ = false; !stopped_;) {
    handle_signals();
    const Found found = poll_all();
    if (stopped_) return;
    if (found > before || found == Found::something) backoff.reset();
    before = found;
    if (found == Found::something) continue;
    const bool has_polled = std::ranges::any_of(sources_, [](const auto& each) { return each.interval.count() == 0; });
    const auto expects = found == Found::arriving ? vmpi::Backoff::Expects::transfer : vmpi::Backoff::Expects::anything;
    if (const auto pause = has_polled ? backoff.next_sleep(expects) : Clock::duration::max(); pause.count() > 0)
      sleep(pause);
  }
}

Found EventLoop::poll_all() {
  Found most = Found::nothing;
  for (Source& source : sources_) {
    if (stopped_) break;
    if (source.interval.count() != 0) {
      const auto now = Clock::now();
      if (now < source.due) continue;
      source.due = now + source.interval;
    }
    most = std::max(most, source.poll());
  }
  return most;
}

void EventLoop::sleep(Clock::duration at_most) {
  for (const Source& source : sources_) {
    if (source.interval.count() != 0) at_most = std::min(at_most, source.due - Clock::now());
  }
  if (at_most.count() <= 0) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at_most);
  const timespec limit{seconds.count(), static_cast<long>((at_most - seconds).count())};
  pollfd wakeup{wakeup_, POLLIN, 0};
  if (::ppoll(&wakeup, 1, at_most == Clock::duration::max() ? nullptr : &limit, nullptr) > 0) {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto emptied = ::read(wakeup_, &count, sizeof count);
  }
}

void EventLoop::handle_signals() {
  if (pending.load(std::memory_order_relaxed) == 0) return;
  const auto arrived = pending.exchange(0, std::memory_order_relaxed);
  for (const auto& [signal, action] : signals_) {
    if ((arrived >> signal & 1) != 0) action();
  }
}

}  // namespace ardoise::analyzer
