// Forces the calls of a program to their outcomes in the recorded run, as a vmpi::CallControl. One for the process.
//
// Why it is enough to replace wildcards by the recorded source and tag: let r1, r2 … be the receives of the recorded
// run, in the order of posting, that got messages of one source, tag and communicator. By MPI's rule that messages do
// not overtake, they got the messages in the order of sending. In the forced run all of them name exactly this source
// and tag. No other receive can get such a message: every other one names another source, tag or communicator, and one
// that got no message waits on a communicator without senders. So again the kth posted receive gets the kth message
// sent; and the messages are the same as long as all processes have behaved the same so far. The order of posting is
// that of the thread: if several threads receive on one communicator from the same source with the same tag, their
// relative order is not forced. A probe at the same place in that order finds the message that the next of these
// receives will get.
//
// Receives that were cancelled or never completed are posted on a private communicator without senders. MPI_Cancel is
// not called for receives that were cancelled too late, after their message.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "blackboard/threads/mutex.hpp"
#include "instrument/format/race_file.hpp"
#include "instrument/races/race_places.hpp"
#include "instrument/races/race_receives.hpp"
#include "vmpi/wrappers/call_control.hpp"

namespace ardoise::instrument {

[[nodiscard]] std::uint64_t monotonic_nanoseconds();

class RaceForcer {
 public:
  using Say = void (*)(std::string_view);
  struct Settings {
    Say say;
    int partition, rank, ranks;
    MPI_Comm world;           // the program's world
    bool stops;               // stop the program when it diverges
    double patience_seconds;  // a wait that takes longer is reported; 0: never
    std::string folder;       // of the record, with the names of call sites
    std::string output;       // folder of kRaceDivergences and kRaceEnded; "": none
    std::uint64_t (*nanoseconds)() = monotonic_nanoseconds;
  };

  RaceForcer(Settings settings, std::unique_ptr<RaceFile> file);

  // "": ready. Creates a communicator, so MPI must be up.
  [[nodiscard]] std::string start();

  void before(vmpi::Call& call, vmpi::CallOverride& changes);
  void after(vmpi::Call& call, const vmpi::CallOverride& changes);
  void again();
  // The program reached MPI_Finalize.
  void finish();

  // The real request behind a request of the program.
  [[nodiscard]] MPI_Request behind(MPI_Request request);

 private:
  struct Outcome {
    std::uint64_t post;
    std::int32_t source, tag;
  };
  struct Wait {
    const vmpi::Call* call = nullptr;
    vmpi::CallOverride* changes = nullptr;
    std::uint64_t begin_ns = 0, looked_ns = 0;
    std::uint64_t rounds = 0;
    std::int32_t source = 0, tag = 0;
    MPI_Comm comm = MPI_COMM_NULL;  // the communicator in which `source` is a rank; MPI_COMM_NULL: see sender
    int sender = -1;                // rank in the world; -1: not known
    bool knows_message = false, told = false;
    bool is_posted = false;         // for a receive that has its outcome forced at posting
    bool sender_has_ended = false;  // at the last check
  };
  struct Thread {
    Thread(const RaceFile& file, std::uint32_t its_number) : stream(file, its_number), number(its_number) {}
    RaceStream stream;
    RacePlaces places;
    const std::uint32_t number;
    std::uint64_t decisions = 0, posts = 0;
    const std::vector<Outcome>* outcomes = nullptr;
    std::size_t next_outcome = 0;
    std::vector<std::int32_t> tags;  // the last tag of each key
    std::vector<int> kept;
    PostedReceive posted;
    bool posts_now = false;
    Wait wait;
  };

  Thread& thread();
  [[nodiscard]] std::string read_outcomes();
  [[nodiscard]] const Outcome* outcome_of_next_post(Thread& thread);
  // The next decision, if this call is the one that made it; nullptr: the program diverged.
  [[nodiscard]] const RaceEntry* next(Thread& thread, const vmpi::Call& call, std::size_t values);
  std::nullptr_t diverge(Thread& thread, const std::string& recorded, const vmpi::Call& call, const std::string& why);
  [[nodiscard]] std::string named(const RaceKey& key);
  void note_divergence(const RaceKey& key);
  void append_to(const char* name, const void* bytes, std::size_t size) const;  // in the output folder

  void pin(vmpi::CallOverride& changes, std::int32_t source, std::int32_t tag) const;
  void pin_unmatched(vmpi::CallOverride& changes) const;
  void pin_message(Thread& thread, const RaceEntry& entry, std::size_t first, vmpi::Call& call,
                   vmpi::CallOverride& changes);
  void force_post(Thread& thread, vmpi::Call& call, vmpi::CallOverride& changes);
  void force_start(Thread& thread, vmpi::Call& call, vmpi::CallOverride& changes);
  int start_instead(Thread& thread, MPI_Request request, const PostedReceive& receive, bool& is_open);
  void force_test(Thread& thread, vmpi::Call& call, vmpi::CallOverride& changes);
  void force_any(Thread& thread, vmpi::Call& call, vmpi::CallOverride& changes);
  void force_some(Thread& thread, vmpi::Call& call, vmpi::CallOverride& changes);
  void skip(vmpi::CallOverride& changes);
  // Waits until the condition, which calls MPI, holds. Reports a long wait once.
  void wait_until(Thread& thread, auto&& is_done);
  void begin_wait(Thread& thread, const vmpi::Call& call, vmpi::CallOverride& changes);
  // Another rank diverged from the record and may never send the awaited message.
  [[nodiscard]] bool has_other_diverged() const;
  void give_up(Thread& thread);
  void note_end() const;
  [[nodiscard]] int world_rank(MPI_Comm comm, int rank) const;
  // A clause if the sender, or, when it is unknown, every other rank has ended; "" otherwise.
  [[nodiscard]] std::string who_has_ended(const Wait& wait) const;
  void diverge_from_wait(Thread& thread, const std::string& who);
  [[nodiscard]] int sender_of(MPI_Request request);
  void wait_for_posted(Thread& thread, vmpi::Call& call, vmpi::CallOverride& changes);
  void look_at_clock(Thread& thread);

  const Settings settings_;
  const std::unique_ptr<RaceFile> file_;
  MPI_Comm nowhere_ = MPI_COMM_NULL;  // communicator without messages
  std::atomic<bool> diverged_ = false;
  std::atomic<std::uint32_t> substitutes_ = 0;  // requests that replace others
  RaceReceives receives_;
  std::vector<std::vector<Outcome>> outcomes_;  // per stream, in the order of posting
  Mutex lock_;
  std::vector<std::unique_ptr<Thread>> threads_ GUARDED_BY(lock_);
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local Thread* own_ = nullptr;
};

}  // namespace ardoise::instrument
