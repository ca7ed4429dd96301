// One program's process under observation: built after MPI_Init, ended before MPI_Finalize, and what the hooks ask in
// between. The seam between the library's entry points (preload.cpp, posix_hooks) and the Recorder.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "instrument/machine/usage.hpp"
#include "instrument/process/session/clock_calibration.hpp"
#include "instrument/process/session/resting_threads.hpp"
#include "instrument/record/mpi_recorder.hpp"
#include "instrument/record/recorder.hpp"
#include "instrument/sampling/sampler.hpp"
#include "instrument/settings/settings.hpp"
#include "instrument/transport/capture_transport.hpp"
#include "instrument/transport/stream_transport.hpp"
#include "vmpi/vmpi.h"
#include "vmpi/wrappers/observer.hpp"

namespace ardoise::instrument {

class Session {
 public:
  // Where the packs go; empty members are not there.
  struct Route {
    std::unique_ptr<StreamTransport> stream;
    std::unique_ptr<CaptureTransport> capture;
    [[nodiscard]] Transport* first() const {
      return capture != nullptr ? static_cast<Transport*>(capture.get()) : stream.get();
    }
  };

  Session(const Settings& settings, Route route, const PackIdentity& identity, const SynchronizedClock& clock,
          const ClockSample& loaded, int thread_level, const SamplerSettings& sampler_settings);

  // Defines the process and its world, measures what a record costs, and starts to record. False: not possible.
  // threads: those that ran before MPI_Init; the ones that MPI has started for itself are not the program's.
  [[nodiscard]] bool start(std::uint64_t init_begin, std::span<const std::uint32_t> threads);
  // Sends what is left. The caller is the thread in MPI_Finalize.
  void finish();

  // All threads of the process have died, and it had not come to finish(): the packs that the analyzer may not have go
  // into a file. By the survivor (survivor.hpp).
  // wait_status: how the process ended, as waitpid(2) gives it; -1: not known.
  void write_remains(const std::string& folder, const std::string& name, int wait_status) noexcept;

  // The calling thread begins: it is sampled from now on.
  void thread_began() noexcept;
  // The calling thread, whose recorder this is, ends.
  void thread_ends(ThreadRecorder& thread);
  // The calling thread's recorder, made at its first event; nullptr: out of memory, or the thread is ending. May wait.
  [[nodiscard]] ThreadRecorder* thread();
  // The same, if it was made already. Async-signal-safe.
  [[nodiscard]] ThreadRecorder* known_thread() noexcept;
  [[nodiscard]] int thread_level() const { return thread_level_; }
  const bool has_call_stacks;       // each call's calling context is recorded with it
  const bool any_thread_calls_mpi;  // at the same time as others: MPI_THREAD_MULTIPLE
  Recorder recorder;
  MpiRecorder mpi;
  Sampler sampling;

 private:
  void retire(const RestingThread& thread);
  void retire_rested();
  void define_process(std::uint64_t init_begin);
  void find_python();
  void define_clock(std::uint64_t end_tick, double rate);
  void define_usage();

  const Settings settings_;
  std::uint32_t main_thread_ = 0;  // tid of the one that called MPI_Init
  std::unique_ptr<python::Interpreter> python_;
  HostMemory host_memory_;
  Usage usage_before_{};  // at the end of MPI_Init
  Route route_;
  const SynchronizedClock clock_;
  const ClockSample loaded_;
  const int thread_level_;
  RestingThreads resting_;
};

// The session of this process, nullptr when nothing is recorded. Never destroyed. Acquire: its members are built.
extern std::atomic<Session*> session;

// Who is told of calls when there is no session; nullptr: nobody. Acquire: it is built.
extern std::atomic<const vmpi::Observer*> idle_observer;

// Stops recording for good: no session, and no observer but the idle one. Says why in one line on standard error; the
// program goes on.
void switch_off(std::string_view why) noexcept;
// One line, "ardoise: " in front, by a direct system call.
void say(std::string_view sentence) noexcept;
// The recorder of the calling thread, if that has recorded an MPI call or was seen to begin. Async-signal-safe.
[[nodiscard]] ThreadRecorder* recording_thread() noexcept;

// Of this process; while MPI is up.
[[nodiscard]] const VMPI_Program_desc& own_program() noexcept;

// Ticks of one record with its two clock reads, on this machine now: the shortest of several batches into memory of
// its own.
// Ticks that it takes to record a call that has ended, where everything is at hand: one of many, and timed alone.
struct RecordTime {
  double in_a_row = 0, timed = 0;
};
[[nodiscard]] RecordTime measure_record();

}  // namespace ardoise::instrument
