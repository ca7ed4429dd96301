// Which loaded objects are MPI: what they read and write is not the program's. Decided by what is loaded and who needs
// whom, since a program's own library may be called libmpi_solver.so. Used by modules.cpp.
#pragma once

#include <cstdint>
#include <vector>

namespace ardoise::instrument {

// The load biases of the MPI library, of the objects that only MPI needs (its language bindings and plug-ins, its
// transports), and of the library that this code is in. An object that is needed by the program, too, is the program's.
// Takes the loader's lock: see modules.hpp.
[[nodiscard]] std::vector<std::uint64_t> mpi_modules();

}  // namespace ardoise::instrument
