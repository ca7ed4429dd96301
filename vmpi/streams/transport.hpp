// The MPI operations that a stream needs, as an interface, so that tests can run the stream's logic without MPI.
// Functions return a VMPI code; outputs are set on success only. One thread at a time.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ardoise::vmpi {

// A matched message that has not been received yet. It uses no memory of ours: MPI has sent only the envelope of the
// block (rendezvous), or a small block below its eager limit.
struct Incoming {
  int source = -1;
  std::size_t bytes = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Starts a synchronous send, which completes only when the receiver has matched it: a writer never has more blocks in
  // flight than buffers, whatever MPI's eager limit.
  virtual int send(const void* data, std::size_t bytes, int rank, int tag, MPI_Request& request) = 0;
  // An empty message, complete on return.
  virtual int send_empty(int rank, int tag) = 0;
  // Matches the next message from any source, in the order of sending for each source. Drives MPI progress.
  virtual int probe(int tag, bool& found, Incoming& incoming) = 0;
  // Starts to receive a matched message. For an empty one, request is MPI_REQUEST_NULL on return.
  virtual int receive(Incoming& incoming, void* block, MPI_Request& request) = 0;
  // completed: number of requests completed by this call; their indices come first in `indices`. Drives MPI progress.
  virtual int test_some(std::span<MPI_Request> requests, std::span<int> indices, int& completed) = 0;
  // false: the process is known to have ended. true: alive or unknown.
  virtual bool is_alive(std::int64_t process) = 0;
  // Tells a peer, before the end of the stream, that this process ends without having closed it. `tag` is the peer's.
  virtual int send_left(int rank, int tag) = 0;
  // After the end of a stream from this process: did it send the message of send_left? `tag` is our own.
  virtual bool has_left(int source, int tag) = 0;
};

// The real transport, over a communicator that returns errors and has no other users.
std::unique_ptr<Transport> make_mpi_transport(MPI_Comm comm);

// VMPI_SUCCESS, VMPI_ERR_PEER when MPI reports a failed process, VMPI_ERR_MPI for all else.
int code_of(int mpi_result);

}  // namespace ardoise::vmpi
