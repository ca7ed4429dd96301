// A Session for tests, never started: its thread has a recorder, and the test records by hand.
#pragma once

#include <memory>

#include "instrument/machine/clock.hpp"
#include "instrument/process/session/session.hpp"

namespace ardoise::instrument {

struct MadeSession {
  static constexpr double kTicksPerSecond = 1e9;  // as the packs say; the clock runs as it does

  MadeSession(std::uint32_t partition, std::uint32_t rank, int thread_level = MPI_THREAD_SINGLE)
      : identity{vmpi::kTableHash, partition, rank, 0, kTicksPerSecond},
        session(Settings{}, route(), identity, SynchronizedClock{now(), 0, kTicksPerSecond, 0, 0, 0}, ClockSample{},
                thread_level, SamplerSettings{}) {
    session.recorder.active.store(true);
    thread = session.thread();
  }

  // A call of MPI that began at `begin` and took 10 ticks.
  void record_barrier(std::uint64_t begin = now()) {
    vmpi::Call call{vmpi::FunctionId::kBarrier};
    call.return_address = &kSite;
    call.begin = begin;
    const ActivityScope scope(thread->activity, Activity::kRecording, session.recorder.active);
    session.mpi.record(*thread, call, begin + 10);
  }

  const PackIdentity identity;
  Session session;
  ThreadRecorder* thread = nullptr;

 private:
  static inline constexpr int kSite = 0;
  // A file that takes nothing: the packs stay in memory.
  static Session::Route route() {
    Session::Route made;
    made.capture = std::make_unique<CaptureTransport>(-1, nullptr);
    return made;
  }
};

}  // namespace ardoise::instrument
