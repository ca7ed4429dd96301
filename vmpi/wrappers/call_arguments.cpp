#include "vmpi/wrappers/call_arguments.hpp"

#include <algorithm>

namespace ardoise::vmpi {

std::int64_t operation_number(MPI_Op op) noexcept {
  // From kOperationNames[1] on.
  const std::array known = {MPI_MAX, MPI_MIN,  MPI_SUM,  MPI_PROD,   MPI_LAND,   MPI_BAND,    MPI_LOR,
                            MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP};
  static_assert(known.size() + 2 == kOperationNames.size());
  const auto found = std::find(known.begin(), known.end(), op);
  if (found != known.end()) return 1 + (found - known.begin());
  int is_commutative = 1;
  if (op == MPI_OP_NULL || PMPI_Op_commutative(op, &is_commutative) != MPI_SUCCESS) return 0;
  return is_commutative != 0 ? 0 : static_cast<std::int64_t>(kOperationNames.size()) - 1;
}

}  // namespace ardoise::vmpi
