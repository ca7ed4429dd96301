// A coroutine that may call others: the body of a simulated rank.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace ardoise::diagnosis {

// Starts when it is awaited or resumed; the awaiting coroutine goes on at its end.
class [[nodiscard]] Task {
 public:
  struct promise_type {
    std::coroutine_handle<> caller = std::noop_coroutine();

    struct ToCaller {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
        return ended.promise().caller;
      }
      void await_resume() noexcept {}
    };
    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    ToCaller final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  [[nodiscard]] std::coroutine_handle<> handle() const { return handle_; }
  [[nodiscard]] bool done() const { return handle_.done(); }

  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
    handle_.promise().caller = caller;
    return handle_;
  }
  void await_resume() const {}

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace ardoise::diagnosis
