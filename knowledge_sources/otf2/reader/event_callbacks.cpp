// Each callback lists the members of ArchivedEvent for OTF2's arguments, in order.
#include "knowledge_sources/otf2/reader/event_callbacks.hpp"

#include <otf2/OTF2_AttributeList.h>
#include <otf2/otf2.h>

#include <bit>
#include <type_traits>

namespace ardoise::knowledge_sources {
namespace {

using Kind = ArchivedKind;
using Event = ArchivedEvent;

OTF2_CallbackCode deliver(EventSink& sink, Event& event, const OTF2_AttributeList* list) noexcept {
  event.location = &sink.location;
  event.position = sink.position++;
  sink.last_time = event.time;
  ++sink.counts[static_cast<std::size_t>(event.kind)];
  try {
    if (const std::uint32_t count = OTF2_AttributeList_GetNumberOfElements(list); count != 0) [[unlikely]] {
      sink.attributes.clear();
      for (std::uint32_t i = 0; i < count; ++i) {
        OTF2_AttributeRef reference = 0;
        OTF2_Type type = OTF2_TYPE_NONE;
        OTF2_AttributeValue value{};
        if (OTF2_AttributeList_GetAttributeByIndex(list, i, &reference, &type, &value) == OTF2_SUCCESS)
          sink.attributes.push_back({reference, archived_value(type, value)});
      }
      event.attributes = sink.attributes;
    }
    return sink.consumer.event(event) ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
  } catch (...) {
    sink.thrown = std::current_exception();
    return OTF2_CALLBACK_INTERRUPT;
  }
}

template <Kind kind, auto... Members>
struct On {
  template <class... Arguments>
  static OTF2_CallbackCode call(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                                OTF2_AttributeList* list, Arguments... arguments) {
    Event event;
    event.kind = kind;
    event.time = time;
    ((event.*Members = static_cast<std::remove_reference_t<decltype(event.*Members)>>(arguments)), ...);
    return deliver(*static_cast<EventSink*>(user), event, list);
  }
};

OTF2_CallbackCode on_metric(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user, OTF2_AttributeList* list,
                            OTF2_MetricRef metric, std::uint8_t count, const OTF2_Type* types,
                            const OTF2_MetricValue* values) {
  EventSink& sink = *static_cast<EventSink*>(user);
  sink.metrics.clear();
  for (std::uint8_t i = 0; i < count; ++i) {
    // A metric always has 64 bits.
    sink.metrics.push_back({types[i], types[i] == OTF2_TYPE_DOUBLE
                                          ? std::bit_cast<std::uint64_t>(values[i].floating_point)
                                          : values[i].unsigned_int});
  }
  Event event;
  event.kind = Kind::kMetric;
  event.time = time;
  event.reference = metric;
  event.metrics = sink.metrics;
  return deliver(sink, event, list);
}

OTF2_CallbackCode on_program_begin(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                                   OTF2_AttributeList* list, OTF2_StringRef name, std::uint32_t count,
                                   const OTF2_StringRef* arguments) {
  Event event;
  event.kind = Kind::kProgramBegin;
  event.time = time;
  event.reference = name;
  if (count != 0) event.arguments = {arguments, count};
  return deliver(*static_cast<EventSink*>(user), event, list);
}

// Members by content.
constexpr auto kRef = &Event::reference;
constexpr auto kComm = &Event::comm;
constexpr auto kPeer = &Event::peer;
constexpr auto kTag = &Event::tag;
constexpr auto kBytes = &Event::bytes;
constexpr auto kReceived = &Event::bytes_received;
constexpr auto kRequest = &Event::request;
constexpr auto kValue = &Event::value;
constexpr auto kOperation = &Event::operation;
constexpr auto kMode = &Event::mode;
constexpr auto kFlags = &Event::flags;
constexpr auto kOther = &Event::other;

}  // namespace

void set_event_callbacks(OTF2_EvtReaderCallbacks* calls) {
  OTF2_EvtReaderCallbacks_SetMetricCallback(calls, on_metric);
  OTF2_EvtReaderCallbacks_SetProgramBeginCallback(calls, on_program_begin);
#define ARDOISE_ON(name, ...) \
  OTF2_EvtReaderCallbacks_Set##name##Callback(calls, On<Kind::k##name __VA_OPT__(, ) __VA_ARGS__>::call)
  ARDOISE_ON(Unknown);
  ARDOISE_ON(BufferFlush, kValue);
  ARDOISE_ON(MeasurementOnOff, kMode);
  ARDOISE_ON(Enter, kRef);
  ARDOISE_ON(Leave, kRef);
  ARDOISE_ON(MpiSend, kPeer, kComm, kTag, kBytes);
  ARDOISE_ON(MpiIsend, kPeer, kComm, kTag, kBytes, kRequest);
  ARDOISE_ON(MpiIsendComplete, kRequest);
  ARDOISE_ON(MpiIrecvRequest, kRequest);
  ARDOISE_ON(MpiRecv, kPeer, kComm, kTag, kBytes);
  ARDOISE_ON(MpiIrecv, kPeer, kComm, kTag, kBytes, kRequest);
  ARDOISE_ON(MpiRequestTest, kRequest);
  ARDOISE_ON(MpiRequestCancelled, kRequest);
  ARDOISE_ON(MpiCollectiveBegin);
  ARDOISE_ON(MpiCollectiveEnd, kOperation, kComm, kPeer, kBytes, kReceived);
  ARDOISE_ON(OmpFork, kValue);
  ARDOISE_ON(OmpJoin);
  ARDOISE_ON(OmpAcquireLock, kRef, kValue);
  ARDOISE_ON(OmpReleaseLock, kRef, kValue);
  ARDOISE_ON(OmpTaskCreate, kRequest);
  ARDOISE_ON(OmpTaskSwitch, kRequest);
  ARDOISE_ON(OmpTaskComplete, kRequest);
  ARDOISE_ON(ParameterString, kRef, kValue);
  ARDOISE_ON(ParameterInt, kRef, kValue);
  ARDOISE_ON(ParameterUnsignedInt, kRef, kValue);
  ARDOISE_ON(RmaWinCreate, kRef);
  ARDOISE_ON(RmaWinDestroy, kRef);
  ARDOISE_ON(RmaCollectiveBegin);
  ARDOISE_ON(RmaCollectiveEnd, kOperation, kMode, kRef, kPeer, kBytes, kReceived);
  ARDOISE_ON(RmaGroupSync, kMode, kRef, kValue);
  ARDOISE_ON(RmaRequestLock, kRef, kPeer, kRequest, kMode);
  ARDOISE_ON(RmaAcquireLock, kRef, kPeer, kRequest, kMode);
  ARDOISE_ON(RmaTryLock, kRef, kPeer, kRequest, kMode);
  ARDOISE_ON(RmaReleaseLock, kRef, kPeer, kRequest);
  ARDOISE_ON(RmaSync, kRef, kPeer, kMode);
  ARDOISE_ON(RmaWaitChange, kRef);
  ARDOISE_ON(RmaPut, kRef, kPeer, kBytes, kRequest);
  ARDOISE_ON(RmaGet, kRef, kPeer, kBytes, kRequest);
  ARDOISE_ON(RmaAtomic, kRef, kPeer, kOperation, kBytes, kReceived, kRequest);
  ARDOISE_ON(RmaOpCompleteBlocking, kRef, kRequest);
  ARDOISE_ON(RmaOpCompleteNonBlocking, kRef, kRequest);
  ARDOISE_ON(RmaOpTest, kRef, kRequest);
  ARDOISE_ON(RmaOpCompleteRemote, kRef, kRequest);
  ARDOISE_ON(ThreadFork, kMode, kValue);
  ARDOISE_ON(ThreadJoin, kMode);
  ARDOISE_ON(ThreadTeamBegin, kComm);
  ARDOISE_ON(ThreadTeamEnd, kComm);
  ARDOISE_ON(ThreadAcquireLock, kMode, kRef, kValue);
  ARDOISE_ON(ThreadReleaseLock, kMode, kRef, kValue);
  ARDOISE_ON(ThreadTaskCreate, kComm, kPeer, kValue);
  ARDOISE_ON(ThreadTaskSwitch, kComm, kPeer, kValue);
  ARDOISE_ON(ThreadTaskComplete, kComm, kPeer, kValue);
  ARDOISE_ON(ThreadCreate, kComm, kValue);
  ARDOISE_ON(ThreadBegin, kComm, kValue);
  ARDOISE_ON(ThreadWait, kComm, kValue);
  ARDOISE_ON(ThreadEnd, kComm, kValue);
  ARDOISE_ON(CallingContextEnter, kRef, kValue);
  ARDOISE_ON(CallingContextLeave, kRef);
  ARDOISE_ON(CallingContextSample, kRef, kValue, kOther);
  ARDOISE_ON(IoCreateHandle, kRef, kMode, kFlags, kOther);
  ARDOISE_ON(IoDestroyHandle, kRef);
  ARDOISE_ON(IoDuplicateHandle, kRef, kOther, kFlags);
  ARDOISE_ON(IoSeek, kRef, kValue, kMode, kBytes);
  ARDOISE_ON(IoChangeStatusFlags, kRef, kFlags);
  ARDOISE_ON(IoDeleteFile, kOther, kRef);
  ARDOISE_ON(IoOperationBegin, kRef, kMode, kFlags, kBytes, kRequest);
  ARDOISE_ON(IoOperationTest, kRef, kRequest);
  ARDOISE_ON(IoOperationIssued, kRef, kRequest);
  ARDOISE_ON(IoOperationComplete, kRef, kBytes, kRequest);
  ARDOISE_ON(IoOperationCancelled, kRef, kRequest);
  ARDOISE_ON(IoAcquireLock, kRef, kMode);
  ARDOISE_ON(IoReleaseLock, kRef, kMode);
  ARDOISE_ON(IoTryLock, kRef, kMode);
  ARDOISE_ON(ProgramEnd, kValue);
  ARDOISE_ON(NonBlockingCollectiveRequest, kRequest);
  ARDOISE_ON(NonBlockingCollectiveComplete, kOperation, kComm, kPeer, kBytes, kReceived, kRequest);
  ARDOISE_ON(CommCreate, kComm);
  ARDOISE_ON(CommDestroy, kComm);
#undef ARDOISE_ON
}

}  // namespace ardoise::knowledge_sources
