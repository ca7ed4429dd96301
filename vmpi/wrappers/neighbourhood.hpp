// The neighbours of this process in a communicator with a topology, and the bytes that a neighbourhood collective sends
// to each and receives from each. Lives for one observed call.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "vmpi/wrappers/observer.hpp"
#include "vmpi/wrappers/small_array.hpp"
#include "vmpi/wrappers/volumes.hpp"

namespace ardoise::vmpi {

class Neighbourhood {
 public:
  explicit Neighbourhood(MPI_Comm comm) noexcept;

  // Sets the volume and the bytes for each destination in `call`, which then refers to this object. Counts and types as
  // in volumes.hpp.
  void exchange(Call& call, auto scounts, auto stypes, auto rcounts, auto rtypes) {
    bytes_.resize(destinations_.size());
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      bytes_[i] = destinations_[i] == MPI_PROC_NULL ? 0 : volumes::part(scounts, stypes, static_cast<std::int64_t>(i));
      call.bytes_sent += bytes_[i];
    }
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (sources_[i] == MPI_PROC_NULL) continue;
      call.bytes_received += volumes::part(rcounts, rtypes, static_cast<std::int64_t>(i));
    }
    call.neighbour_bytes = bytes_.data();
    call.neighbours = destinations_.data();
    call.neighbour_count = static_cast<int>(bytes_.size());
  }

  [[nodiscard]] std::int64_t sources() const { return static_cast<std::int64_t>(sources_.size()); }
  [[nodiscard]] const std::int32_t* source_ranks() { return sources_.data(); }
  [[nodiscard]] const std::int32_t* destination_ranks() { return destinations_.data(); }
  [[nodiscard]] std::int64_t destinations() const { return static_cast<std::int64_t>(destinations_.size()); }

 private:
  void read_grid(MPI_Comm comm) noexcept;
  void read_graph(MPI_Comm comm) noexcept;
  void read_distributed_graph(MPI_Comm comm) noexcept;

  SmallArray<std::int32_t, 32> sources_;
  SmallArray<std::int32_t, 32> destinations_;
  SmallArray<std::int64_t, 32> bytes_;
};

}  // namespace ardoise::vmpi
