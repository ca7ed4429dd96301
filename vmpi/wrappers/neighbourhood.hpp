// The neighbours of this process in a communicator with a topology, and what a neighbourhood collective sends
// to each and gets from each. Lives for one observed call.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "vmpi/wrappers/byte_rules.hpp"
#include "vmpi/wrappers/observer.hpp"
#include "vmpi/wrappers/small_array.hpp"

namespace ardoise::vmpi {

class Neighbourhood {
 public:
  explicit Neighbourhood(MPI_Comm comm) noexcept;

  // Each sets the volume and the bytes for each destination in `call`, which refers to this object then.
  void allgather(Call& call, std::int64_t scount, auto stype, std::int64_t rcount, auto rtype) {
    const auto out = byte_rules::bytes(scount, stype.size());
    const auto in = byte_rules::bytes(rcount, rtype.size());
    fill(
        call, [&](auto) { return out; }, [&](auto) { return in; });
  }
  void allgatherv(Call& call, std::int64_t scount, auto stype, const auto* rcounts, auto rtype) {
    const auto out = byte_rules::bytes(scount, stype.size());
    const auto in = rtype.size();
    fill(
        call, [&](auto) { return out; }, [&](auto i) { return byte_rules::bytes(rcounts[i], in); });
  }
  void alltoall(Call& call, std::int64_t scount, auto stype, std::int64_t rcount, auto rtype) {
    allgather(call, scount, stype, rcount, rtype);
  }
  void alltoallv(Call& call, const auto* scounts, auto stype, const auto* rcounts, auto rtype) {
    const auto out = stype.size();
    const auto in = rtype.size();
    fill(
        call, [&](auto i) { return byte_rules::bytes(scounts[i], out); },
        [&](auto i) { return byte_rules::bytes(rcounts[i], in); });
  }
  void alltoallw(Call& call, const auto* scounts, auto stypes, const auto* rcounts, auto rtypes) {
    fill(
        call, [&](auto i) { return byte_rules::bytes(scounts[i], stypes.size(i)); },
        [&](auto i) { return byte_rules::bytes(rcounts[i], rtypes.size(i)); });
  }

 private:
  void fill(Call& call, auto&& bytes_to, auto&& bytes_from) {
    bytes_.resize(destinations_.size());
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      bytes_[i] = destinations_[i] == MPI_PROC_NULL ? 0 : bytes_to(static_cast<std::int64_t>(i));
      call.bytes_sent += bytes_[i];
    }
    for (std::size_t i = 0; i < sources_.size(); ++i)
      call.bytes_received += sources_[i] == MPI_PROC_NULL ? 0 : bytes_from(static_cast<std::int64_t>(i));
    call.neighbour_bytes = bytes_.data();
    call.neighbours = destinations_.data();
    call.neighbour_count = static_cast<int>(bytes_.size());
  }
  void read_grid(MPI_Comm comm) noexcept;
  void read_graph(MPI_Comm comm) noexcept;
  void read_distributed_graph(MPI_Comm comm) noexcept;

  SmallArray<std::int32_t, 32> sources_;
  SmallArray<std::int32_t, 32> destinations_;
  SmallArray<std::int64_t, 32> bytes_;
};

}  // namespace ardoise::vmpi
