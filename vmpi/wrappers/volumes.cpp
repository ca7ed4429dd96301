#include "vmpi/wrappers/volumes.hpp"

namespace ardoise::vmpi::volumes {

byte_rules::Sides sides_of(MPI_Comm comm) noexcept {
  byte_rules::Sides sides;
  if (comm == MPI_COMM_NULL) return sides;  // the call itself fails; a query would call the error handler once more
  int inter = 0;
  int peers = 1;
  PMPI_Comm_rank(comm, &sides.rank);
  PMPI_Comm_test_inter(comm, &inter);
  if (inter != 0) {
    PMPI_Comm_remote_size(comm, &peers);
  } else {
    PMPI_Comm_size(comm, &peers);
  }
  sides.inter = inter != 0;
  sides.peers = peers;
  return sides;
}

byte_rules::Sides own_group(MPI_Comm comm) noexcept {
  byte_rules::Sides own;
  if (comm == MPI_COMM_NULL) return own;
  int size = 1;
  PMPI_Comm_rank(comm, &own.rank);
  PMPI_Comm_size(comm, &size);
  own.peers = size;
  return own;
}

byte_rules::Part part_of(const byte_rules::Sides& sides, int root) noexcept {
  if (root == MPI_ROOT) return byte_rules::Part::kRoot;
  if (root == MPI_PROC_NULL) return byte_rules::Part::kBystander;
  return !sides.inter && root == sides.rank ? byte_rules::Part::kRoot : byte_rules::Part::kLeaf;
}

}  // namespace ardoise::vmpi::volumes
