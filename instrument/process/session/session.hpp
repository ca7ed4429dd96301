// The measurement of one process: built after MPI_Init, ended before MPI_Finalize, used by the hooks in between. It
// connects the library's entry points (preload.cpp, posix_hooks) with the Recorder.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "instrument/machine/thread_watch.hpp"
#include "instrument/machine/usage.hpp"
#include "instrument/process/session/clock_calibration.hpp"
#include "instrument/process/session/resting_threads.hpp"
#include "instrument/record/mpi_recorder.hpp"
#include "instrument/record/recorder.hpp"
#include "instrument/sampling/sampler.hpp"
#include "instrument/sampling/sleep_places.hpp"
#include "instrument/settings/settings.hpp"
#include "instrument/transport/capture_transport.hpp"
#include "instrument/transport/stream_transport.hpp"
#include "vmpi/vmpi.h"
#include "vmpi/wrappers/observer.hpp"

namespace ardoise::instrument {

class Session {
 public:
  // The destinations of packs; empty members are unused.
  struct Route {
    std::unique_ptr<StreamTransport> stream;
    std::unique_ptr<CaptureTransport> capture;
    [[nodiscard]] Transport* first() const {
      return capture != nullptr ? static_cast<Transport*>(capture.get()) : stream.get();
    }
  };

  Session(const Settings& settings, Route route, const PackIdentity& identity, const SynchronizedClock& clock,
          const ClockSample& loaded, int thread_level, const SamplerSettings& sampler_settings);

  // Defines the process and its world, measures the cost of a record, and starts recording. False: failed. threads:
  // those that ran before MPI_Init; threads that MPI started for itself do not belong to the program.
  [[nodiscard]] bool start(std::uint64_t init_begin, std::span<const std::uint32_t> threads);
  // Sends the rest. The caller is the thread in MPI_Finalize.
  void finish();

  // Writes the packs that the analyzer may lack into a file. Called by the survivor (survivor.hpp) when all threads are
  // dead and finish() was not reached. wait_status: the end of the process in the format of waitpid(2); -1: not known.
  void write_unsent(const std::string& folder, const std::string& name, int wait_status) noexcept;

  // The known times of the thread that called MPI_Init and of the process, at some moment.
  // Callable from the survivor.
  [[nodiscard]] UsageDefinition usage_at(ScheduledTime time, std::uint64_t process_cpu_ns) const noexcept;

  // The calling thread begins and is sampled from now on.
  void thread_began() noexcept;
  // The calling thread, the owner of this recorder, ends.
  void thread_ends(ThreadRecorder& thread);
  // The recorder of the calling thread, created at its first event; nullptr: out of memory, or the thread is ending.
  // May wait.
  [[nodiscard]] ThreadRecorder* thread();
  // The same, but only if it exists. Async-signal-safe.
  [[nodiscard]] ThreadRecorder* known_thread() noexcept;
  [[nodiscard]] int thread_level() const { return thread_level_; }
  const bool has_call_stacks;       // each call's calling context is recorded with it
  const bool any_thread_calls_mpi;  // concurrently: MPI_THREAD_MULTIPLE
  Recorder recorder;
  MpiRecorder mpi;
  Sampler sampling;
  // They look at the thread that called MPI_Init; from start() on.
  std::optional<ThreadWatch> watch;
  std::optional<SleepPlaces> sleep_places;

 private:
  void retire(const RestingThread& thread);
  void retire_rested();
  void define_process(std::uint64_t init_begin);
  void find_python();
  void define_clock(std::uint64_t end_tick, double rate);
  void define_usage();

  const Settings settings_;
  std::uint32_t main_thread_ = 0;  // tid of the thread that called MPI_Init
  std::unique_ptr<python::Interpreter> python_;
  HostMemory host_memory_;
  Usage usage_before_{};  // at the end of MPI_Init
  ScheduledTime scheduled_before_;
  Route route_;
  const SynchronizedClock clock_;
  const ClockSample loaded_;
  const int thread_level_;
  RestingThreads resting_;
};

// This thread is in MPI_Init.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local bool starts_mpi = false;

// The session of this process; nullptr: nothing is recorded. Never destroyed. Acquire: its members are built.
extern std::atomic<Session*> session;

// The observer of calls without a session; nullptr: none. Acquire: it is built.
extern std::atomic<const vmpi::Observer*> idle_observer;

// Stops recording for good: no session, and no observer but the idle one. Prints the reason as one line on standard
// error. The program continues.
void switch_off(std::string_view why) noexcept;
// Prints one line with the prefix "ardoise: ", by a direct system call.
void say(std::string_view sentence) noexcept;
// The recorder of the calling thread, if the thread recorded an MPI call or its begin was seen. Async-signal-safe.
[[nodiscard]] ThreadRecorder* recording_thread() noexcept;

// The program of this process; valid while MPI is up.
[[nodiscard]] const VMPI_Program_desc& own_program() noexcept;

// Ticks to record an ended call with warm caches, on this machine now: the mean of calls in a row, and the time of a
// call measured alone. The shortest of several batches, written into separate memory.
struct RecordTime {
  double in_a_row = 0, timed = 0;
};
[[nodiscard]] RecordTime measure_record();

}  // namespace ardoise::instrument
