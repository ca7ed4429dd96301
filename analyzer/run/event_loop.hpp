// The one place where the analyzer waits: for packs of its source, messages of other analyzers, timers, and signals.
// All callbacks run in the loop's thread, which is the one that may call MPI.
//
//   EventLoop loop;
//   const auto blocks = loop.poll([&] { … if (at_end) loop.stop(); return Found::something; });
//   const auto look = loop.every(500ms, [&] { … });
//   loop.on_signal(SIGTERM, [] { … });
//   loop.run();
//
// MPI is polled at full speed under traffic, and less and less often when idle (vmpi/streams/backoff.hpp): an idle loop
// takes less than 1 % of a processor. Timers and signals end its sleeps.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <utility>

namespace ardoise::analyzer {

// Result of a poll. arriving: nothing yet, but MPI is transferring a message to us.
enum class Found { nothing, arriving, something };

// Used by one thread. Callbacks must not register or remove anything.
class EventLoop {
  struct Source {
    std::function<Found()> poll;
    std::chrono::steady_clock::duration interval{};  // zero: polled in each round
    std::chrono::steady_clock::time_point due{};
  };

 public:
  using Clock = std::chrono::steady_clock;

  // Removes its callback from the loop at the end of its lifetime.
  class [[nodiscard]] Registration {
   public:
    Registration(std::list<Source>& sources, Source source)
        : sources_(sources), place_(sources.insert(sources.end(), std::move(source))) {}
    ~Registration() { sources_.erase(place_); }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

   private:
    std::list<Source>& sources_;
    std::list<Source>::iterator place_;
  };

  // Throws std::system_error if the kernel gives no descriptor for the signals.
  EventLoop();
  ~EventLoop();  // its signals are ignored from then on
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Must not block for long: signals and timers wait for it.
  Registration poll(std::function<Found()> source);
  // First called at once.
  Registration every(Clock::duration interval, std::function<void()> action);
  // Only one loop of the process can have signals. A signal that arrives while the loop does not run takes effect when
  // it runs again.
  void on_signal(int signal, std::function<void()> action);

  // Until a callback calls stop().
  void run();
  void stop() { stopped_ = true; }

 private:
  Found poll_all();
  void sleep(Clock::duration at_most);
  void handle_signals();

  std::list<Source> sources_;
  std::map<int, std::function<void()>> signals_;
  int wakeup_ = -1;  // an eventfd that the signal handler writes to
  bool stopped_ = false;
};

}  // namespace ardoise::analyzer
