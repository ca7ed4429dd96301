#include "tools/ardoise/report/report_signals.hpp"

#include <array>
#include <utility>

#include "reports/child_process.hpp"

namespace ardoise::launcher {
namespace {

constexpr std::array kHeld{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE};

using Dispositions = std::vector<std::pair<int, struct sigaction>>;

Dispositions handle(std::span<const int> signals, void (*handler)(int)) {
  Dispositions before;
  for (const int signal : signals) {
    struct sigaction old {};
    sigaction(signal, nullptr, &old);
    if (old.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
    before.emplace_back(signal, old);
  }
  return before;
}

void restore(const Dispositions& before) {
  for (const auto& [signal, action] : before) sigaction(signal, &action, nullptr);
}

}  // namespace

UndisturbedReport::UndisturbedReport() : before_(handle(kHeld, [](int) {})) {}
UndisturbedReport::~UndisturbedReport() { restore(before_); }

InterruptibleRendering::InterruptibleRendering(std::span<const int> signals)
    : before_(handle(signals, [](int) { reports::interrupt_children(true); })) {}

InterruptibleRendering::~InterruptibleRendering() {
  restore(before_);
  reports::interrupt_children(false);
}

}  // namespace ardoise::launcher
