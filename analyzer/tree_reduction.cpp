// See tree_reduction.hpp.
#include "analyzer/tree_reduction.hpp"

#include <algorithm>
#include <cstdint>

#include "vmpi/streams/backoff.hpp"

namespace ardoise::analyzer {
namespace {

constexpr int kSizeTag = 1, kPieceTag = 2;
constexpr std::size_t kPiece = std::size_t{1} << 30;

bool wait_asleep(MPI_Request& request) {
  vmpi::Backoff backoff;
  for (;;) {
    int done = 0;
    if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done != 0) return true;
    backoff.pause();
  }
}

}  // namespace

bool send_bytes(MPI_Comm comm, int to, std::span<const std::byte> bytes) {
  const std::uint64_t size = bytes.size();
  MPI_Request request = MPI_REQUEST_NULL;
  if (PMPI_Isend(&size, sizeof size, MPI_BYTE, to, kSizeTag, comm, &request) != MPI_SUCCESS || !wait_asleep(request))
    return false;
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const auto piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
    if (PMPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, to, kPieceTag, comm, &request) !=
            MPI_SUCCESS ||
        !wait_asleep(request)) {
      return false;
    }
  }
  return true;
}

bool receive_bytes(MPI_Comm comm, int from, std::vector<std::byte>& bytes) {
  std::uint64_t size = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  if (PMPI_Irecv(&size, sizeof size, MPI_BYTE, from, kSizeTag, comm, &request) != MPI_SUCCESS || !wait_asleep(request))
    return false;
  bytes.resize(size);
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const auto piece = std::span(bytes).subspan(at, std::min(kPiece, bytes.size() - at));
    if (PMPI_Irecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, from, kPieceTag, comm, &request) !=
            MPI_SUCCESS ||
        !wait_asleep(request)) {
      return false;
    }
  }
  return true;
}

bool merge_to_root(MPI_Comm comm, AnalyzerRun& run) {
  int rank = 0, size = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  bool good = true;
  for (int step = 1; step < size; step *= 2) {
    if ((rank & step) != 0) return send_bytes(comm, rank - step, run.partial()) && good;
    if (rank + step >= size) continue;
    std::vector<std::byte> bytes;
    if (receive_bytes(comm, rank + step, bytes)) {
      run.absorb(bytes);
    } else {
      run.complain("The numbers of one analyzer did not arrive and are missing.");
      good = false;
    }
  }
  return good;
}

}  // namespace ardoise::analyzer
