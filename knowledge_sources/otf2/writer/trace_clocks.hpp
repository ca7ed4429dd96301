// Lamport clocks of a trace's locations (Lamport: Time, clocks, and the ordering of events in a distributed system,
// 1978): each send, receive and collective has a clock one higher than the previous one on its location, a receive is
// also higher than its send, and the end of a collective is one higher than the maximum of all that have entered it.
//
// Three passes, in memory independent of the length of the trace:
//
//   1. each location by itself: its events, 16 bytes each, go to a file          add … end_location()
//   2. all of them in causal order: a location advances until it needs an event of another one that has not
//      been reached; the clocks, 8 bytes each, go to a file                      resolve()
//   3. each location by itself: the clocks are read in the same order            ClocksOfLocation
//
// Unmatched events (no number, the other end is missing, or all locations would wait for each other) get the next clock
// of their location, and are counted. Memory: 6 KiB a location, 100 bytes a channel and a message in flight.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace ardoise::knowledge_sources {

// Not thread safe. Throws std::system_error if its files cannot be written or read.
class TraceClocks {
 public:
  static constexpr std::size_t kMostOnTheWay = std::size_t{1} << 22;  // messages; then senders wait

  using Number = std::optional<std::uint64_t>;
  struct Channel {  // ranks of the world
    std::uint64_t comm;
    std::uint32_t sender, receiver, tag;
    friend auto operator<=>(const Channel&, const Channel&) = default;
  };

  // folder: for its files; created, and removed at the end.
  explicit TraceClocks(std::filesystem::path folder);
  ~TraceClocks();
  TraceClocks(const TraceClocks&) = delete;
  TraceClocks& operator=(const TraceClocks&) = delete;

  // One location after the other. comm: none if unknown.
  void begin_location(std::uint64_t location);
  void add_send(const std::optional<Channel>& channel, Number number);
  void add_receive(const std::optional<Channel>& channel, Number number);
  void add_begin();  // of a collective
  void add_collective(std::optional<std::uint64_t> comm, Number number);
  void add_request(std::uint32_t request, Number number);
  void add_complete(std::uint32_t request, std::optional<std::uint64_t> comm);
  void end_location();

  void resolve();
  [[nodiscard]] std::uint64_t unmatched() const { return unmatched_; }
  [[nodiscard]] std::filesystem::path clocks_of(std::uint64_t location) const;

 private:
  enum class What : std::uint64_t { kAlone, kUnmatched, kSend, kReceive, kCollective, kRequest, kComplete };
  struct Event {
    What what;
    std::uint64_t key;  // of the message or the collective
  };
  struct Range {
    std::uint32_t first = UINT32_MAX, last = 0;
    void add(std::uint32_t number);
    [[nodiscard]] bool has(std::uint32_t number) const { return number >= first && number <= last; }
  };
  struct OfChannel {
    Range sent, received;
  };
  struct OfComm {
    std::uint32_t index;
    std::vector<std::uint32_t> firsts, lasts;  // of the locations
  };
  struct Location {
    std::uint64_t number, events = 0;
    std::uint64_t next = 0, clock = 0;
    bool has_entered = false;    // the awaited collective
    std::vector<Event> block{};  // from `begin` on
    std::uint64_t begin = 0;
    std::vector<std::uint64_t> clocks{};  // to be written
  };
  struct Collective {
    std::uint32_t expected = 0, entered = 0, left = 0;
    std::uint64_t clock = 0;
    bool is_given_up = false;
  };
  struct Request {
    std::uint64_t place;  // index of its event
    Number number;
  };

  void add(What what, std::uint64_t key = 0);
  [[nodiscard]] std::optional<std::uint64_t> key_of(const std::optional<Channel>& channel, Number number, bool is_send);
  [[nodiscard]] std::optional<std::uint64_t> key_of(std::optional<std::uint64_t> comm, Number number);
  [[nodiscard]] Collective& collective_of(std::uint64_t key);
  [[nodiscard]] bool run(std::uint32_t index, bool is_forced);
  [[nodiscard]] bool step(std::uint32_t index, const Event& event, bool is_forced);
  void enter(std::uint64_t key, std::uint64_t clock);
  void leave(std::uint64_t key);
  void wait(std::uint64_t key, std::uint32_t index);
  void wake(std::uint64_t key);
  void read_block(Location& location);
  void write_clocks(Location& location);
  [[nodiscard]] std::filesystem::path events_of(std::uint64_t location) const;

  const std::filesystem::path folder_;
  std::vector<Location> locations_;
  std::vector<Event> events_;  // of the current location
  std::exception_ptr failed_;  // a write error
  std::unordered_map<std::uint32_t, Request> requests_;
  std::map<std::uint64_t, Range> numbers_;  // of its collectives, by communicator
  std::map<Channel, std::uint32_t> channel_numbers_;
  std::vector<OfChannel> channels_;
  std::map<std::uint64_t, OfComm> comms_;
  std::vector<const OfComm*> comm_of_index_;
  std::unordered_map<std::uint64_t, std::uint64_t> sent_;  // clocks, by key
  std::unordered_map<std::uint64_t, Collective> open_collectives_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> waiting_;  // locations
  std::deque<std::uint32_t> ready_;
  std::uint64_t unmatched_ = 0;
};

// The clocks of a location, in order.
class ClocksOfLocation {
 public:
  explicit ClocksOfLocation(std::filesystem::path file) : file_(std::move(file)) {}
  [[nodiscard]] std::uint64_t next();

 private:
  std::filesystem::path file_;
  std::vector<std::uint64_t> block_;
  std::size_t at_ = 0;
  std::uint64_t read_ = 0;
};

}  // namespace ardoise::knowledge_sources
