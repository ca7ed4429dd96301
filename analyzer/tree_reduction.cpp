// See tree_reduction.hpp.
#include "analyzer/tree_reduction.hpp"

#include <algorithm>
#include <cstdint>

namespace ardoise::analyzer {
namespace {

constexpr int kSizeTag = 1, kPieceTag = 2;
constexpr std::size_t kPiece = std::size_t{1} << 30;

bool wait(EventLoop& loop, MPI_Request& request) {
  int done = 0, code = MPI_SUCCESS;
  const auto message = loop.poll([&] {
    code = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && done == 0) return Found::nothing;
    loop.stop();
    return Found::something;
  });
  loop.run();
  return code == MPI_SUCCESS;
}

}  // namespace

bool send_bytes(EventLoop& loop, MPI_Comm comm, int to, std::span<const std::byte> bytes) {
  const std::uint64_t size = bytes.size();
  MPI_Request request = MPI_REQUEST_NULL;
  if (PMPI_Isend(&size, sizeof size, MPI_BYTE, to, kSizeTag, comm, &request) != MPI_SUCCESS || !wait(loop, request))
    return false;
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const auto piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
    if (PMPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, to, kPieceTag, comm, &request) !=
            MPI_SUCCESS ||
        !wait(loop, request)) {
      return false;
    }
  }
  return true;
}

bool receive_bytes(EventLoop& loop, MPI_Comm comm, int from, std::vector<std::byte>& bytes) {
  std::uint64_t size = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  if (PMPI_Irecv(&size, sizeof size, MPI_BYTE, from, kSizeTag, comm, &request) != MPI_SUCCESS || !wait(loop, request))
    return false;
  bytes.resize(size);
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const auto piece = std::span(bytes).subspan(at, std::min(kPiece, bytes.size() - at));
    if (PMPI_Irecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, from, kPieceTag, comm, &request) !=
            MPI_SUCCESS ||
        !wait(loop, request)) {
      return false;
    }
  }
  return true;
}

bool merge_to_root(EventLoop& loop, MPI_Comm comm, AnalyzerRun& run) {
  int rank = 0, size = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  bool good = true;
  for (int step = 1; step < size; step *= 2) {
    if ((rank & step) != 0) return send_bytes(loop, comm, rank - step, run.partial()) && good;
    if (rank + step >= size) continue;
    std::vector<std::byte> bytes;
    if (receive_bytes(loop, comm, rank + step, bytes)) {
      run.absorb(bytes);
    } else {
      run.complain("The numbers of one analyzer did not arrive and are missing.");
      good = false;
    }
  }
  return good;
}

}  // namespace ardoise::analyzer
