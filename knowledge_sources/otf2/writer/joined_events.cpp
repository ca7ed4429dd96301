#include "knowledge_sources/otf2/writer/joined_events.hpp"

#include <otf2/otf2.h>

#include "knowledge_sources/otf2/writer/location_events.hpp"
#include "knowledge_sources/otf2/writer/otf2_archive.hpp"

namespace ardoise::knowledge_sources {
namespace {

using Target = JoinedEvents::Target;

OTF2_CallbackCode go_on_if(OTF2_ErrorCode code) {
  return code == OTF2_SUCCESS ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

// Role of an event for an operation that may end in another call than it starts in; its id is the last field.
enum class To : std::uint8_t { kNone, kStart, kMiddle, kEnd };
enum class Clock : bool { kNone, kHas };
// Makes ids of different kinds distinct.
enum class Ids : std::uint64_t { kRequests = 0, kFiles = std::uint64_t{1} << 62, kWindows = std::uint64_t{1} << 63 };

template <class... Fields>
std::uint64_t last_of(Fields... fields) {
  std::uint64_t last = 0;
  ((last = static_cast<std::uint64_t>(fields)), ...);
  return last;
}

// An event whose fields stay unchanged.
template <auto Write, To to, Ids ids, Clock clock, class... Fields>
OTF2_CallbackCode copy_event(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data,
                             OTF2_AttributeList* attributes, Fields... fields) {
  auto& target = *static_cast<Target*>(data);
  const std::uint64_t id = last_of(fields...) | static_cast<std::uint64_t>(ids);
  const bool is_kept = to == To::kNone     ? target.calls->keeps(time)
                       : to == To::kStart  ? target.calls->starts(time, id)
                       : to == To::kMiddle ? target.calls->goes_on(id)
                                           : target.calls->ends(id);
  if constexpr (clock == Clock::kHas) target.calls->take_clock(is_kept ? attributes : nullptr);
  if (!is_kept) return OTF2_CALLBACK_SUCCESS;
  return go_on_if(Write(target.out, attributes, target.move_to(time), fields...));
}
template <auto Write, bool enters>
OTF2_CallbackCode copy_region(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data,
                              OTF2_AttributeList* attributes, OTF2_RegionRef region) {
  auto& target = *static_cast<Target*>(data);
  const JoinedEvents::Numbers& numbers = *target.numbers;
  if (region >= numbers.regions.size()) return OTF2_CALLBACK_INTERRUPT;
  if (!(enters ? target.calls->enter(time, numbers.keys[region], attributes) : target.calls->leave(attributes)))
    return OTF2_CALLBACK_SUCCESS;
  return go_on_if(
      Write(target.out, attributes, target.move_to(time), static_cast<OTF2_RegionRef>(numbers.regions[region])));
}

OTF2_CallbackCode copy_parameter(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data,
                                 OTF2_AttributeList* attributes, OTF2_ParameterRef name, std::int64_t value) {
  auto& target = *static_cast<Target*>(data);
  if (name >= target.numbers->names.size()) return OTF2_CALLBACK_INTERRUPT;
  if (!target.calls->keeps(time)) return OTF2_CALLBACK_SUCCESS;
  return go_on_if(OTF2_EvtWriter_ParameterInt(target.out, attributes, target.move_to(time),
                                              static_cast<OTF2_ParameterRef>(target.numbers->names[name]), value));
}

OTF2_CallbackCode copy_metric(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data,
                              OTF2_AttributeList* attributes, OTF2_MetricRef name, std::uint8_t count,
                              const OTF2_Type* types, const OTF2_MetricValue* values) {
  auto& target = *static_cast<Target*>(data);
  if (name >= target.numbers->names.size()) return OTF2_CALLBACK_INTERRUPT;
  if (!target.calls->keeps(time)) return OTF2_CALLBACK_SUCCESS;
  return go_on_if(OTF2_EvtWriter_Metric(target.out, attributes, target.move_to(time),
                                        static_cast<OTF2_MetricRef>(target.numbers->names[name]), count, types,
                                        values));
}

// All events that TraceLocation and TraceSamples write.
void set_callbacks(OTF2_EvtReaderCallbacks* to) {
  OTF2_EvtReaderCallbacks_SetEnterCallback(to, copy_region<OTF2_EvtWriter_Enter, true>);
  OTF2_EvtReaderCallbacks_SetLeaveCallback(to, copy_region<OTF2_EvtWriter_Leave, false>);
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(
      to, copy_event<OTF2_EvtWriter_MpiSend, To::kNone, Ids::kRequests, Clock::kHas>);
  OTF2_EvtReaderCallbacks_SetMpiRecvCallback(
      to, copy_event<OTF2_EvtWriter_MpiRecv, To::kNone, Ids::kRequests, Clock::kHas>);
  OTF2_EvtReaderCallbacks_SetMpiIsendCallback(
      to, copy_event<OTF2_EvtWriter_MpiIsend, To::kStart, Ids::kRequests, Clock::kHas>);
  OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(
      to, copy_event<OTF2_EvtWriter_MpiIsendComplete, To::kEnd, Ids::kRequests, Clock::kNone>);
  OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(
      to, copy_event<OTF2_EvtWriter_MpiIrecvRequest, To::kStart, Ids::kRequests, Clock::kNone>);
  OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(
      to, copy_event<OTF2_EvtWriter_MpiIrecv, To::kEnd, Ids::kRequests, Clock::kHas>);
  OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(
      to, copy_event<OTF2_EvtWriter_MpiRequestCancelled, To::kEnd, Ids::kRequests, Clock::kNone>);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(
      to, copy_event<OTF2_EvtWriter_MpiCollectiveBegin, To::kNone, Ids::kRequests, Clock::kHas>);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(
      to, copy_event<OTF2_EvtWriter_MpiCollectiveEnd, To::kNone, Ids::kRequests, Clock::kHas>);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(
      to, copy_event<OTF2_EvtWriter_NonBlockingCollectiveRequest, To::kStart, Ids::kRequests, Clock::kHas>);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(
      to, copy_event<OTF2_EvtWriter_NonBlockingCollectiveComplete, To::kEnd, Ids::kRequests, Clock::kHas>);
  OTF2_EvtReaderCallbacks_SetIoOperationBeginCallback(
      to, copy_event<OTF2_EvtWriter_IoOperationBegin, To::kStart, Ids::kFiles, Clock::kNone>);
  OTF2_EvtReaderCallbacks_SetIoOperationIssuedCallback(
      to, copy_event<OTF2_EvtWriter_IoOperationIssued, To::kMiddle, Ids::kFiles, Clock::kNone>);
  OTF2_EvtReaderCallbacks_SetIoOperationCompleteCallback(
      to, copy_event<OTF2_EvtWriter_IoOperationComplete, To::kEnd, Ids::kFiles, Clock::kNone>);
  OTF2_EvtReaderCallbacks_SetRmaPutCallback(to,
                                            copy_event<OTF2_EvtWriter_RmaPut, To::kStart, Ids::kWindows, Clock::kNone>);
  OTF2_EvtReaderCallbacks_SetRmaGetCallback(to,
                                            copy_event<OTF2_EvtWriter_RmaGet, To::kStart, Ids::kWindows, Clock::kNone>);
  OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(
      to, copy_event<OTF2_EvtWriter_RmaAtomic, To::kStart, Ids::kWindows, Clock::kNone>);
  OTF2_EvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(
      to, copy_event<OTF2_EvtWriter_RmaOpCompleteNonBlocking, To::kMiddle, Ids::kWindows, Clock::kNone>);
  OTF2_EvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(
      to, copy_event<OTF2_EvtWriter_RmaOpCompleteRemote, To::kMiddle, Ids::kWindows, Clock::kNone>);
  OTF2_EvtReaderCallbacks_SetRmaCollectiveBeginCallback(
      to, copy_event<OTF2_EvtWriter_RmaCollectiveBegin, To::kNone, Ids::kRequests, Clock::kNone>);
  OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(
      to, copy_event<OTF2_EvtWriter_RmaCollectiveEnd, To::kNone, Ids::kRequests, Clock::kNone>);
  OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(
      to, copy_event<OTF2_EvtWriter_RmaGroupSync, To::kNone, Ids::kRequests, Clock::kNone>);
  OTF2_EvtReaderCallbacks_SetRmaRequestLockCallback(
      to, copy_event<OTF2_EvtWriter_RmaRequestLock, To::kNone, Ids::kRequests, Clock::kNone>);
  OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(
      to, copy_event<OTF2_EvtWriter_RmaReleaseLock, To::kNone, Ids::kRequests, Clock::kNone>);
  OTF2_EvtReaderCallbacks_SetParameterIntCallback(to, copy_parameter);
  OTF2_EvtReaderCallbacks_SetMetricCallback(to, copy_metric);
  OTF2_EvtReaderCallbacks_SetCallingContextSampleCallback(
      to, copy_event<OTF2_EvtWriter_CallingContextSample, To::kNone, Ids::kRequests, Clock::kNone>);
}

}  // namespace

void JoinedEvents::Target::write_own(std::uint64_t before) {
  OTF2_AttributeList* attributes = nullptr;
  while (const CopiedCalls::Value* const value = calls->next_own(before)) {
    if (attributes == nullptr) attributes = OTF2_AttributeList_New();
    OTF2_AttributeList_AddAttribute(attributes, value->key, value->type, value->value);
    is_good =
        OTF2_EvtWriter_ParameterString(out, attributes, pass(value->time), own, value->name) == OTF2_SUCCESS && is_good;
    OTF2_AttributeList_RemoveAllAttributes(attributes);
  }
  if (attributes != nullptr) OTF2_AttributeList_Delete(attributes);
}

JoinedEvents::JoinedEvents(OTF2_Archive* archive, std::uint64_t location, CopiedCalls& calls, ClocksOfLocation* clocks,
                           OTF2_ParameterRef own)
    : archive_(archive), location_(location), target_{OTF2_Archive_GetEvtWriter(archive, location), &calls} {
  target_.own = own;
  calls.begin_location(static_cast<std::uint32_t>(location >> 32), clocks);
}

bool JoinedEvents::add(const std::filesystem::path& part, const Numbers& numbers) {
  target_.numbers = &numbers;
  OTF2_EvtReaderCallbacks* const callbacks = OTF2_EvtReaderCallbacks_New();
  set_callbacks(callbacks);
  const bool is_good = read_location_events(part, location_, callbacks, &target_);
  OTF2_EvtReaderCallbacks_Delete(callbacks);
  return is_good && target_.is_good;
}

JoinedEvents::Ended JoinedEvents::end() {
  target_.write_own(UINT64_MAX);
  Ended ended{0, target_.first == UINT64_MAX ? 0 : target_.first, target_.time, ""};
  OTF2_EvtWriter_GetNumberOfEvents(target_.out, &ended.events);
  ended.fault = fault_of_close([this] { return OTF2_Archive_CloseEvtWriter(archive_, target_.out); });
  return ended;
}

}  // namespace ardoise::knowledge_sources
