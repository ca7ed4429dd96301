// The one place where the analyzer waits: for packs of its source, messages of other analyzers, points in time, and
// signals. All of them are called in the thread that runs the loop, which is the one that may call MPI.
//
//   EventLoop loop;
//   const auto blocks = loop.poll([&] { … if (at_end) loop.stop(); return Found::something; });
//   const auto look = loop.every(500ms, [&] { … });
//   loop.on_signal(SIGTERM, [] { … });
//   loop.run();
//
// What only polling can tell (MPI) is polled at full speed while things move, and less and less often when they do not
// (vmpi/streams/backoff.hpp): an idle loop takes less than a hundredth of a processor. Timers and signals end its
// sleeps.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <utility>

namespace ardoise::analyzer {

// What a poll found. arriving: nothing yet, but MPI is at work on a message for us.
enum class Found { nothing, arriving, something };

// Used by one thread. Nothing may be registered or removed inside a call of the loop.
class EventLoop {
  struct Source {
    std::function<Found()> poll;
    std::chrono::steady_clock::duration interval{};  // zero: polled in each round
    std::chrono::steady_clock::time_point due{};
  };

 public:
  using Clock = std::chrono::steady_clock;

  // Takes what was registered out of the loop when it goes.
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

  // Throws std::system_error where the kernel gives no descriptor for the signals.
  EventLoop();
  ~EventLoop();  // its signals are ignored from then on
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Must not wait for long: signals and timers wait for it.
  Registration poll(std::function<Found()> source);
  // The first time at once.
  Registration every(Clock::duration interval, std::function<void()> action);
  // Only one loop of the process can have signals. A signal that comes while the loop does not run has its effect when
  // it does.
  void on_signal(int signal, std::function<void()> action);

  // Until one of the registered calls stop().
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
