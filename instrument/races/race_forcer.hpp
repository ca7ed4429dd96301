// Forces the calls of a program to what they came to in the recorded run, as a vmpi::CallControl. One for the process.
//
// Why it is enough to give wildcards their recorded source and tag: let the receives of the recorded run that got
// messages of one source, tag and communicator be r1, r2 … in the order of posting. MPI's rule that messages do not
// overtake gave them the messages in the order of sending. In the forced run all of them name just this source and tag,
// nobody else can get such a message (every other receive names another source, tag or communicator, and one that got
// nothing waits where nobody sends), so again the k-th posted gets the k-th sent; and what is sent is the same as long
// as all processes have come the same way to it. Order of posting is that of the thread: where several threads receive
// on one communicator from the same source with the same tag, their order among each other is left open. A probe, at
// the same place in that order, finds the message that the next of these receives will get.
//
// Receives that were cancelled or that never completed are posted on a communicator of our own where nothing is sent.
// MPI_Cancel is not called for receives that got their message all the same.
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

class RaceForcer {
 public:
  using Say = void (*)(std::string_view);
  struct Settings {
    Say say;
    int partition, rank, ranks;
    MPI_Comm world;           // the program's
    bool stops;               // where the program diverges
    double patience_seconds;  // after which a wait is told; 0: never
    std::string folder;       // of the record: names of call sites
    std::string output;       // folder of kRaceDivergences and kRaceEnded; "": none
  };

  RaceForcer(Settings settings, std::unique_ptr<RaceFile> file);

  // "": ready. Makes a communicator, hence while MPI is up.
  [[nodiscard]] std::string start();

  void before(vmpi::Call& call, vmpi::CallOverride& changes);
  void after(vmpi::Call& call, const vmpi::CallOverride& changes);
  void again();
  // The program has come to MPI_Finalize.
  void finish();

  // What stands behind a request of the program.
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
    MPI_Comm comm = MPI_COMM_NULL;  // in which `source` is a rank; MPI_COMM_NULL: see sender
    int sender = -1;                // rank in the world; -1: not known
    bool knows_message = false, told = false;
    bool is_posted = false;         // for a receive that keeps what was forced on it
    bool sender_has_ended = false;  // when that was looked at last
  };
  struct Thread {
    Thread(const RaceFile& file, std::uint32_t its_number) : stream(file, its_number), number(its_number) {}
    RaceStream stream;
    RacePlaces places;
    const std::uint32_t number;
    std::uint64_t decisions = 0, posts = 0;
    const std::vector<Outcome>* outcomes = nullptr;
    std::size_t next_outcome = 0;
    std::vector<std::int32_t> tags;  // of each key, the last
    std::vector<int> kept;
    PostedReceive posted;
    bool posts_now = false;
    Wait wait;
  };

  Thread& thread();
  [[nodiscard]] std::string read_outcomes();
  [[nodiscard]] const Outcome* outcome_of_next_post(Thread& thread);
  // The next decision, if the call is the one that has made it; nullptr: the program has diverged.
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
  // Until the condition holds, which asks MPI; tells once when that takes long.
  void wait_until(Thread& thread, auto&& is_done);
  void begin_wait(Thread& thread, const vmpi::Call& call, vmpi::CallOverride& changes);
  // Another rank has diverged from the record: it may never send what this one waits for.
  [[nodiscard]] bool has_other_diverged() const;
  void give_up(Thread& thread);
  void note_end() const;
  [[nodiscard]] int world_rank(MPI_Comm comm, int rank) const;
  // The sender has ended, or, where that is not known, all other ranks have: a clause. "": not yet.
  [[nodiscard]] std::string who_has_ended(const Wait& wait) const;
  void diverge_from_wait(Thread& thread, const std::string& who);
  [[nodiscard]] int sender_of(MPI_Request request);
  void wait_for_posted(Thread& thread, vmpi::Call& call, vmpi::CallOverride& changes);
  void look_at_clock(Thread& thread);

  const Settings settings_;
  const std::unique_ptr<RaceFile> file_;
  MPI_Comm nowhere_ = MPI_COMM_NULL;  // nothing is sent there
  std::atomic<bool> diverged_ = false;
  std::atomic<std::uint32_t> substitutes_ = 0;  // requests that stand for others
  RaceReceives receives_;
  std::vector<std::vector<Outcome>> outcomes_;  // of each stream, in the order of posting
  Mutex lock_;
  std::vector<std::unique_ptr<Thread>> threads_ GUARDED_BY(lock_);
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local Thread* own_ = nullptr;
};

}  // namespace ardoise::instrument
