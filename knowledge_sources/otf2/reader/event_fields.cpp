// The fields are those of the table in archived_event.hpp.
#include "knowledge_sources/otf2/reader/event_fields.hpp"

#include <fmt/format.h>

namespace ardoise::knowledge_sources {
namespace {

using Kind = ArchivedKind;
using Ref = EventFields::Reference;

Ref reference_of(Kind kind) {
  switch (kind) {
    case Kind::kEnter:
    case Kind::kLeave:
      return Ref::kRegion;
    case Kind::kMetric:
      return Ref::kMetric;
    case Kind::kParameterString:
    case Kind::kParameterInt:
    case Kind::kParameterUnsignedInt:
      return Ref::kParameter;
    case Kind::kCallingContextEnter:
    case Kind::kCallingContextLeave:
    case Kind::kCallingContextSample:
      return Ref::kCallingContext;
    case Kind::kOmpAcquireLock:
    case Kind::kOmpReleaseLock:
    case Kind::kThreadAcquireLock:
    case Kind::kThreadReleaseLock:
      return Ref::kLock;
    case Kind::kProgramBegin:
      return Ref::kString;
    case Kind::kIoDeleteFile:
      return Ref::kFile;
    case Kind::kRmaCollectiveBegin:
      return Ref::kNone;
    default:
      break;
  }
  if (kind >= Kind::kRmaWinCreate && kind <= Kind::kRmaOpCompleteRemote) return Ref::kWindow;
  if (kind >= Kind::kIoCreateHandle && kind <= Kind::kIoTryLock) return Ref::kHandle;
  return Ref::kNone;
}

bool is_value_signed(Kind kind) {
  return kind == Kind::kParameterInt || kind == Kind::kIoSeek || kind == Kind::kProgramEnd;
}

}  // namespace

EventFields fields_of(Kind kind) {
  EventFields fields;
  fields.reference = reference_of(kind);
  fields.is_value_signed = is_value_signed(kind);
  switch (kind) {
    case Kind::kMpiIsend:
    case Kind::kMpiIrecv:
      fields.has_request = true;
      [[fallthrough]];
    case Kind::kMpiSend:
    case Kind::kMpiRecv:
      fields.has_comm = fields.has_peer = fields.has_tag = fields.has_bytes = true;
      break;
    case Kind::kNonBlockingCollectiveComplete:
      fields.has_request = true;
      [[fallthrough]];
    case Kind::kMpiCollectiveEnd:
      fields.has_comm = true;
      [[fallthrough]];
    case Kind::kRmaCollectiveEnd:
      fields.has_peer = fields.has_bytes = fields.has_bytes_received = true;
      break;
    case Kind::kMpiIsendComplete:
    case Kind::kMpiIrecvRequest:
    case Kind::kMpiRequestTest:
    case Kind::kMpiRequestCancelled:
    case Kind::kNonBlockingCollectiveRequest:
    case Kind::kOmpTaskCreate:
    case Kind::kOmpTaskSwitch:
    case Kind::kOmpTaskComplete:
    case Kind::kRmaOpCompleteBlocking:
    case Kind::kRmaOpCompleteNonBlocking:
    case Kind::kRmaOpCompleteRemote:
    case Kind::kRmaOpTest:
    case Kind::kIoOperationTest:
    case Kind::kIoOperationIssued:
    case Kind::kIoOperationCancelled:
      fields.has_request = true;
      break;
    case Kind::kRmaAtomic:
      fields.has_bytes_received = true;
      [[fallthrough]];
    case Kind::kRmaPut:
    case Kind::kRmaGet:
      fields.has_peer = fields.has_bytes = fields.has_request = true;
      break;
    case Kind::kIoOperationBegin:
    case Kind::kIoOperationComplete:
      fields.has_bytes = fields.has_request = true;
      break;
    case Kind::kRmaRequestLock:
    case Kind::kRmaAcquireLock:
    case Kind::kRmaTryLock:
    case Kind::kRmaReleaseLock:
      fields.has_request = true;
      [[fallthrough]];
    case Kind::kRmaSync:
      fields.has_peer = true;
      break;
    case Kind::kThreadTaskCreate:
    case Kind::kThreadTaskSwitch:
    case Kind::kThreadTaskComplete:
      fields.has_peer = true;
      [[fallthrough]];
    case Kind::kThreadCreate:
    case Kind::kThreadBegin:
    case Kind::kThreadWait:
    case Kind::kThreadEnd:
      fields.has_value = true;
      [[fallthrough]];
    case Kind::kThreadTeamBegin:
    case Kind::kThreadTeamEnd:
    case Kind::kCommCreate:
    case Kind::kCommDestroy:
      fields.has_comm = true;
      break;
    case Kind::kBufferFlush:
    case Kind::kOmpFork:
    case Kind::kOmpAcquireLock:
    case Kind::kOmpReleaseLock:
    case Kind::kThreadFork:
    case Kind::kThreadAcquireLock:
    case Kind::kThreadReleaseLock:
    case Kind::kParameterInt:
    case Kind::kParameterString:
    case Kind::kParameterUnsignedInt:
    case Kind::kIoSeek:
    case Kind::kProgramEnd:
    case Kind::kRmaGroupSync:
      fields.has_value = true;
      break;
    default:
      break;
  }
  return fields;
}

const ArchivedRegion* region_of(const ArchiveDefinitions& definitions, const ArchivedEvent& event) {
  const Ref reference = reference_of(event.kind);
  if (reference == Ref::kRegion) return definitions.regions.find(event.reference);
  if (reference != Ref::kCallingContext) return nullptr;
  const ArchivedCallingContext* const context = definitions.calling_contexts.find(event.reference);
  return context == nullptr ? nullptr : definitions.regions.find(context->region);
}

std::string comm_name(const ArchiveDefinitions& definitions, std::uint32_t comm) {
  const ArchivedComm* const found = definitions.comms.find(comm);
  return found == nullptr || found->name.empty() ? fmt::format("communicator {}", comm) : found->name;
}

std::string referred_name(const ArchiveDefinitions& definitions, const ArchivedEvent& event) {
  const auto named = [&](const char* kind, const auto* found, auto name) {
    if (found != nullptr) {
      if (std::string text = name(*found); !text.empty()) return text;
    }
    return fmt::format("{} {}", kind, event.reference);
  };
  const auto name = [](const auto& each) { return each.name; };
  switch (reference_of(event.kind)) {
    case Ref::kRegion:
    case Ref::kCallingContext:
      return named("region", region_of(definitions, event), name);
    case Ref::kMetric: {
      const auto members = definitions.metric_members_of(event.reference);
      return named("metric", members.empty() ? nullptr : definitions.metric_members.find(members.front()), name);
    }
    case Ref::kParameter:
      return named("parameter", definitions.parameters.find(event.reference), name);
    case Ref::kWindow:
      return named("window", definitions.windows.find(event.reference), name);
    case Ref::kHandle:
      return named("handle", definitions.handles.find(event.reference), [&](const ArchivedHandle& handle) {
        const ArchivedFile* const file = definitions.files.find(handle.file);
        return file == nullptr || file->path.empty() ? handle.name : file->path;
      });
    case Ref::kFile:
      return named("file", definitions.files.find(event.reference), [](const ArchivedFile& file) { return file.path; });
    case Ref::kLock:
      return fmt::format("lock {}", event.reference);
    case Ref::kString:
      return definitions.string_of(event.reference);
    case Ref::kNone:
      break;
  }
  return "";
}

}  // namespace ardoise::knowledge_sources
