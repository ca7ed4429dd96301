#include "tests/instrument/fake_mpi.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace ardoise::instrument {

std::vector<FakeMpi::Message>::iterator FakeMpi::find(int source, int tag, MPI_Comm comm) {
  if (comm != world) return arrived.end();
  return std::ranges::find_if(arrived, [&](const Message& message) { return fits(message, source, tag); });
}

void FakeMpi::deliver(Message message) {
  for (Request& each : requests) {
    if (each.is_complete || each.comm != world || !fits(message, each.source, each.tag)) continue;
    each.is_complete = true;
    each.message = message;
    return;
  }
  arrived.push_back(message);
}

FakeMpi::Request& FakeMpi::post(int source, int tag, MPI_Comm comm) {
  Request& made = requests.emplace_back(Request{fake_handle<MPI_Request>(last_handle_ += 0x10), source, tag, comm});
  if (const auto found = find(source, tag, comm); found != arrived.end()) {
    made.is_complete = true;
    made.message = *found;
    arrived.erase(found);
  }
  return made;
}

void FakeMpi::poll() {
  constexpr int kMost = 20'000;
  if (++polls_ == kMost) {
    std::fputs("the message that is waited for never comes\n", stderr);
    std::abort();
  }
  if (on_poll) on_poll();
}

FakeMpi::Request* FakeMpi::request(MPI_Request handle) {
  const auto found = std::ranges::find(requests, handle, &Request::handle);
  return found == requests.end() ? nullptr : &*found;
}

}  // namespace ardoise::instrument

using ardoise::instrument::fake_mpi;

// The program's definitions precede those of the MPI library.
extern "C" {

int PMPI_Comm_size(MPI_Comm comm, int* size) {
  *size = comm == fake_mpi.world ? ardoise::instrument::FakeMpi::kRanks : 1;
  return MPI_SUCCESS;
}
int PMPI_Comm_dup(MPI_Comm, MPI_Comm* made) {
  *made = fake_mpi.nowhere;
  return MPI_SUCCESS;
}
int PMPI_Abort(MPI_Comm, int status) {
  fake_mpi.aborts.push_back(status);
  return MPI_SUCCESS;
}
int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status*) {
  *flag = fake_mpi.find(source, tag, comm) != fake_mpi.arrived.end() ? 1 : 0;
  if (*flag == 0 && comm == fake_mpi.world) fake_mpi.poll();
  return MPI_SUCCESS;
}
int PMPI_Request_get_status(MPI_Request handle, int* flag, MPI_Status*) {
  const auto* const request = fake_mpi.request(handle);
  *flag = request != nullptr && request->is_complete ? 1 : 0;
  if (*flag == 0) fake_mpi.poll();
  return MPI_SUCCESS;
}
int PMPI_Irecv(void*, int, MPI_Datatype, int source, int tag, MPI_Comm comm, MPI_Request* made) {
  *made = fake_mpi.post(source, tag, comm).handle;
  return MPI_SUCCESS;
}
int PMPI_Test_cancelled(const MPI_Status*, int* flag) {
  *flag = fake_mpi.cancels ? 1 : 0;
  return MPI_SUCCESS;
}
int PMPI_Type_dup(MPI_Datatype type, MPI_Datatype* made) {
  *made = type;
  return MPI_SUCCESS;
}
int PMPI_Type_free(MPI_Datatype*) { return MPI_SUCCESS; }

}  // extern "C"
