// Orders the messages and collectives of a trace causally and computes each thread's vector clock (vector_clock.hpp).
// For `ardoise trace races`.
//
// A receive happens after its send and after its post, whichever thread completes it. A collective joins the clocks of
// its members: all leave a barrier, an allreduce … after all have entered; members leave a broadcast after its root has
// entered; the root leaves a reduction after all have entered; a member leaves a scan after the lower ranks have
// entered. Neighbourhood collectives, and rooted collectives of intercommunicators, order nothing. Nothing else orders
// the threads of a process.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "knowledge_sources/otf2/reader/message_tracker.hpp"
#include "tools/ardoise/trace/races/race_windows.hpp"

namespace ardoise::launcher {

// Not thread safe. Events of each location arrive in order; locations are interleaved. Steps that wait for later events
// are kept, up to a gigabyte; beyond that the oldest stops waiting, which is counted. The same holds for collectives
// that some members never join.
class CausalOrder {
 public:
  using Take = std::function<void(const ReceivedMessage&)>;
  using Half = knowledge_sources::MessageHalf;
  CausalOrder(const knowledge_sources::ArchiveDefinitions& definitions, const knowledge_sources::CommRanks& ranks,
              Take take);

  // For MpiSend and MpiIsend.
  void send(const knowledge_sources::ArchivedEvent& event, std::uint32_t process, std::uint32_t region);
  // For MpiRecv and MpiIrecv. posted() and paired() follow, with the results of a MessageTracker and a MessageMatcher.
  void receive(const knowledge_sources::ArchivedEvent& event, std::uint32_t process, const GivenReceive& given);
  void posted(const Half& receive);
  void paired(const Half& send, const Half& receive);
  void cancelled(const Half& send);
  void point(const knowledge_sources::ArchivedEvent& event, std::uint32_t process, std::shared_ptr<CausalPoint> point);
  // comm: of the call, if the event does not contain it; kUndefined32: unknown. is_neighbour: orders nothing.
  void collective(const knowledge_sources::ArchivedEvent& event, std::uint32_t process, std::uint32_t comm,
                  bool is_neighbour);
  // Takes all steps that are ready.
  void run();
  // Called after the last event, when all matching messages are paired.
  void finish();

  // Messages without a receive, in the order of sending; after finish().
  [[nodiscard]] std::vector<ReceivedMessage> never_received() const;
  // Number of receives and collectives that stopped waiting for lack of room.
  [[nodiscard]] std::uint64_t without_room() const { return without_room_; }
  [[nodiscard]] std::uint64_t without_sends() const { return without_sends_; }
  [[nodiscard]] std::uint64_t incomplete_collectives() const { return incomplete_; }
  [[nodiscard]] std::uint64_t messages() const { return matched_ + without_sends_; }  // that were received

 private:
  using Place = std::pair<std::uint64_t, std::uint64_t>;  // location, position
  enum class StepKind : std::uint8_t { kSend, kReceive, kPoint, kCollective };
  enum class Direction : std::uint8_t { kNone, kAll, kFromRoot, kToRoot, kScan };
  struct Step {
    StepKind kind;
    std::uint64_t position, time;
    // For receives.
    std::unique_ptr<ReceivedMessage> message;
    bool has_post = false, is_paired = false, is_alone = false;
    Place send;
    std::shared_ptr<CausalPoint> point;
    // For collectives.
    std::uint64_t group = 0, number = 0;
    std::uint32_t root = knowledge_sources::kUndefined32;
    Direction direction = Direction::kNone;
    bool arrives = false, leaves = false;
  };
  struct Message {
    bool is_paired = false;
    std::uint64_t receiver_location = 0;
    ReceivedMessage message;
  };
  struct Process {
    std::size_t threads = 0;                                                              // with events
    std::unordered_map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> requests;  // collectives: group, number
    std::unordered_map<std::uint64_t, std::uint64_t> next;  // number of a collective, by group
    std::uint64_t posts = 0;
  };
  struct Location {
    std::uint32_t process;
    VectorClock clock;
    std::uint32_t component = kNoComponent, choices = 0;
    std::deque<Step> steps;
    bool is_ready = false;
  };
  struct Instance {
    std::map<std::uint32_t, VectorClock> arrived;  // by process
    VectorClock all;
    std::size_t left = 0;
    std::set<std::uint64_t> waiting;  // locations
  };
  struct Group {                         // members of a communicator or a window
    std::vector<std::uint32_t> members;  // with events, by rank
    bool is_inter = false;
    std::uint64_t first = 0;
    std::deque<Instance> open;
  };

  Location& location_of(const knowledge_sources::ArchivedEvent& event, std::uint32_t process);
  Step& add(const knowledge_sources::ArchivedEvent& event, std::uint32_t process, StepKind kind);
  [[nodiscard]] Step* find(const Half& half);
  [[nodiscard]] Group* group_of(std::uint64_t number);
  void wake(std::uint64_t location);
  [[nodiscard]] bool take(Location& location, std::uint64_t id, bool is_forced);
  [[nodiscard]] bool take_receive(Location& location, Step& step, std::uint64_t id, bool is_forced);
  [[nodiscard]] bool take_collective(Location& location, Step& step, std::uint64_t id, bool is_forced);
  [[nodiscard]] static bool is_complete(const Group& group, const Instance& instance, const Step& step,
                                        std::uint32_t process);
  void reach(CausalPoint& point, Location& location, bool is_counted);
  void force_oldest();
  [[nodiscard]] std::size_t bytes() const;  // of steps and open collectives
  void close_oldest();

  const knowledge_sources::ArchiveDefinitions& definitions_;
  const knowledge_sources::CommRanks& ranks_;
  Take take_;
  std::unordered_map<std::uint32_t, Process> processes_;  // with events
  std::unordered_map<std::uint64_t, Location> locations_;
  std::map<Place, Message> messages_;  // not received so far
  std::unordered_map<std::uint64_t, Group> groups_;
  std::vector<std::uint64_t> ready_;
  std::size_t steps_ = 0, arrivals_ = 0;  // arrivals: in collectives that some members have not left
  std::uint32_t components_ = 0;
  bool is_finished_ = false;
  std::uint64_t without_room_ = 0, without_sends_ = 0, incomplete_ = 0, matched_ = 0;
};

}  // namespace ardoise::launcher
