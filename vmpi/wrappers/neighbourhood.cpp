// The standard defines the order of neighbours: for a grid, minus and plus in each dimension.
#include "vmpi/wrappers/neighbourhood.hpp"

#include <cstring>

namespace ardoise::vmpi {

Neighbourhood::Neighbourhood(MPI_Comm comm) noexcept {
  int topology = MPI_UNDEFINED;
  if (comm == MPI_COMM_NULL) return;
  PMPI_Topo_test(comm, &topology);
  if (topology == MPI_CART) {
    read_grid(comm);
  } else if (topology == MPI_GRAPH) {
    read_graph(comm);
  } else if (topology == MPI_DIST_GRAPH) {
    read_distributed_graph(comm);
  }
}

void Neighbourhood::read_grid(MPI_Comm comm) noexcept {
  int dimensions = 0;
  PMPI_Cartdim_get(comm, &dimensions);
  sources_.resize(2 * static_cast<std::size_t>(dimensions));
  destinations_.resize(sources_.size());
  for (std::size_t i = 0; i < sources_.size() / 2; ++i) {
    int minus = MPI_PROC_NULL;
    int plus = MPI_PROC_NULL;
    PMPI_Cart_shift(comm, static_cast<int>(i), 1, &minus, &plus);
    sources_[2 * i] = destinations_[2 * i] = minus;
    sources_[2 * i + 1] = destinations_[2 * i + 1] = plus;
  }
}

void Neighbourhood::read_graph(MPI_Comm comm) noexcept {
  int rank = 0;
  int count = 0;
  PMPI_Comm_rank(comm, &rank);
  if (PMPI_Graph_neighbors_count(comm, rank, &count) != MPI_SUCCESS || count < 0) return;
  destinations_.resize(static_cast<std::size_t>(count));
  sources_.resize(destinations_.size());
  const int given = static_cast<int>(destinations_.size());
  PMPI_Graph_neighbors(comm, rank, given, destinations_.data());
  if (given != 0) std::memcpy(sources_.data(), destinations_.data(), sources_.size() * sizeof(std::int32_t));
}

void Neighbourhood::read_distributed_graph(MPI_Comm comm) noexcept {
  int in = 0;
  int out = 0;
  int weighted = 0;
  if (PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted) != MPI_SUCCESS) return;
  sources_.resize(static_cast<std::size_t>(in));
  destinations_.resize(static_cast<std::size_t>(out));
  SmallArray<int, 32> source_weights(static_cast<std::size_t>(in));
  SmallArray<int, 32> destination_weights(static_cast<std::size_t>(out));
  PMPI_Dist_graph_neighbors(comm, static_cast<int>(sources_.size()), sources_.data(),
                            weighted != 0 ? source_weights.data() : MPI_UNWEIGHTED,
                            static_cast<int>(destinations_.size()), destinations_.data(),
                            weighted != 0 ? destination_weights.data() : MPI_UNWEIGHTED);
}

}  // namespace ardoise::vmpi
