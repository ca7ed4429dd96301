// The few functions of MPI that instrument/races calls, in place of the library's, for tests in one process. Messages
// arrive when the test says so. A posted receive gets the first message that fits, as MPI defines it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <type_traits>
#include <vector>

namespace ardoise::instrument {

template <class Handle>
[[nodiscard]] Handle fake_handle(std::uintptr_t value) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<Handle>(value);
  } else {
    return static_cast<Handle>(value);
  }
}

struct FakeMpi {
  static constexpr int kRanks = 4;
  struct Message {
    int source, tag;
  };
  struct Request {
    MPI_Request handle;
    int source, tag;  // that the receive names
    MPI_Comm comm;
    bool is_complete = false;
    Message message{};
  };

  MPI_Comm world = fake_handle<MPI_Comm>(0x1000), nowhere = fake_handle<MPI_Comm>(0x2000);
  std::vector<Message> arrived;   // not received yet, in the order of arrival
  std::deque<Request> requests;   // of receives, in the order of posting
  std::function<void()> on_poll;  // MPI looks for a message or at a request
  std::vector<int> aborts;        // their status
  bool cancels = false;           // a cancelled receive ends without a message

  [[nodiscard]] static bool fits(const Message& message, int source, int tag) {
    return (source == MPI_ANY_SOURCE || source == message.source) && (tag == MPI_ANY_TAG || tag == message.tag);
  }
  // MPI finds nothing yet. Ends the test program if that happens for ever.
  void poll();
  // Does not take the message. arrived.end(): none.
  [[nodiscard]] std::vector<Message>::iterator find(int source, int tag, MPI_Comm comm);
  // A message arrives on the world's communicator.
  void deliver(Message message);
  Request& post(int source, int tag, MPI_Comm comm);
  [[nodiscard]] Request* request(MPI_Request handle);

 private:
  std::uintptr_t last_handle_ = 0x10000;
  int polls_ = 0;
};

// A new one for each test.
inline FakeMpi fake_mpi;

}  // namespace ardoise::instrument
