// What functions of MPI and I/O are in a trace: kinds of collectives, of regions and of accesses to files.
#pragma once

#include <otf2/OTF2_Definitions.h>
#include <otf2/OTF2_Events.h>

#include <cstdint>
#include <optional>

#include "instrument/format/event_format.hpp"
#include "instrument/format/posix_functions.hpp"

namespace ardoise::knowledge_sources {

// Of a function with the shape of a collective; those of a neighbourhood are like the one of the same name.
[[nodiscard]] OTF2_CollectiveOp collective_op(std::uint32_t function);

// A collective, also one that only starts; or a call in which all ranks of a communicator make another one on it, a
// window or a file, whose collective_op() is that.
[[nodiscard]] bool is_collective(const instrument::MpiRecord& record);

struct RegionKind {
  OTF2_RegionRole role;
  OTF2_Paradigm paradigm;
};
[[nodiscard]] RegionKind mpi_region(std::uint32_t function);
[[nodiscard]] RegionKind posix_region(std::uint32_t function);

// nullopt: it is no atomic operation of one-sided communication.
[[nodiscard]] std::optional<OTF2_RmaAtomicType> atomic_type(std::uint32_t function);

// nullopt: it is no access to data.
[[nodiscard]] std::optional<OTF2_IoOperationMode> io_mode(instrument::PosixCategory category);

// What the events of a call leave out, and who makes the call again must know.
struct UntoldObjects {
  bool communicator = false, peer = false, tag = false, window = false, file = false;
  bool prepares = false;  // makes a persistent request
};
[[nodiscard]] UntoldObjects untold_objects(const instrument::MpiRecord& record);

}  // namespace ardoise::knowledge_sources
