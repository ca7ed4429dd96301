// Records outcomes of calls that the program does not determine, as a vmpi::CallControl that changes nothing. One for
// the process, created when MPI is up (process/races.hpp).
//
//   wrapper ──after──▶ the thread's own stream ─┐
//              └ posted receives: stream 0 ─────┴─▶ RaceWriter ──▶ DIR/PARTITION-RANK.races
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "blackboard/threads/mutex.hpp"
#include "instrument/races/race_places.hpp"
#include "instrument/races/race_receives.hpp"
#include "instrument/races/race_writer.hpp"
#include "vmpi/wrappers/call_control.hpp"

namespace ardoise::instrument {

class RaceRecorder {
 public:
  explicit RaceRecorder(RaceWriter::Say say) : writer(say), outcomes_(writer, 0) {}

  RaceWriter writer;  // opened by the creator of the recorder

  void after(vmpi::Call& call, const vmpi::CallOverride& changes);
  // Notes other calls that cannot be forced.
  void note(vmpi::FunctionId function) {
    if (const std::uint32_t seen = kSeen[static_cast<std::size_t>(function)]; seen != 0) [[unlikely]]
      seen_.fetch_or(seen, std::memory_order_relaxed);
  }
  // Called for the calling thread at its end. Does nothing for a thread without a stream.
  void thread_ends();
  void finish();

 private:
  struct Thread {
    Thread(RaceWriter& to, std::uint32_t number) : output(to, number), stream(number) {}
    RaceOutput output;
    RacePlaces places;
    const std::uint32_t stream;
    std::uint64_t posts = 0;                               // number of its posted receives
    std::unordered_map<std::uint32_t, std::int32_t> tags;  // the last tag of each key
    std::vector<std::int32_t> values;
  };
  struct LastOutcome {
    std::uint64_t post = 0;
    std::int32_t tag = 0;
  };
  static const std::array<std::uint32_t, vmpi::kFunctionCount> kSeen;

  Thread& thread();
  void add(Thread& thread, const vmpi::Call& call, std::span<const std::int32_t> values);
  void add_message(Thread& thread, const vmpi::Call& call, bool is_flagged);
  void post(Thread& thread, const vmpi::Call& call);
  void start(Thread& thread, const vmpi::Call& call);
  void complete(const vmpi::Call& call);
  void add_outcome(const PostedReceive& receive, const MPI_Status* status);
  void add_outcome(const PostedReceive& receive, std::int32_t source, std::int32_t tag);

  RaceReceives receives_;
  std::atomic<std::uint32_t> seen_ = 0;
  Mutex lock_;
  std::vector<std::unique_ptr<Thread>> threads_ GUARDED_BY(lock_);
  Mutex outcomes_lock_;
  RaceOutput outcomes_ GUARDED_BY(outcomes_lock_);
  std::vector<LastOutcome> last_ GUARDED_BY(outcomes_lock_);  // per stream
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local Thread* own_ = nullptr;
};

}  // namespace ardoise::instrument
