// Calls PMPI functions only, which wrappers do not see.
#include <cassert>

#include "vmpi/streams/mpi_control.hpp"
#include "vmpi/streams/transport.hpp"
#include "vmpi/vmpi.h"
#include "vmpi/world/process_identity.hpp"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace ardoise::vmpi {

int code_of(int mpi_result) {
  if (mpi_result == MPI_SUCCESS) return VMPI_SUCCESS;
#ifdef MPIX_ERR_PROC_FAILED
  int error_class = MPI_ERR_OTHER;
  PMPI_Error_class(mpi_result, &error_class);
  if (error_class == MPIX_ERR_PROC_FAILED) return VMPI_ERR_PEER;
#endif
  return VMPI_ERR_MPI;
}

namespace {

// Below MPI_THREAD_SERIALIZED only the thread that initialised MPI may call it.
[[maybe_unused]] bool may_call_mpi() {
  int level = MPI_THREAD_SINGLE, is_main = 0;
  PMPI_Query_thread(&level);
  PMPI_Is_thread_main(&is_main);
  return level >= MPI_THREAD_SERIALIZED || is_main != 0;
}

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(MPI_Comm comm) : comm_(comm) {}
  int send(const void* data, std::size_t bytes, int rank, int tag, MPI_Request& request) override {
    assert(may_call_mpi());
    return code_of(PMPI_Issend(data, static_cast<int>(bytes), MPI_BYTE, rank, tag, comm_, &request));
  }

  int send_empty(int rank, int tag) override { return code_of(PMPI_Send(nullptr, 0, MPI_BYTE, rank, tag, comm_)); }

  int probe(int tag, bool& found, Incoming& incoming) override {
    int flag = 0;
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    if (const int result = PMPI_Improbe(MPI_ANY_SOURCE, tag, comm_, &flag, &message, &status); result != MPI_SUCCESS)
      return code_of(result);
    found = flag != 0;
    if (found) {
      int bytes = 0;
      PMPI_Get_count(&status, MPI_BYTE, &bytes);
      incoming = {status.MPI_SOURCE, static_cast<std::size_t>(bytes), message};
    }
    return VMPI_SUCCESS;
  }

  int receive(Incoming& incoming, void* block, MPI_Request& request) override {
    const int bytes = static_cast<int>(incoming.bytes);
    if (bytes == 0) {
      request = MPI_REQUEST_NULL;
      return code_of(PMPI_Mrecv(block, 0, MPI_BYTE, &incoming.message, MPI_STATUS_IGNORE));
    }
    return code_of(PMPI_Imrecv(block, bytes, MPI_BYTE, &incoming.message, &request));
  }

  int test_some(std::span<MPI_Request> requests, std::span<int> indices, int& completed) override {
    int count = 0;
    const int result =
        PMPI_Testsome(static_cast<int>(requests.size()), requests.data(), &count, indices.data(), MPI_STATUSES_IGNORE);
    if (result != MPI_SUCCESS) return code_of(result);
    completed = count == MPI_UNDEFINED ? 0 : count;
    return VMPI_SUCCESS;
  }

  bool is_alive(std::int64_t process) override { return is_running(process); }

  int send_left(int rank, int tag) override {
    ControlMessage message;
    message.kind = ControlKind::left;
    message.tag = tag;
    return control_mailbox().send(rank, message);
  }

  bool has_left(int source, int tag) override { return control_mailbox().has_left(source, tag); }

 private:
  MPI_Comm comm_;
};

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(MPI_Comm comm) { return std::make_unique<MpiTransport>(comm); }

}  // namespace ardoise::vmpi
