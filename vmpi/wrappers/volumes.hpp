// The byte rules applied to a call: queries MPI for the group sizes, ranks and datatype sizes that byte_rules.hpp
// needs, and nothing else. Functions have the names of the rules in the table; generated wrappers call them while
// observed.
#pragma once

#include <mpi.h>

#include "vmpi/wrappers/byte_rules.hpp"

namespace ardoise::vmpi {

// Bytes of the message or file access that a status describes.
inline std::int64_t received_bytes(const MPI_Status& status) {
#ifdef OPEN_MPI
  return static_cast<std::int64_t>(status._ucount);  // what PMPI_Get_elements_x(MPI_BYTE) reads, in a few cycles
#else
  // MPICH: the lowest bit of the upper half says whether the operation was cancelled.
  const auto high = static_cast<std::uint32_t>(status.count_hi_and_cancelled) >> 1;
  return static_cast<std::int64_t>(std::uint64_t{high} << 32 | static_cast<std::uint32_t>(status.count_lo));
#endif
}

namespace volumes {

byte_rules::Sides sides_of(MPI_Comm comm) noexcept;
// Rank and size of the own group, also in an intercommunicator.
byte_rules::Sides own_group(MPI_Comm comm) noexcept;
byte_rules::Part part_of(const byte_rules::Sides& sides, int root) noexcept;

inline std::int64_t transfer(std::int64_t count, auto type, int peer) {
  return peer == MPI_PROC_NULL ? 0 : byte_rules::bytes(count, type.size());
}

inline Volume bcast(MPI_Comm comm, std::int64_t count, auto type, int root) {
  return byte_rules::bcast(part_of(sides_of(comm), root), byte_rules::bytes(count, type.size()));
}
inline Volume reduce(MPI_Comm comm, std::int64_t count, auto type, int root) {
  const auto sides = sides_of(comm);
  return byte_rules::reduce(part_of(sides, root), sides, byte_rules::bytes(count, type.size()));
}
inline Volume allreduce(std::int64_t count, auto type) {
  const auto all = byte_rules::bytes(count, type.size());
  return {all, all};
}
inline Volume scan(std::int64_t count, auto type) { return allreduce(count, type); }
inline Volume exscan(MPI_Comm comm, std::int64_t count, auto type) {
  return byte_rules::exscan(sides_of(comm), byte_rules::bytes(count, type.size()));
}
// Counts are an array, or a function that returns the count for every process; types are an array (with size(i)) or one
// type. Both are read only when needed. Bytes to or from process i:
inline std::int64_t part(const auto& counts, const auto& types, std::int64_t i) {
  std::int64_t size = 0;
  if constexpr (requires { types.size(i); }) {
    size = types.size(i);
  } else {
    size = types.size();
  }
  if constexpr (requires { counts(); }) {
    return byte_rules::bytes(counts(), size);
  } else {
    return byte_rules::bytes(counts[i], size);
  }
}
// Bytes to or from all n processes.
inline std::int64_t parts(std::int64_t n, const auto& counts, const auto& types) {
  if constexpr (requires { counts(); }) {
    return n * part(counts, types, 0);
  } else {
    return byte_rules::sum(n, [&](auto i) { return part(counts, types, i); });
  }
}

inline Volume reduce_scatter(MPI_Comm comm, auto rcounts, auto type) {
  const auto own = own_group(comm);
  return {parts(own.peers, rcounts, type), part(rcounts, type, own.rank)};
}
inline Volume gather(MPI_Comm comm, bool in_place, auto scount, auto stype, auto rcounts, auto rtype, int root) {
  const auto sides = sides_of(comm);
  return byte_rules::gather(
      part_of(sides, root), sides, in_place, [&] { return part(scount, stype, 0); },
      [&] { return part(rcounts, rtype, sides.rank); }, [&] { return parts(sides.peers, rcounts, rtype); });
}
inline Volume scatter(MPI_Comm comm, bool in_place, auto scounts, auto stype, auto rcount, auto rtype, int root) {
  const auto sides = sides_of(comm);
  return byte_rules::scatter(
      part_of(sides, root), sides, in_place, [&] { return part(rcount, rtype, 0); },
      [&] { return part(scounts, stype, sides.rank); }, [&] { return parts(sides.peers, scounts, stype); });
}
inline Volume allgather(MPI_Comm comm, bool in_place, auto scount, auto stype, auto rcounts, auto rtype) {
  const auto sides = sides_of(comm);
  return byte_rules::allgather(
      in_place, [&] { return part(scount, stype, 0); }, [&] { return part(rcounts, rtype, sides.rank); },
      [&] { return parts(sides.peers, rcounts, rtype); });
}
inline Volume alltoall(MPI_Comm comm, bool in_place, auto scounts, auto stypes, auto rcounts, auto rtypes) {
  const auto peers = sides_of(comm).peers;
  return byte_rules::alltoall(
      in_place, [&] { return parts(peers, scounts, stypes); }, [&] { return parts(peers, rcounts, rtypes); });
}

}  // namespace volumes
}  // namespace ardoise::vmpi
