// Finds the loaded objects that belong to MPI: their I/O is not the program's. The dependencies of the loaded objects
// decide, not the names, since a program's own library may be called libmpi_solver.so. Used by modules.cpp.
#pragma once

#include <cstdint>
#include <vector>

namespace ardoise::instrument {

// The load biases of the MPI library, of objects that only MPI needs (its language bindings, plug-ins, transports), and
// of this library. An object that the program also needs belongs to the program. Takes the loader's lock: see
// modules.hpp.
[[nodiscard]] std::vector<std::uint64_t> mpi_modules();

}  // namespace ardoise::instrument
