// The collectives and messages of one rank. Packs arrive in any order and are put into that of their thread; the
// operations that its calls start and end become its parts in collectives, counted by communicator, and ends of
// messages, in MPI's matching order. They are passed on for matching when the communicator is defined.
//
// If records of a rank were aggregated for lack of memory, or a pack is missing, counting stops there: all later calls
// are unresolved. Memory: unfinished operations (post_order.hpp); counted on the blackboard: early packs
// (in_order.hpp), and parts on communicators whose definition has not arrived. A communicator takes some 200 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "instrument/format/definitions.hpp"
#include "instrument/format/event_reader.hpp"
#include "knowledge_sources/contexts/rank_places.hpp"
#include "knowledge_sources/interface/in_order.hpp"
#include "knowledge_sources/interface/kept_bytes.hpp"
#include "knowledge_sources/matching/post_order.hpp"
#include "knowledge_sources/matching/started.hpp"
#include "knowledge_sources/plugins/waits/latest_samples.hpp"
#include "knowledge_sources/plugins/waits/messages.hpp"
#include "knowledge_sources/plugins/waits/open_collectives.hpp"
#include "knowledge_sources/plugins/waits/rank_timeline.hpp"
#include "knowledge_sources/plugins/waits/rank_windows.hpp"

namespace ardoise::knowledge_sources {

// The records of one pack, and their conversion to time.
struct PackRecords {
  std::span<const instrument::MpiRecord> records;
  std::uint64_t origin_tick;
  double ns_per_tick;
  bool folded;           // records before or among them are missing
  bool several_threads;  // of the process have made MPI calls up to the pack
};

// Contributions of a rank to operations.
struct InCollective {
  CollectiveKey key;
  std::uint32_t function;
  Arrival arrival;
};
struct EndOfMessage {
  Channel channel;
  bool sends;
  std::uint32_t queue;  // for RankCalls::channel_hint()
  Part part;
};
struct OfNoKind {  // an unmatched operation of a call that also completes others
  Part part;
};
using Arrived = std::variant<InCollective, EndOfMessage, OfNoKind, NeighbourPair>;

// Passes them on in groups that fit the caches. Not thread safe.
class Arrivals {
 public:
  // room: reused memory.
  Arrivals(std::vector<Arrived>& room, std::function<void(std::span<const Arrived>)> use)
      : list_(room), use_(std::move(use)) {
    list_.clear();
  }
  template <class One>
  void add(const One& one) {
    list_.emplace_back(one);
    if (list_.size() >= kSome) flush();
  }
  void flush() {
    if (!list_.empty()) use_(list_);
    list_.clear();
  }

 private:
  static constexpr std::size_t kSome = 128;
  std::vector<Arrived>& list_;
  std::function<void(std::span<const Arrived>)> use_;
};

// Not thread safe.
class RankCalls {
 public:
  // slots: of its timeline.
  RankCalls(std::uint32_t rank, std::uint32_t slots) : rank_(rank), timeline_(slots), windows_(rank) {}

  // Before the first pack; the board outlives the object's use.
  void count_on(blackboard::Blackboard& board);

  // Each adds to `out` what is known now.
  void add(std::uint32_t thread, std::uint64_t order, const PackRecords& pack, Arrivals& out);
  // Missing packs and definitions will not arrive.
  void give_up_missing(Arrivals& out);
  struct CommDefinition {
    std::uint32_t number, own_rank;
    CommIdentity identity;
    bool within_world;  // no intercommunicator, and no ranks outside MPI_COMM_WORLD
  };
  void define(const CommDefinition& definition, Arrivals& out);
  // Size of its MPI_COMM_WORLD.
  void set_world(std::uint32_t ranks) { world_ranks_ = ranks; }
  void set_clock_error(double ns) {
    clock_error_ = ns;
    windows_.set_clock_error(ns);
  }
  // On the program's time axis.
  void set_init(double begin, double end) { init_ = {begin, end}; }
  void set_finalize(double begin) { finalize_ = begin; }
  // After all packs of the rank: its MPI_Init and MPI_Finalize, if known. Once.
  void add_init_and_finalize(Arrivals& out);

  // For Messages::add(): the hint of the ends of this queue.
  [[nodiscard]] std::uint32_t& channel_hint(const EndOfMessage& end) {
    return (end.sends ? sends_ : receives_).label(end.queue);
  }

  // Its part in epochs of windows.
  [[nodiscard]] RankWindows& windows() { return windows_; }
  // Sampled places of the rank: Stretch::place.
  [[nodiscard]] const std::vector<SampledPlace>& places() const { return places_.places(); }
  // Timeline of the rank's first thread.
  [[nodiscard]] const RankTimeline& timeline() const { return timeline_; }

  // After the last pack: unmatched operations.
  [[nodiscard]] Unresolved unresolved_calls() const;
  [[nodiscard]] Unresolved unresolved_ends() const;

 private:
  struct Comm {
    std::array<std::uint64_t, kCallOrders> calls{};  // so far, of each order
    CommIdentity identity{};
    std::uint32_t own_rank = 0, thread = 0, receives_ended = 0;
    bool defined = false, within_world = true, several_threads = false;
    bool has_ended = false;  // a collective on it has ended, at:
    ThreadProgress last{};
  };
  struct Collective {
    Part part;
    std::uint64_t number;  // on its communicator
    std::uint32_t comm, function;
    std::int32_t root;
  };
  struct MessageEnd {
    MessageKey key;
    bool sends;
    std::uint32_t queue;
  };
  struct EarlyMessage {
    MessageEnd end;
    Part part;
  };
  struct ToNeighbour {
    std::uint64_t number;  // of the collective on its communicator
    std::uint32_t comm, destination;
  };
  using Early = std::variant<Collective, EarlyMessage, ToNeighbour>;
  struct Started {  // a message that another call completes
    bool sends;
    bool never_waits;     // a buffered send
    bool is_short;        // a send that rarely waits for the receiver
    std::uint32_t place;  // index in sends_ or receives_
    std::uint32_t comm;
  };
  struct Ended {
    Started started;
    std::int32_t peer, tag;  // of a receive
    bool cancelled;
    bool never_waits = false;  // in the completing call
  };
  struct KeptPack {
    std::vector<instrument::MpiRecord> records;
    PackRecords pack;
  };
  struct Probed {
    MessageKey key;
    Part part;
    CallMoments call;
  };
  struct Thread {
    bool has_called = false;  // a thread may only make marks
    InOrder<KeptPack> packs;
    ThreadProgress now{};        // without its time
    ThreadProgress last_wait{};  // end of the last call in which it could wait, else of MPI_Init
    CallMoments call{};          // the latest
    LatestSamples samples;
    Part completing{};  // the call that ends operations, while its completions arrive
    CallMoments completing_call{};
    bool is_completing = false;
    bool asks = false;  // its latest calls ask for messages, or test requests, and have got nothing, since:
    ThreadProgress asks_since{};
    std::int32_t left = 0;  // completions still to come, if all operations are known
    std::vector<Ended> ended;
    std::vector<Collective> ended_collectives;
  };
  class Reader;

  [[nodiscard]] Thread& thread_of(std::uint32_t number);
  void deliver(std::uint32_t number, Thread& thread, const PackRecords& pack, bool after_gap, Arrivals& out);
  void deliver(std::uint32_t number, Thread& thread, const KeptPack& kept, bool after_gap, Arrivals& out);
  void end_completing(Thread& thread, Arrivals& out);
  void end_message(Thread& thread, const Ended& ended, Part part, Arrivals& out);
  void add_message(Thread& thread, bool sends, const MessageKey& key, Part part, const CallMoments& call,
                   Arrivals& out);
  void pass_on(const Thread& thread, bool sends, Arrivals& out);
  [[nodiscard]] Comm& comm_of(std::uint32_t number) {
    if (last_known_ == nullptr || number != last_comm_) {
      last_known_ = &comms_[number];
      last_comm_ = number;
    }
    return *last_known_;
  }
  void place(const Collective& call, Arrivals& out);
  void place(const ToNeighbour& pair, Arrivals& out);
  void place(const MessageEnd& message, const Part& part, Arrivals& out);
  void keep(std::uint32_t comm, const Early& early);
  [[nodiscard]] std::vector<Early> take_early(std::uint32_t comm);
  [[nodiscard]] Unresolved early(bool messages) const;
  // The clock is defined before communicators are.
  [[nodiscard]] Part with_error(Part part) const {
    part.clock_error = static_cast<float>(clock_error_);
    return part;
  }
  enum class Reason : std::uint8_t { kNone, kFolded, kBeyondRoom, kSeveralThreads };
  void give_up_messages(Reason reason);
  void count_given_up(std::uint64_t ends);

  std::uint32_t rank_;             // in the world
  std::uint32_t world_ranks_ = 0;  // 0: not known
  double clock_error_ = 0;         // ns
  std::optional<std::pair<double, double>> init_;
  std::optional<double> finalize_;
  bool has_init_and_finalize_ = false;
  bool folded_ = false;
  Reason given_up_ = Reason::kNone;  // messages
  std::uint32_t calls_ = 0;          // that completed several operations
  std::map<std::uint32_t, Thread> threads_;
  std::uint32_t calling_threads_ = 0;  // number of threads that make calls
  std::map<std::uint32_t, Comm> comms_;
  std::uint32_t last_comm_ = 0;  // most calls use the same communicator as the previous one
  Comm* last_known_ = nullptr;
  PostOrder sends_{PostOrder::Of::kSends}, receives_{PostOrder::Of::kReceives};
  std::vector<EndInOrder> in_order_;  // reused memory
  StartedList<Started> started_;
  StartedList<Collective> collectives_;  // started and not ended
  std::optional<Probed> probed_;         // by MPI_Probe, which waited for it; the receiving call follows
  RankPlaces places_;
  RankTimeline timeline_;
  RankWindows windows_;
  blackboard::Blackboard* board_ = nullptr;
  std::unordered_map<std::uint32_t, std::vector<Early>> early_;  // by communicator
  KeptBytes early_bytes_;
  Unresolved unresolved_calls_, unresolved_ends_;
};

}  // namespace ardoise::knowledge_sources
