// See joined_events.hpp.
#include "knowledge_sources/traces/joined_events.hpp"

#include <otf2/otf2.h>

namespace ardoise::knowledge_sources {
namespace {

using Target = JoinedEvents::Target;

OTF2_CallbackCode go_on_if(OTF2_ErrorCode code) {
  return code == OTF2_SUCCESS ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

// An event whose fields stay as they are.
template <auto Write, class... Fields>
OTF2_CallbackCode copy_event(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data,
                             OTF2_AttributeList* attributes, Fields... fields) {
  auto& target = *static_cast<Target*>(data);
  return go_on_if(Write(target.out, attributes, target.move_to(time), fields...));
}

template <auto Write>
OTF2_CallbackCode copy_region(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data,
                              OTF2_AttributeList* attributes, OTF2_RegionRef region) {
  auto& target = *static_cast<Target*>(data);
  if (region >= target.regions->size()) return OTF2_CALLBACK_INTERRUPT;
  return go_on_if(
      Write(target.out, attributes, target.move_to(time), static_cast<OTF2_RegionRef>((*target.regions)[region])));
}

OTF2_CallbackCode copy_parameter(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data,
                                 OTF2_AttributeList* attributes, OTF2_ParameterRef name, std::int64_t value) {
  auto& target = *static_cast<Target*>(data);
  if (name >= target.names->size()) return OTF2_CALLBACK_INTERRUPT;
  return go_on_if(OTF2_EvtWriter_ParameterInt(target.out, attributes, target.move_to(time),
                                              static_cast<OTF2_ParameterRef>((*target.names)[name]), value));
}

OTF2_CallbackCode copy_metric(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data,
                              OTF2_AttributeList* attributes, OTF2_MetricRef name, std::uint8_t count,
                              const OTF2_Type* types, const OTF2_MetricValue* values) {
  auto& target = *static_cast<Target*>(data);
  if (name >= target.names->size()) return OTF2_CALLBACK_INTERRUPT;
  return go_on_if(OTF2_EvtWriter_Metric(target.out, attributes, target.move_to(time),
                                        static_cast<OTF2_MetricRef>((*target.names)[name]), count, types, values));
}

// All that TraceLocation and TraceSamples write.
void set_callbacks(OTF2_EvtReaderCallbacks* to) {
  OTF2_EvtReaderCallbacks_SetEnterCallback(to, copy_region<OTF2_EvtWriter_Enter>);
  OTF2_EvtReaderCallbacks_SetLeaveCallback(to, copy_region<OTF2_EvtWriter_Leave>);
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(to, copy_event<OTF2_EvtWriter_MpiSend>);
  OTF2_EvtReaderCallbacks_SetMpiRecvCallback(to, copy_event<OTF2_EvtWriter_MpiRecv>);
  OTF2_EvtReaderCallbacks_SetMpiIsendCallback(to, copy_event<OTF2_EvtWriter_MpiIsend>);
  OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(to, copy_event<OTF2_EvtWriter_MpiIsendComplete>);
  OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(to, copy_event<OTF2_EvtWriter_MpiIrecvRequest>);
  OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(to, copy_event<OTF2_EvtWriter_MpiIrecv>);
  OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(to, copy_event<OTF2_EvtWriter_MpiRequestCancelled>);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(to, copy_event<OTF2_EvtWriter_MpiCollectiveBegin>);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(to, copy_event<OTF2_EvtWriter_MpiCollectiveEnd>);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(
      to, copy_event<OTF2_EvtWriter_NonBlockingCollectiveRequest>);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(
      to, copy_event<OTF2_EvtWriter_NonBlockingCollectiveComplete>);
  OTF2_EvtReaderCallbacks_SetIoOperationBeginCallback(to, copy_event<OTF2_EvtWriter_IoOperationBegin>);
  OTF2_EvtReaderCallbacks_SetIoOperationIssuedCallback(to, copy_event<OTF2_EvtWriter_IoOperationIssued>);
  OTF2_EvtReaderCallbacks_SetIoOperationCompleteCallback(to, copy_event<OTF2_EvtWriter_IoOperationComplete>);
  OTF2_EvtReaderCallbacks_SetRmaPutCallback(to, copy_event<OTF2_EvtWriter_RmaPut>);
  OTF2_EvtReaderCallbacks_SetRmaGetCallback(to, copy_event<OTF2_EvtWriter_RmaGet>);
  OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(to, copy_event<OTF2_EvtWriter_RmaAtomic>);
  OTF2_EvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(to, copy_event<OTF2_EvtWriter_RmaOpCompleteNonBlocking>);
  OTF2_EvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(to, copy_event<OTF2_EvtWriter_RmaOpCompleteRemote>);
  OTF2_EvtReaderCallbacks_SetRmaCollectiveBeginCallback(to, copy_event<OTF2_EvtWriter_RmaCollectiveBegin>);
  OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(to, copy_event<OTF2_EvtWriter_RmaCollectiveEnd>);
  OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(to, copy_event<OTF2_EvtWriter_RmaGroupSync>);
  OTF2_EvtReaderCallbacks_SetRmaRequestLockCallback(to, copy_event<OTF2_EvtWriter_RmaRequestLock>);
  OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(to, copy_event<OTF2_EvtWriter_RmaReleaseLock>);
  OTF2_EvtReaderCallbacks_SetParameterIntCallback(to, copy_parameter);
  OTF2_EvtReaderCallbacks_SetMetricCallback(to, copy_metric);
  OTF2_EvtReaderCallbacks_SetCallingContextSampleCallback(to, copy_event<OTF2_EvtWriter_CallingContextSample>);
}

}  // namespace

JoinedEvents::JoinedEvents(OTF2_Archive* archive, std::uint64_t location)
    : archive_(archive), location_(location), target_{OTF2_Archive_GetEvtWriter(archive, location), nullptr, nullptr} {}

bool JoinedEvents::add(const std::filesystem::path& part, const std::vector<std::uint64_t>& regions,
                       const std::vector<std::uint64_t>& names) {
  OTF2_Reader* const reader = OTF2_Reader_Open((part / "traces.otf2").c_str());
  if (reader == nullptr) return false;
  target_.regions = &regions;
  target_.names = &names;
  OTF2_EvtReaderCallbacks* const callbacks = OTF2_EvtReaderCallbacks_New();
  set_callbacks(callbacks);
  OTF2_EvtReader* local = nullptr;
  bool is_good = OTF2_Reader_SetSerialCollectiveCallbacks(reader) == OTF2_SUCCESS &&
                 OTF2_Reader_SelectLocation(reader, location_) == OTF2_SUCCESS &&
                 OTF2_Reader_OpenEvtFiles(reader) == OTF2_SUCCESS;
  if (is_good) local = OTF2_Reader_GetEvtReader(reader, location_);
  if (local != nullptr) {
    std::uint64_t read = 0;
    is_good = OTF2_Reader_RegisterEvtCallbacks(reader, local, callbacks, &target_) == OTF2_SUCCESS &&
              OTF2_Reader_ReadAllLocalEvents(reader, local, &read) == OTF2_SUCCESS;
    OTF2_Reader_CloseEvtReader(reader, local);
  }
  OTF2_EvtReaderCallbacks_Delete(callbacks);
  OTF2_Reader_Close(reader);
  return is_good && local != nullptr;
}

std::uint64_t JoinedEvents::end() {
  std::uint64_t events = 0;
  OTF2_EvtWriter_GetNumberOfEvents(target_.out, &events);
  OTF2_Archive_CloseEvtWriter(archive_, target_.out);
  return events;
}

}  // namespace ardoise::knowledge_sources
