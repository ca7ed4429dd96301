// Arguments of MPI calls beyond those that every record has: which there are. Wrappers tell them to an observer that
// wants them (wrappers/call_arguments.hpp), event records carry them, traces show them. Includes no mpi.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ardoise::vmpi {

// Numbers are part of the event format. Names are those of the MPI standard where it has one.
enum class ArgumentKind : std::uint8_t {
  kNone = 0,
  kCount = 1,
  kSendCount = 2,
  kReceiveCount = 3,
  kPartitions = 4,
  kType = 5,  // datatypes: their number in the process (DatatypeDefinition)
  kSendType = 6,
  kReceiveType = 7,
  kOtherType = 8,  // of the target's side, of a file's view, or what a datatype is made of
  kSource = 9,     // as the program gave it: kAnySource where it did not care
  kTag = 10,       // of a receive or a probe, likewise
  kReceiveTag = 11,
  kOperation = 12,      // kOperationNames
  kInPlace = 13,        // 1: MPI_IN_PLACE instead of a buffer; else it is not told
  kStatusIgnored = 14,  // 1: MPI_STATUS(ES)_IGNORE; else it is not told
  kSendCounts = 15,
  kReceiveCounts = 16,
  kSendDisplacements = 17,
  kReceiveDisplacements = 18,
  kSendTypes = 19,
  kReceiveTypes = 20,
  kRequests = 21,   // of a call that uses them: how many ticks before it each was started; 0: null, inactive or not
                    // known; -1: one of those that share a handle, and were complete at once
  kFlag = 22,       // outcome: true or not
  kIndex = 23,      // outcome of MPI_Waitany and MPI_Testany; -1: MPI_UNDEFINED
  kCompleted = 24,  // outcome of MPI_Waitsome and MPI_Testsome: the indices
  kInteger = 25,    // any other: colour, key, assertion, mode …, in the order of the parameters
  kAddress = 26,    // a displacement, a size
  kOffset = 27,     // in a file
  kOtherCommunicator = 28,  // of two, the second; as numbers of the process
  kNewCommunicator = 29,    // outcome, likewise
  kSources = 30,            // neighbours in a communicator with a topology that was made, in their order; -1: none
  kDestinations = 31,
  kPersistent = 32,  // of a call that starts persistent requests, or frees one: how many ticks before it each was made;
                     // 0: is none, or not known
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

// What kOperation says.
inline constexpr std::array<std::string_view, 16> kOperationNames = {
    "user-defined", "MPI_MAX",     "MPI_MIN",   "MPI_SUM",
    "MPI_PROD",     "MPI_LAND",    "MPI_BAND",  "MPI_LOR",
    "MPI_BOR",      "MPI_LXOR",    "MPI_BXOR",  "MPI_MAXLOC",
    "MPI_MINLOC",   "MPI_REPLACE", "MPI_NO_OP", "user-defined, not commutative"};

}  // namespace ardoise::vmpi
