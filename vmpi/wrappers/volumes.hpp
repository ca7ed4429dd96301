// The byte rules applied to a call: asks MPI for what the arithmetic of byte_rules.hpp needs (group sizes, ranks,
// datatype sizes), and only that. Named after the rules of the table; generated wrappers call them while observed.
#pragma once

#include <mpi.h>

#include "vmpi/wrappers/byte_rules.hpp"

namespace ardoise::vmpi::volumes {

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
inline Volume reduce_scatter(MPI_Comm comm, const auto* rcounts, auto type) {
  const auto own = own_group(comm);
  const auto each = type.size();
  return {byte_rules::sum(own.peers, [&](auto i) { return byte_rules::bytes(rcounts[i], each); }),
          byte_rules::bytes(rcounts[own.rank], each)};
}
inline Volume reduce_scatter_block(MPI_Comm comm, std::int64_t rcount, auto type) {
  const auto each = byte_rules::bytes(rcount, type.size());
  return {each * own_group(comm).peers, each};
}

// Sums of v collectives.
inline std::int64_t sum_of(std::int64_t n, const auto* counts, auto type) {
  const auto each = type.size();
  return byte_rules::sum(n, [&](auto i) { return byte_rules::bytes(counts[i], each); });
}
inline std::int64_t sum_of_types(std::int64_t n, const auto* counts, auto types) {
  return byte_rules::sum(n, [&](auto i) { return byte_rules::bytes(counts[i], types.size(i)); });
}

inline Volume gather(MPI_Comm comm, bool in_place, auto scount, auto stype, auto rcount, auto rtype, int root) {
  const auto sides = sides_of(comm);
  return byte_rules::gather(
      part_of(sides, root), sides, in_place, [&] { return byte_rules::bytes(scount(), stype.size()); },
      [&] { return byte_rules::bytes(rcount(), rtype.size()); },
      [&] { return sides.peers * byte_rules::bytes(rcount(), rtype.size()); });
}
inline Volume gatherv(MPI_Comm comm, bool in_place, auto scount, auto stype, const auto* rcounts, auto rtype,
                      int root) {
  const auto sides = sides_of(comm);
  return byte_rules::gather(
      part_of(sides, root), sides, in_place, [&] { return byte_rules::bytes(scount(), stype.size()); },
      [&] { return byte_rules::bytes(rcounts[sides.rank], rtype.size()); },
      [&] { return sum_of(sides.peers, rcounts, rtype); });
}
inline Volume scatter(MPI_Comm comm, bool in_place, auto scount, auto stype, auto rcount, auto rtype, int root) {
  const auto sides = sides_of(comm);
  return byte_rules::scatter(
      part_of(sides, root), sides, in_place, [&] { return byte_rules::bytes(rcount(), rtype.size()); },
      [&] { return byte_rules::bytes(scount(), stype.size()); },
      [&] { return sides.peers * byte_rules::bytes(scount(), stype.size()); });
}
inline Volume scatterv(MPI_Comm comm, bool in_place, const auto* scounts, auto stype, auto rcount, auto rtype,
                       int root) {
  const auto sides = sides_of(comm);
  return byte_rules::scatter(
      part_of(sides, root), sides, in_place, [&] { return byte_rules::bytes(rcount(), rtype.size()); },
      [&] { return byte_rules::bytes(scounts[sides.rank], stype.size()); },
      [&] { return sum_of(sides.peers, scounts, stype); });
}
inline Volume allgather(MPI_Comm comm, bool in_place, auto scount, auto stype, auto rcount, auto rtype) {
  const auto sides = sides_of(comm);
  return byte_rules::allgather(
      in_place, [&] { return byte_rules::bytes(scount(), stype.size()); },
      [&] { return byte_rules::bytes(rcount(), rtype.size()); },
      [&] { return sides.peers * byte_rules::bytes(rcount(), rtype.size()); });
}
inline Volume allgatherv(MPI_Comm comm, bool in_place, auto scount, auto stype, const auto* rcounts, auto rtype) {
  const auto sides = sides_of(comm);
  return byte_rules::allgather(
      in_place, [&] { return byte_rules::bytes(scount(), stype.size()); },
      [&] { return byte_rules::bytes(rcounts[sides.rank], rtype.size()); },
      [&] { return sum_of(sides.peers, rcounts, rtype); });
}
inline Volume alltoall(MPI_Comm comm, bool in_place, auto scount, auto stype, auto rcount, auto rtype) {
  const auto peers = sides_of(comm).peers;
  return byte_rules::alltoall(
      in_place, [&] { return peers * byte_rules::bytes(scount(), stype.size()); },
      [&] { return peers * byte_rules::bytes(rcount(), rtype.size()); });
}
inline Volume alltoallv(MPI_Comm comm, bool in_place, const auto* scounts, auto stype, const auto* rcounts,
                        auto rtype) {
  const auto peers = sides_of(comm).peers;
  return byte_rules::alltoall(
      in_place, [&] { return sum_of(peers, scounts, stype); }, [&] { return sum_of(peers, rcounts, rtype); });
}
inline Volume alltoallw(MPI_Comm comm, bool in_place, const auto* scounts, auto stypes, const auto* rcounts,
                        auto rtypes) {
  const auto peers = sides_of(comm).peers;
  return byte_rules::alltoall(
      in_place, [&] { return sum_of_types(peers, scounts, stypes); },
      [&] { return sum_of_types(peers, rcounts, rtypes); });
}

}  // namespace ardoise::vmpi::volumes
