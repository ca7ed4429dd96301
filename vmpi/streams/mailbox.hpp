// The control messages of this process: what has come and nobody has read yet, by sender. One for a process, shared by
// all its streams. Over an abstract channel, so that models of large runs and tests need no MPI.
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

  // What a process has sent about one opening.
  struct Mail {
    std::vector<ControlMessage> messages;
    bool is_gone = false;  // nothing more will come from it
  };

  // Openings with one process count from 1; both sides count alike.
  std::uint32_t next_number(int rank);
  int send(int rank, const ControlMessage& message);
  int send_end(int rank, int tag);

  // Brings in what has come. `news`: the senders since the caller's last call (pass the same cursor again).
  int poll(std::size_t& cursor, std::vector<int>& news);
  // Between these, news are kept for the caller.
  std::size_t start_reading();
  void stop_reading();
  // Takes out what has come about this opening.
  Mail take(int rank, std::uint32_t number);

  // Did this process go without closing the stream that we receive on this tag?
  bool has_left(int rank, int tag);
  // MPI_Finalize: tells all processes that wait for this one that it will not come.
  int say_gone();

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
  std::vector<int> log_ GUARDED_BY(mutex_);                // senders in the order of arrival, kept while somebody reads
  int readers_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ardoise::vmpi
