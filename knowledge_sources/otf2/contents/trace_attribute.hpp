// Attributes of a trace's events: key, name, type and description. A key is the same in all parts of a trace.
#pragma once

#include <otf2/OTF2_GeneralDefinitions.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "vmpi/argument_kinds.hpp"

namespace ardoise::knowledge_sources {

// Classes that --trace selects (attributes=).
enum class AttributeClass : std::uint8_t { kArguments, kMessages, kWaiting, kClocks, kPlugins, kErrors, kStacks };
inline constexpr std::array<std::string_view, 7> kAttributeClassNames = {"arguments", "messages", "waiting", "clocks",
                                                                         "plugins",   "errors",   "stacks"};

class AttributeClasses {
 public:
  constexpr AttributeClasses() = default;
  [[nodiscard]] static constexpr AttributeClasses all() {
    AttributeClasses classes;
    classes.bits_ = (1u << kAttributeClassNames.size()) - 1;
    return classes;
  }
  // False: there is none of this name.
  [[nodiscard]] constexpr bool add(std::string_view name) {
    for (std::size_t i = 0; i < kAttributeClassNames.size(); ++i) {
      if (kAttributeClassNames[i] != name) continue;
      bits_ |= 1u << i;
      // they require messages
      if (has(AttributeClass::kClocks)) bits_ |= 1u << static_cast<unsigned>(AttributeClass::kMessages);
      return true;
    }
    return false;
  }
  [[nodiscard]] constexpr bool has(AttributeClass one) const { return (bits_ >> static_cast<unsigned>(one) & 1) != 0; }

 private:
  unsigned bits_ = 0;
};

// Arguments have the numbers of vmpi::ArgumentKind.
inline constexpr std::uint32_t kRequestAttribute = 40, kMessageAttribute = 41, kWaitingAttribute = 42,
                               kWaitAttribute = 43, kCollectiveAttribute = 44, kLamportAttribute = 45,
                               kErrorAttribute = 46, kCommAttribute = 47, kPeerAttribute = 48, kPeerTagAttribute = 49,
                               kWindowAttribute = 50, kFileAttribute = 51, kPreparedAttribute = 52,
                               kCallStackAttribute = 53;
inline constexpr std::uint32_t kMostAttributes = 64;  // limit of keys; those of plug-ins begin here

struct TraceAttribute {
  std::uint32_t key;
  std::string_view name, description;
  OTF2_Type type;
};

inline constexpr auto kTraceAttributes = [] {
  using enum vmpi::ArgumentKind;
  const auto of = [](vmpi::ArgumentKind kind, std::string_view name, std::string_view description, OTF2_Type type) {
    return TraceAttribute{static_cast<std::uint32_t>(kind), name, description, type};
  };
  constexpr OTF2_Type kNumber = OTF2_TYPE_INT64, kText = OTF2_TYPE_STRING, kYes = OTF2_TYPE_UINT8;
  return std::to_array<TraceAttribute>({
      of(kCount, "ardoise::count", "number of elements as passed by the program", kNumber),
      of(kSendCount, "ardoise::sendcount", "number of elements to send", kNumber),
      of(kReceiveCount, "ardoise::recvcount", "maximum number of elements to receive", kNumber),
      of(kPartitions, "ardoise::partitions", "number of partitions of a message", kNumber),
      of(kType, "ardoise::datatype", "construction of the datatype", kText),
      of(kSendType, "ardoise::sendtype", "construction of the datatype of the sent data", kText),
      of(kReceiveType, "ardoise::recvtype", "construction of the datatype of the received data", kText),
      of(kOtherType, "ardoise::othertype", "construction of the target's datatype, or of the types of a file view",
         kText),
      of(kSource, "ardoise::source", "source as passed by the program; -2: MPI_ANY_SOURCE, -1: MPI_PROC_NULL", kNumber),
      of(kTag, "ardoise::tag", "tag of a receive or probe as passed by the program; -1: MPI_ANY_TAG", kNumber),
      of(kReceiveTag, "ardoise::recvtag", "tag of the receiving half; -1: MPI_ANY_TAG", kNumber),
      of(kOperation, "ardoise::op", "operation of a reduction", kText),
      of(kInPlace, "ardoise::in_place", "1: MPI_IN_PLACE", kYes),
      of(kStatusIgnored, "ardoise::status_ignored", "1: status ignored by the program", kYes),
      of(kSendCounts, "ardoise::sendcounts", "elements for each process", kText),
      of(kReceiveCounts, "ardoise::recvcounts", "elements from each process", kText),
      of(kSendDisplacements, "ardoise::sdispls", "displacements of the sent data", kText),
      of(kReceiveDisplacements, "ardoise::rdispls", "displacements of the received data", kText),
      of(kSendTypes, "ardoise::sendtypes", "datatypes for each process", kText),
      of(kReceiveTypes, "ardoise::recvtypes", "datatypes from each process", kText),
      of(kRequests, "ardoise::requests",
         "requests of the call, as distances below the highest one that the thread started; -: null or inactive, *: "
         "unknown",
         kText),
      of(kFlag, "ardoise::flag", "result of a test or probe", kYes),
      of(kIndex, "ardoise::index", "index of the completed request; -1: none", kNumber),
      of(kCompleted, "ardoise::completed", "indices of the completed requests", kText),
      of(kInteger, "ardoise::integers", "further integers, in the order of the parameters", kText),
      of(kAddress, "ardoise::addresses", "displacements and sizes, in the order of the parameters", kText),
      of(kOffset, "ardoise::offset", "offset in a file, as passed by the program", kNumber),
      of(kOtherCommunicator, "ardoise::othercomm", "the second communicator", OTF2_TYPE_COMM),
      of(kNewCommunicator, "ardoise::newcomm", "the created communicator", OTF2_TYPE_COMM),
      of(kSources, "ardoise::sources", "sources of neighbourhood collectives on the new communicator; -1: none", kText),
      of(kDestinations, "ardoise::destinations",
         "destinations of neighbourhood collectives on the new communicator; -1: none", kText),
      of(kPersistent, "ardoise::persistent",
         "persistent requests that are started or freed, as their numbers in ardoise::prepared; -: unknown", kText),
      {kRequestAttribute, "ardoise::request", "request of the call, as in MpiIsend, MpiIrecvRequest …",
       OTF2_TYPE_UINT64},
      {kMessageAttribute, "ardoise::message",
       "number of the message on its channel (sender, receiver, communicator, tag), from 0: a "
       "send and a receive with equal numbers belong together",
       OTF2_TYPE_UINT64},
      {kWaitingAttribute, "ardoise::waiting", "waiting time of the call in ns", OTF2_TYPE_UINT64},
      {kWaitAttribute, "ardoise::wait", "wait pattern as in the report; of several the longest", OTF2_TYPE_STRING},
      {kCollectiveAttribute, "ardoise::collective",
       "number of the collective on the communicator, from 0: calls with equal numbers "
       "belong together",
       OTF2_TYPE_UINT64},
      {kErrorAttribute, "ardoise::error", "errno of a failed I/O call; 0: unknown", OTF2_TYPE_UINT64},
      {kLamportAttribute, "ardoise::lamport", "Lamport clock", OTF2_TYPE_UINT64},
      {kCommAttribute, "ardoise::comm", "communicator of a call whose events lack it", OTF2_TYPE_COMM},
      {kPeerAttribute, "ardoise::peer",
       "destination or root of a persistent operation, root of a non-blocking one (-3: MPI_ROOT), source "
       "of a probed message, target of a flush",
       kNumber},
      {kPeerTagAttribute, "ardoise::peertag", "tag of a persistent send, or of a probed message", kNumber},
      {kWindowAttribute, "ardoise::window", "window that a call created, used or freed", OTF2_TYPE_RMA_WIN},
      {kFileAttribute, "ardoise::file", "file that a call of MPI-IO opened, used or closed", OTF2_TYPE_IO_HANDLE},
      {kPreparedAttribute, "ardoise::prepared", "number of the created persistent request in its process, from 0",
       OTF2_TYPE_UINT64},
      {kCallStackAttribute, "ardoise::callstack", "calling context of the call", OTF2_TYPE_CALLING_CONTEXT},
  });
}();

[[nodiscard]] constexpr const TraceAttribute* trace_attribute(std::uint32_t key) {
  for (const TraceAttribute& each : kTraceAttributes) {
    if (each.key == key) return &each;
  }
  return nullptr;
}

}  // namespace ardoise::knowledge_sources
