// Derived datatypes whose data lies in short runs of memory: MPI copies them piece by piece, several times slower than
// contiguous data.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

namespace ardoise::vmpi::type_runs {

inline constexpr std::int64_t kShort = 64;  // bytes: MPI copies longer runs about as fast as contiguous data

// The shortest mean run, in bytes, of the datatypes that this thread has used since it was set to 0; 0: none is short.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local std::uint32_t shortest = 0;

// By the combiner of MPI_Type_get_envelope: handles of such types are not freed.
[[nodiscard]] inline bool is_predefined(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

// The mean length of the contiguous runs in a datatype, bytes; INT64_MAX: it is contiguous, or not known. Neighbouring
// blocks count as separate runs, except in vectors; blocks of more than some thousand numbers count as contiguous ones.
[[nodiscard]] std::int64_t mean_run(MPI_Datatype type) noexcept;

// The program uses this datatype, which is not predefined, in a call.
void use(MPI_Datatype type) noexcept;
// Handles that use() knows are of the current generation.
inline constinit std::atomic<std::uint32_t> generation{1};
// A datatype was freed: its handle may be another one's.
inline void forget() noexcept { generation.fetch_add(1, std::memory_order_relaxed); }

}  // namespace ardoise::vmpi::type_runs
