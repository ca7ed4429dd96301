// The construction of an MPI datatype, as a text from which it can be rebuilt:
//
//   type        = predefined | constructor "(" integers ";" addresses ";" types ")"
//               | "opaque(" size ";" lb "," extent ";)"
//   predefined  = its name, as MPI_DOUBLE
//   constructor = as hvector, of MPI_COMBINER_HVECTOR
//
// The integers, addresses and datatypes are those of MPI_Type_get_contents, separated by commas:
// "vector(10,1,20;;MPI_DOUBLE)", "resized(;0,16;struct(2,1,3;0,8;MPI_INT,MPI_CHAR))". opaque: the text would not fit
// into a definition.
#pragma once

#include <cstdint>

#include "instrument/record/datatypes.hpp"

namespace ardoise::instrument {

// word: of a valid handle (vmpi::handle_word), or of MPI_DATATYPE_NULL, which has no text. Calls MPI.
[[nodiscard]] DatatypeFacts describe_type(std::int64_t word);

}  // namespace ardoise::instrument
