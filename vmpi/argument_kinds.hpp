// Numbers of the arguments of MPI calls beyond those in every record. Wrappers pass the arguments to an observer that
// wants them (wrappers/call_arguments.hpp), event records carry them, traces show them. Includes no mpi.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ardoise::vmpi {

// The numbers are part of the event format. The names are those of the MPI standard where it names the argument.
enum class ArgumentKind : std::uint8_t {
  kNone = 0,
  kCount = 1,
  kSendCount = 2,
  kReceiveCount = 3,
  kPartitions = 4,
  kType = 5,  // datatypes: their number in the process (DatatypeDefinition)
  kSendType = 6,
  kReceiveType = 7,
  kOtherType = 8,  // datatype of the target, of a file view, or the base of a derived datatype
  kSource = 9,     // as passed; kAnySource for MPI_ANY_SOURCE
  kTag = 10,       // of a receive or a probe; kAnyTag for MPI_ANY_TAG
  kReceiveTag = 11,
  kOperation = 12,      // kOperationNames
  kInPlace = 13,        // 1: MPI_IN_PLACE instead of a buffer; otherwise absent
  kStatusIgnored = 14,  // 1: MPI_STATUS(ES)_IGNORE; otherwise absent
  kSendCounts = 15,
  kReceiveCounts = 16,
  kSendDisplacements = 17,
  kReceiveDisplacements = 18,
  kSendTypes = 19,
  kReceiveTypes = 20,
  kRequests = 21,   // age of each in ticks; 0: null, inactive or unknown; -1: shares its handle, complete at start
  kFlag = 22,       // result: true or not
  kIndex = 23,      // result of MPI_Waitany and MPI_Testany; -1: MPI_UNDEFINED
  kCompleted = 24,  // result of MPI_Waitsome and MPI_Testsome: the indices
  kInteger = 25,    // any other integer: colour, key, assertion, mode …, in the order of the parameters
  kAddress = 26,    // a displacement, a size
  kOffset = 27,     // in a file
  kOtherCommunicator = 28,  // the second of two communicators, as its number in the process
  kNewCommunicator = 29,    // result, as its number in the process
  kSources = 30,            // neighbours in the communicator with a topology that was created, in their order; -1: none
  kDestinations = 31,
  kPersistent = 32,  // of a start or free of persistent requests: age of each in ticks; 0: none or unknown
};

inline constexpr std::array<std::string_view, 33> kArgumentNames = {
    "",           "count",   "sendcount", "recvcount", "partitions", "datatype", "sendtype",       "recvtype",
    "othertype",  "source",  "tag",       "recvtag",   "op",         "in_place", "status_ignored", "sendcounts",
    "recvcounts", "sdispls", "rdispls",   "sendtypes", "recvtypes",  "requests", "flag",           "index",
    "completed",  "integer", "address",   "offset",    "othercomm",  "newcomm",  "sources",        "destinations",
    "persistent"};
static_assert(kArgumentNames.size() == static_cast<std::size_t>(ArgumentKind::kPersistent) + 1);

[[nodiscard]] constexpr bool is_datatype(ArgumentKind kind) {
  return (kind >= ArgumentKind::kType && kind <= ArgumentKind::kOtherType) || kind == ArgumentKind::kSendTypes ||
         kind == ArgumentKind::kReceiveTypes;
}

// Names of the values of kOperation.
inline constexpr std::array<std::string_view, 16> kOperationNames = {
    "user-defined", "MPI_MAX",     "MPI_MIN",   "MPI_SUM",
    "MPI_PROD",     "MPI_LAND",    "MPI_BAND",  "MPI_LOR",
    "MPI_BOR",      "MPI_LXOR",    "MPI_BXOR",  "MPI_MAXLOC",
    "MPI_MINLOC",   "MPI_REPLACE", "MPI_NO_OP", "user-defined, not commutative"};

}  // namespace ardoise::vmpi
