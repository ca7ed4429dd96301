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
      of(kCount, "ardoise::count", "elements, as the program gave it", kNumber),
      of(kSendCount, "ardoise::sendcount", "elements that are sent", kNumber),
      of(kReceiveCount, "ardoise::recvcount", "elements that can be received", kNumber),
      of(kPartitions, "ardoise::partitions", "parts of a partitioned message", kNumber),
      of(kType, "ardoise::datatype", "how to make the datatype", kText),
      of(kSendType, "ardoise::sendtype", "how to make the datatype of what is sent", kText),
      of(kReceiveType, "ardoise::recvtype", "how to make the datatype of what is received", kText),
      of(kOtherType, "ardoise::othertype", "how to make the target's datatype, or the types of a file's view", kText),
      of(kSource, "ardoise::source", "source as the program gave it; -2: MPI_ANY_SOURCE, -1: MPI_PROC_NULL", kNumber),
      of(kTag, "ardoise::tag", "tag of a receive or probe as the program gave it; -1: MPI_ANY_TAG", kNumber),
      of(kReceiveTag, "ardoise::recvtag", "tag of the receiving half, likewise", kNumber),
      of(kOperation, "ardoise::op", "operation of a reduction", kText),
      of(kInPlace, "ardoise::in_place", "1: MPI_IN_PLACE", kYes),
      of(kStatusIgnored, "ardoise::status_ignored", "1: the program wanted no status", kYes),
      of(kSendCounts, "ardoise::sendcounts", "elements for each process", kText),
      of(kReceiveCounts, "ardoise::recvcounts", "elements from each process", kText),
      of(kSendDisplacements, "ardoise::sdispls", "displacements in what is sent", kText),
      of(kReceiveDisplacements, "ardoise::rdispls", "displacements in what is received", kText),
      of(kSendTypes, "ardoise::sendtypes", "datatypes for each process", kText),
      of(kReceiveTypes, "ardoise::recvtypes", "datatypes from each process", kText),
      of(kRequests, "ardoise::requests",
         "requests of the call: how far below the highest that the thread started; -: null or inactive, *: not told",
         kText),
      of(kFlag, "ardoise::flag", "what a test or probe answered", kYes),
      of(kIndex, "ardoise::index", "which request was complete; -1: none", kNumber),
      of(kCompleted, "ardoise::completed", "which requests were complete", kText),
      of(kInteger, "ardoise::integers", "further integers, in the order of the parameters", kText),
      of(kAddress, "ardoise::addresses", "displacements and sizes, in the order of the parameters", kText),
      of(kOffset, "ardoise::offset", "offset in a file, as the program gave it", kNumber),
      of(kOtherCommunicator, "ardoise::othercomm", "the second communicator", OTF2_TYPE_COMM),
      of(kNewCommunicator, "ardoise::newcomm", "the communicator that was made", OTF2_TYPE_COMM),
      of(kSources, "ardoise::sources",
         "whom neighbourhood collectives on the new communicator get data from; -1: nobody", kText),
      of(kDestinations, "ardoise::destinations", "whom they send to, likewise", kText),
      of(kPersistent, "ardoise::persistent",
         "persistent requests that are started or freed: the numbers of their ardoise::prepared; -: not known", kText),
      {kRequestAttribute, "ardoise::request", "request of the call, as in MpiIsend, MpiIrecvRequest …",
       OTF2_TYPE_UINT64},
      {kMessageAttribute, "ardoise::message",
       "number of the message among those from its sender to its receiver in the communicator with the tag, from 0: a "
       "send and a receive with the same numbers belong together",
       OTF2_TYPE_UINT64},
      {kWaitingAttribute, "ardoise::waiting", "how long the call waited, in ns", OTF2_TYPE_UINT64},
      {kWaitAttribute, "ardoise::wait", "the pattern in which it waited, as in the report; of several the longest",
       OTF2_TYPE_STRING},
      {kCollectiveAttribute, "ardoise::collective",
       "number of the collective among those of its process on the communicator, from 0: those with the same number "
       "belong together",
       OTF2_TYPE_UINT64},
      {kErrorAttribute, "ardoise::error", "errno of a call of I/O that failed; 0: not known", OTF2_TYPE_UINT64},
      {kLamportAttribute, "ardoise::lamport", "Lamport clock", OTF2_TYPE_UINT64},
      {kCommAttribute, "ardoise::comm", "communicator of a call whose events do not say it", OTF2_TYPE_COMM},
      {kPeerAttribute, "ardoise::peer",
       "destination or root of an operation that is prepared, root of one that does not block (-3: MPI_ROOT), source "
       "of the message that a probe found, target of a flush",
       kNumber},
      {kPeerTagAttribute, "ardoise::peertag", "tag of a send that is prepared, of the message that a probe found",
       kNumber},
      {kWindowAttribute, "ardoise::window", "window that a call made, used or freed", OTF2_TYPE_RMA_WIN},
      {kFileAttribute, "ardoise::file", "file that a call of MPI-IO opened, used or closed", OTF2_TYPE_IO_HANDLE},
      {kPreparedAttribute, "ardoise::prepared", "number of the persistent request that is made, in its process from 0",
       OTF2_TYPE_UINT64},
      {kCallStackAttribute, "ardoise::callstack", "from where the call came: its calling context",
       OTF2_TYPE_CALLING_CONTEXT},
  });
}();

[[nodiscard]] constexpr const TraceAttribute* trace_attribute(std::uint32_t key) {
  for (const TraceAttribute& each : kTraceAttributes) {
    if (each.key == key) return &each;
  }
  return nullptr;
}

}  // namespace ardoise::knowledge_sources
