// Kinds of MPI and I/O functions in a trace: collectives, regions and accesses to files.
#pragma once

#include <otf2/OTF2_Definitions.h>
#include <otf2/OTF2_Events.h>

#include <cstdint>
#include <optional>

#include "instrument/format/event_format.hpp"
#include "instrument/format/posix_functions.hpp"

namespace ardoise::knowledge_sources {

// For a function with the shape of a collective; neighbourhood collectives map to the one of the same name.
[[nodiscard]] OTF2_CollectiveOp collective_op(std::uint32_t function);

// A collective, even if the call only starts it; or a call that collectively creates a communicator, window or file,
// whose collective_op() is that of its creation.
[[nodiscard]] bool is_collective(const instrument::MpiRecord& record);

struct RegionKind {
  OTF2_RegionRole role;
  OTF2_Paradigm paradigm;
};
[[nodiscard]] RegionKind mpi_region(std::uint32_t function);
[[nodiscard]] RegionKind posix_region(std::uint32_t function);

// nullopt: no atomic one-sided operation.
[[nodiscard]] std::optional<OTF2_RmaAtomicType> atomic_type(std::uint32_t function);

// nullopt: no access to data.
[[nodiscard]] std::optional<OTF2_IoOperationMode> io_mode(instrument::PosixCategory category);

// Objects missing in the events of a call that a replay needs.
struct MissingObjects {
  bool communicator = false, peer = false, tag = false, window = false, file = false;
  bool prepares = false;  // creates a persistent request
};
[[nodiscard]] MissingObjects missing_objects(const instrument::MpiRecord& record);

}  // namespace ardoise::knowledge_sources
