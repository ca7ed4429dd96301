// Unread control messages of this process, by sender. One mailbox for the process, shared by all its streams. Works
// over an abstract channel, so that tests and models of large runs need no MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "blackboard/threads/mutex.hpp"
#include "vmpi/streams/control_message.hpp"

namespace ardoise::vmpi {

// Functions return VMPI codes.
class ControlChannel {
 public:
  virtual ~ControlChannel() = default;
  // Does not wait for the receiver.
  virtual int send(int rank, const ControlMessage& message) = 0;
  // The next message from any process, in the order of sending for each sender. Drives MPI progress.
  virtual int receive(bool& found, int& rank, ControlMessage& message) = 0;
  // Sends an empty message on another tag, which ends a stream.
  virtual int send_end(int rank, int tag) = 0;
};

// For any thread that may call MPI.
class Mailbox {
 public:
  explicit Mailbox(ControlChannel& channel) : channel_(channel) {}

  // Messages of a process about one opening.
  struct Mail {
    std::vector<ControlMessage> messages;
    bool is_gone = false;  // no more messages will come from it
  };

  // Openings between two processes are numbered from 1, alike on both sides.
  std::uint32_t next_number(int rank);
  int send(int rank, const ControlMessage& message);
  int send_end(int rank, int tag);

  // Receives pending messages. `news`: senders since the caller's last call (pass the same cursor again).
  int poll(std::size_t& cursor, std::vector<int>& news);
  // Between start and stop, senders are logged for the caller.
  std::size_t start_reading();
  void stop_reading();
  // Removes and returns the messages about this opening.
  Mail take(int rank, std::uint32_t number);

  // True: this process ended without closing the stream that we receive on this tag.
  bool has_left(int rank, int tag);
  // MPI_Finalize: tells all processes that wait for this one that it will not open.
  int send_gone();

 private:
  struct Peer {
    std::uint32_t openings = 0;
    bool is_gone = false;
    std::vector<ControlMessage> unread;  // a few at most
  };
  int receive_all() REQUIRES(mutex_);

  Mutex mutex_;
  ControlChannel& channel_ GUARDED_BY(mutex_);
  std::unordered_map<int, Peer> peers_ GUARDED_BY(mutex_);
  std::set<std::pair<int, int>> left_ GUARDED_BY(mutex_);  // rank, tag
  std::vector<int> log_ GUARDED_BY(mutex_);                // senders in the order of arrival, kept while a caller reads
  int readers_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ardoise::vmpi
