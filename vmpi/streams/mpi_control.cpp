// Calls PMPI functions only, which wrappers do not see.
#include "vmpi/streams/mpi_control.hpp"

#include <mpi.h>

#include <exception>
#include <list>

#include "vmpi/streams/control_message.hpp"
#include "vmpi/streams/transport.hpp"
#include "vmpi/vmpi.h"
#include "vmpi/world/partitions.hpp"

namespace ardoise::vmpi {
namespace {

class MpiControlChannel final : public ControlChannel {
 public:
  int send(int rank, const ControlMessage& message) override {
    auto& sent = on_the_way_.emplace_back(Sent{message, MPI_REQUEST_NULL});
    const int result = PMPI_Isend(&sent.message, static_cast<int>(sizeof sent.message), MPI_BYTE, rank, kControlTag,
                                  control_comm(), &sent.request);
    return code_of(result);
  }

  int receive(bool& found, int& rank, ControlMessage& message) override {
    forget_sent();
    int flag = 0;
    MPI_Status status;
    MPI_Message matched = MPI_MESSAGE_NULL;
    int result = PMPI_Improbe(MPI_ANY_SOURCE, kControlTag, control_comm(), &flag, &matched, &status);
    if (result != MPI_SUCCESS || flag == 0) return code_of(result);
    result = PMPI_Mrecv(&message, static_cast<int>(sizeof message), MPI_BYTE, &matched, MPI_STATUS_IGNORE);
    rank = status.MPI_SOURCE;
    found = result == MPI_SUCCESS;
    return code_of(result);
  }

  int send_end(int rank, int tag) override {
    return code_of(PMPI_Send(nullptr, 0, MPI_BYTE, rank, tag, control_comm()));
  }

 private:
  struct Sent {
    ControlMessage message;
    MPI_Request request;
  };

  void forget_sent() {
    for (auto sent = on_the_way_.begin(); sent != on_the_way_.end();) {
      int done = 0;
      if (PMPI_Test(&sent->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) done = 1;
      sent = done != 0 ? on_the_way_.erase(sent) : std::next(sent);
    }
  }

  std::list<Sent> on_the_way_;  // MPI may access their memory
};

}  // namespace

Mailbox& control_mailbox() {
  // Never destroyed: MPI may still read from messages in flight.
  static auto& channel = *new MpiControlChannel;
  static auto& mailbox = *new Mailbox(channel);
  return mailbox;
}

void send_gone() noexcept {
  if (partitions() == nullptr || partitions()->table.count() == 1) return;
  try {
    (void)control_mailbox().send_gone();
  } catch (const std::exception&) {
    // Without memory they learn it another way (partition_end.hpp).
  }
}

}  // namespace ardoise::vmpi
