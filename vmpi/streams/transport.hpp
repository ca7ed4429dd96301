// What a stream needs of MPI, as an interface, so that the stream's logic runs in tests against a model without MPI.
// Functions return a VMPI code; outputs are set on success only. One thread at a time.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ardoise::vmpi {

// A message that has been matched and not yet received. It holds no memory of ours: of a block, MPI has sent no more
// than the envelope (rendezvous) or, if the block is small, less than its eager limit.
struct Incoming {
  int source = -1;
  std::size_t bytes = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Starts to send; completes only when the receiver has matched it, so a writer has never more on the way than it has
  // buffers, whatever MPI's eager limit is.
  virtual int send(const void* data, std::size_t bytes, int rank, int tag, MPI_Request& request) = 0;
  // An empty message, complete on return.
  virtual int send_empty(int rank, int tag) = 0;
  // Matches the next message from anywhere, of each source in the order of sending. Makes MPI progress.
  virtual int probe(int tag, bool& found, Incoming& incoming) = 0;
  // Starts to receive a matched message. An empty one is complete, and request MPI_REQUEST_NULL, on return.
  virtual int receive(Incoming& incoming, void* block, MPI_Request& request) = 0;
  // completed: how many of the requests have completed since; their indices come first in `indices`. Makes progress.
  virtual int test_some(std::span<MPI_Request> requests, std::span<int> indices, int& completed) = 0;
  // false: the process is known to have ended. true: alive, or nobody knows.
  virtual bool is_alive(std::int64_t process) = 0;
  // Tells a peer, before the end of the stream, that this process goes without having closed it. `tag` is the peer's.
  virtual int send_left(int rank, int tag) = 0;
  // Asked after the end of a stream came from this process: was it told so? `tag` is our own.
  virtual bool has_left(int source, int tag) = 0;
};

// The real one, over a communicator that returns errors and that nobody else uses.
std::unique_ptr<Transport> make_mpi_transport(MPI_Comm comm);

// VMPI_SUCCESS, VMPI_ERR_PEER when MPI says that a process failed, VMPI_ERR_MPI for all else.
int code_of(int mpi_result);

}  // namespace ardoise::vmpi
