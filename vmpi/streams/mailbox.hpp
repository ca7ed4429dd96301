// The control messages of this process: what has come and nobody has read yet, by sender, and how many went each way.
// One for a process, shared by all its streams. Over an abstract channel, so that models of large runs and tests need
// no MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "vmpi/streams/control_message.hpp"

namespace ardoise::vmpi {

// Functions return VMPI codes.
class ControlChannel {
 public:
  virtual ~ControlChannel() = default;
  // Doesn't wait for the receiver.
  virtual int send(int rank, const ControlMessage& message) = 0;
  // The next message from anywhere, of each sender in the order of sending. Makes MPI progress.
  virtual int receive(bool& found, int& rank, ControlMessage& message) = 0;
  // An empty message on another tag: the end of a stream.
  virtual int send_end(int rank, int tag) = 0;
};

// Any thread that may call MPI.
class Mailbox {
 public:
  explicit Mailbox(ControlChannel& channel) : channel_(channel) {}

  struct Probe {
    int from;
    ControlMessage message;
  };
  // A hello of ours that is over, while the peer's with which it pairs has not been read.
  struct Unmet {
    std::uint32_t number;
    std::uint32_t seen;     // messages of the peer that we had seen when we said it
    std::uint32_t retreat;  // ordinal of the retreat that took it back; 0: a withdrawal did
  };
  struct Peer {
    std::uint32_t sent = 0;  // to it, probes apart
    std::uint32_t seen = 0;  // from it, probes apart
    bool is_gone = false;
    std::vector<ControlMessage> unread;  // what meeting.cpp reads; a few at most
    std::vector<Unmet> unmet;            // in the order in which they were said
  };

  // Unique in this process.
  std::uint32_t next_number();

  int send(int rank, ControlMessage message);
  // Sends a retreat or withdrawal of a hello that has not met the peer's; said_with: `seen` of the hello.
  int take_back_unmet(int rank, ControlMessage message, std::uint32_t said_with);
  int send_end(int rank, int tag) { return channel_.send_end(rank, tag); }

  // Brings in what has come. `news`: who wrote since the caller's last call (pass the same cursor again).
  int poll(std::size_t& cursor, std::vector<int>& news);
  // Between these, news are kept for the caller.
  std::size_t start_reading();
  void stop_reading();

  // Calls action(peer) for one sender, alone.
  template <typename Action>
  auto with(int rank, Action action) {
    const std::lock_guard lock(mutex_);
    return action(peers_[rank]);
  }
  std::vector<Probe> take_probes();
  // Did this process go without closing the stream that we receive on this tag?
  bool has_left(int rank, int tag);

  // MPI_Finalize: tells all who wait for us that we will not come.
  int say_gone();
  // Senders of a hello that nobody has read and that was not taken back.
  std::vector<std::pair<int, std::uint32_t>> unanswered();

 private:
  int send_alone(int rank, ControlMessage message);
  int receive_all();

  ControlChannel& channel_;
  std::mutex mutex_;  // everything below
  std::unordered_map<int, Peer> peers_;
  std::vector<Probe> probes_;
  std::set<std::pair<int, int>> left_;  // rank, tag
  std::vector<int> log_;                // senders in the order of arrival, kept while somebody reads
  int readers_ = 0;
  std::uint32_t numbers_ = 0;
};

}  // namespace ardoise::vmpi
