// The cost of one sample from the handler's entry to its exit, with 16 frames on the stack, with and without frame
// pointers; beside it backtrace() of the C library (the compiler's unwinder) in a separate handler. The benchmark sends
// the signals to itself; runs are interleaved, medians are printed.
#include <execinfo.h>
#include <fmt/core.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <memory>
#include <optional>
#include <vector>

#include "instrument/machine/clock.hpp"
#include "instrument/sampling/sampler.hpp"
#include "instrument/transport/transport.hpp"

extern "C" int frames_fp(int depth, void (*at_the_bottom)());
extern "C" int frames_no_fp(int depth, void (*at_the_bottom)());

namespace {

using namespace ardoise::instrument;

class Nowhere final : public Transport {
 public:
  [[nodiscard]] bool send(Bin* bin, std::size_t) override {
    bins_.push_back(bin);
    return true;
  }
  [[nodiscard]] Bin* reclaim(bool) override {
    if (bins_.empty()) return nullptr;
    Bin* const bin = bins_.back();
    bins_.pop_back();
    return bin;
  }
  [[nodiscard]] bool close() override { return true; }

 private:
  std::vector<Bin*> bins_;
};

constexpr int kSamplerSignal = SIGSTKFLT, kRivalSignal = SIGUSR2;
std::uint64_t rival_ticks = 0;
void* rival_frames[64];

void rival(int, siginfo_t*, void*) {
  const std::uint64_t begin = now();
  (void)backtrace(rival_frames, 64);
  rival_ticks = now() - begin;
}

int signal_to_send = 0;
void send_signal() { ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), signal_to_send); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

double ns_per_tick() {
  timespec begin{}, end{};
  ::clock_gettime(CLOCK_MONOTONIC, &begin);
  const std::uint64_t first = now();
  ::usleep(50'000);
  const std::uint64_t last = now();
  ::clock_gettime(CLOCK_MONOTONIC, &end);
  return (static_cast<double>(end.tv_sec - begin.tv_sec) * 1e9 + static_cast<double>(end.tv_nsec - begin.tv_nsec)) /
         static_cast<double>(last - first);
}

}  // namespace

int main() {
  Nowhere nowhere;
  const double scale = ns_per_tick();
  timespec time{};
  const std::uint64_t begin = now();
  for (int i = 0; i < 10'000; ++i) ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  const double clock = static_cast<double>(now() - begin) * scale / 10'000;
  auto recorder = std::make_unique<Recorder>(Settings{}, nowhere, PackIdentity{}, std::uint64_t{1} << 62, true);
  SamplerSettings settings;
  settings.share = 0;
  // At the default rate the timer interrupts occasionally as well, which the medians ignore.
  auto sampling = std::make_unique<Sampler>(*recorder, settings, 1e9 / scale,
                                            [](std::string_view sentence) { fmt::print("{}\n", sentence); });
  ThreadRecorder* const thread = recorder->threads.adopt(now());
  if (!sampling->start() || !sampling->adopt_current(*thread) || sampling->signal() != kSamplerSignal) return 1;
  struct sigaction action {};
  action.sa_sigaction = rival;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(kRivalSignal, &action, nullptr);

  constexpr int kFrames = 13;  // with main and what the C library has around it, and this file's, 16 or a little more
  constexpr int kRounds = 4000;
  std::vector<double> with, without, rivals;
  for (int i = 0; i < kRounds; ++i) {
    signal_to_send = kSamplerSignal;
    const auto sample = [&](auto* frames, std::vector<double>& into) {
      const std::uint64_t before = current_sampled->counts.handler_ticks;
      frames(kFrames, send_signal);
      into.push_back(static_cast<double>(current_sampled->counts.handler_ticks - before) * scale);
    };
    sample(frames_fp, with);
    sample(frames_no_fp, without);
    signal_to_send = kRivalSignal;
    frames_no_fp(kFrames, send_signal);
    rivals.push_back(static_cast<double>(rival_ticks) * scale);
  }
  sampling->stop();
  const double fp = median(with), no_fp = median(without), other = median(rivals);
  fmt::print("one sample, {} frames, handler entry to exit (of which {:.0f} ns ask the kernel for the CPU time):\n",
             kFrames + 3, clock);
  fmt::print("  with frame pointers     {:6.0f} ns\n  without frame pointers  {:6.0f} ns\n", fp, no_fp);
  fmt::print("  backtrace() alone       {:6.0f} ns\n", other);
  fmt::print("bench: sample_fp_us={:.2f} sample_no_fp_us={:.2f} sample_backtrace_ratio={:.2f}\n", fp / 1000,
             no_fp / 1000, other / no_fp);
  return 0;
}
