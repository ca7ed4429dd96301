#include "analyzer/run/tree_reduction.hpp"

#include <algorithm>
#include <cstdint>

namespace ardoise::analyzer {
namespace {

constexpr int kSizeTag = 1, kPieceTag = 2;
constexpr std::size_t kPiece = std::size_t{1} << 30;

// Waits for the request that start(request) has begun.
bool complete(EventLoop& loop, const auto& start) {
  MPI_Request request = MPI_REQUEST_NULL;
  int done = 0, code = start(&request);
  if (code != MPI_SUCCESS) return false;
  const auto message = loop.poll([&] {
    code = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && done == 0) return Found::nothing;
    loop.stop();
    return Found::something;
  });
  loop.run();
  return code == MPI_SUCCESS;
}

// Calls start(piece, request) for each piece of the bytes, in order.
bool complete_pieces(EventLoop& loop, auto bytes, const auto& start) {
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const auto piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
    if (!complete(loop, [&](MPI_Request* request) { return start(piece, request); })) return false;
  }
  return true;
}

}  // namespace

bool send_bytes(EventLoop& loop, MPI_Comm comm, int to, std::span<const std::byte> bytes) {
  const std::uint64_t size = bytes.size();
  return complete(
             loop,
             [&](auto* request) { return PMPI_Isend(&size, sizeof size, MPI_BYTE, to, kSizeTag, comm, request); }) &&
         complete_pieces(loop, bytes, [&](auto piece, auto* request) {
           return PMPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, to, kPieceTag, comm, request);
         });
}

bool receive_bytes(EventLoop& loop, MPI_Comm comm, int from, std::vector<std::byte>& bytes) {
  std::uint64_t size = 0;
  if (!complete(loop,
                [&](auto* request) { return PMPI_Irecv(&size, sizeof size, MPI_BYTE, from, kSizeTag, comm, request); }))
    return false;
  bytes.resize(size);
  return complete_pieces(loop, std::span(bytes), [&](auto piece, auto* request) {
    return PMPI_Irecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, from, kPieceTag, comm, request);
  });
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
      run.complain("The results of one analyzer did not arrive and are missing.");
      good = false;
    }
  }
  return good;
}

}  // namespace ardoise::analyzer
