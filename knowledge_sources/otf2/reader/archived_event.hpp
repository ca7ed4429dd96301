// An event of an archive: one struct for all kinds; the table below lists the fields of each kind.
#pragma once

#include <otf2/OTF2_AttributeValue.h>
#include <otf2/OTF2_Events.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "knowledge_sources/otf2/reader/archive_definitions.hpp"

namespace ardoise::knowledge_sources {

// kind: fields besides time, position and attributes, with the names of OTF2's records.
#define ARDOISE_ARCHIVED_KINDS(X)                                                                                   \
  X(Unknown)                  /* of a newer version of OTF2 */                                                      \
  X(BufferFlush)              /* value: time at which it ended */                                                   \
  X(MeasurementOnOff)         /* mode: 1 on, 2 off */                                                               \
  X(Enter)                    /* reference: region */                                                               \
  X(Leave)                    /* reference: region */                                                               \
  X(MpiSend)                  /* peer, comm, tag, bytes */                                                          \
  X(MpiIsend)                 /* peer, comm, tag, bytes, request */                                                 \
  X(MpiIsendComplete)         /* request */                                                                         \
  X(MpiIrecvRequest)          /* request */                                                                         \
  X(MpiRecv)                  /* peer, comm, tag, bytes */                                                          \
  X(MpiIrecv)                 /* peer, comm, tag, bytes, request */                                                 \
  X(MpiRequestTest)           /* request */                                                                         \
  X(MpiRequestCancelled)      /* request */                                                                         \
  X(MpiCollectiveBegin)       /* */                                                                                 \
  X(MpiCollectiveEnd)         /* operation, comm, peer: root, bytes: sent, bytes_received */                        \
  X(OmpFork)                  /* value: threads */                                                                  \
  X(OmpJoin)                  /* */                                                                                 \
  X(OmpAcquireLock)           /* reference: lock, value: order */                                                   \
  X(OmpReleaseLock)           /* reference: lock, value: order */                                                   \
  X(OmpTaskCreate)            /* request: task */                                                                   \
  X(OmpTaskSwitch)            /* request: task */                                                                   \
  X(OmpTaskComplete)          /* request: task */                                                                   \
  X(Metric)                   /* reference: metric class or instance, metrics */                                    \
  X(ParameterString)          /* reference: parameter, value: string */                                             \
  X(ParameterInt)             /* reference: parameter, value: with its sign */                                      \
  X(ParameterUnsignedInt)     /* reference: parameter, value */                                                     \
  X(RmaWinCreate)             /* reference: window */                                                               \
  X(RmaWinDestroy)            /* reference: window */                                                               \
  X(RmaCollectiveBegin)       /* */                                                                                 \
  X(RmaCollectiveEnd)         /* operation, mode: level, reference: window, peer: root, bytes, bytes_received */    \
  X(RmaGroupSync)             /* mode: level, reference: window, value: group */                                    \
  X(RmaRequestLock)           /* reference: window, peer, request: lock, mode: type */                              \
  X(RmaAcquireLock)           /* reference: window, peer, request: lock, mode: type */                              \
  X(RmaTryLock)               /* reference: window, peer, request: lock, mode: type */                              \
  X(RmaReleaseLock)           /* reference: window, peer, request: lock */                                          \
  X(RmaSync)                  /* reference: window, peer, mode: type */                                             \
  X(RmaWaitChange)            /* reference: window */                                                               \
  X(RmaPut)                   /* reference: window, peer, bytes, request: matching id */                            \
  X(RmaGet)                   /* reference: window, peer, bytes, request: matching id */                            \
  X(RmaAtomic)                /* reference: window, peer, operation, bytes, bytes_received, request: matching id */ \
  X(RmaOpCompleteBlocking)    /* reference: window, request: matching id */                                         \
  X(RmaOpCompleteNonBlocking) /* reference: window, request: matching id */                                         \
  X(RmaOpTest)                /* reference: window, request: matching id */                                         \
  X(RmaOpCompleteRemote)      /* reference: window, request: matching id */                                         \
  X(ThreadFork)               /* mode: paradigm, value: threads */                                                  \
  X(ThreadJoin)               /* mode: paradigm */                                                                  \
  X(ThreadTeamBegin)          /* comm */                                                                            \
  X(ThreadTeamEnd)            /* comm */                                                                            \
  X(ThreadAcquireLock)        /* mode: paradigm, reference: lock, value: order */                                   \
  X(ThreadReleaseLock)        /* mode: paradigm, reference: lock, value: order */                                   \
  X(ThreadTaskCreate)         /* comm, peer: creating thread, value: number */                                      \
  X(ThreadTaskSwitch)         /* comm, peer: creating thread, value: number */                                      \
  X(ThreadTaskComplete)       /* comm, peer: creating thread, value: number */                                      \
  X(ThreadCreate)             /* comm, value: number */                                                             \
  X(ThreadBegin)              /* comm, value: number */                                                             \
  X(ThreadWait)               /* comm, value: number */                                                             \
  X(ThreadEnd)                /* comm, value: number */                                                             \
  X(CallingContextEnter)      /* reference: calling context, value: distance */                                     \
  X(CallingContextLeave)      /* reference: calling context */                                                      \
  X(CallingContextSample)     /* reference: calling context, value: distance, other: generator */                   \
  X(IoCreateHandle)           /* reference: handle, mode: access, flags, other: status */                           \
  X(IoDestroyHandle)          /* reference: handle */                                                               \
  X(IoDuplicateHandle)        /* reference: old handle, other: new one, flags: status */                            \
  X(IoSeek)                   /* reference: handle, value: as asked, mode: from where, bytes: new place */          \
  X(IoChangeStatusFlags)      /* reference: handle, flags: status */                                                \
  X(IoDeleteFile)             /* other: paradigm, reference: file */                                                \
  X(IoOperationBegin)         /* reference: handle, mode: read, write, flush, flags, bytes, request: matching id */ \
  X(IoOperationTest)          /* reference: handle, request: matching id */                                         \
  X(IoOperationIssued)        /* reference: handle, request: matching id */                                         \
  X(IoOperationComplete)      /* reference: handle, bytes, request: matching id */                                  \
  X(IoOperationCancelled)     /* reference: handle, request: matching id */                                         \
  X(IoAcquireLock)            /* reference: handle, mode: type */                                                   \
  X(IoReleaseLock)            /* reference: handle, mode: type */                                                   \
  X(IoTryLock)                /* reference: handle, mode: type */                                                   \
  X(ProgramBegin)             /* reference: string of its name, arguments */                                        \
  X(ProgramEnd)               /* value: exit status, with its sign */                                               \
  X(NonBlockingCollectiveRequest)  /* request */                                                                    \
  X(NonBlockingCollectiveComplete) /* operation, comm, peer: root, bytes: sent, bytes_received, request */          \
  X(CommCreate)                    /* comm */                                                                       \
  X(CommDestroy)                   /* comm */

enum class ArchivedKind : std::uint8_t {
#define ARDOISE_KIND(name) k##name,
  ARDOISE_ARCHIVED_KINDS(ARDOISE_KIND)
#undef ARDOISE_KIND
      kCount
};
inline constexpr std::size_t kArchivedKinds = static_cast<std::size_t>(ArchivedKind::kCount);
[[nodiscard]] std::string_view name_of(ArchivedKind kind);  // "MpiSend"

struct ArchivedEvent {
  const ArchivedLocation* location = nullptr;  // never null
  ArchivedKind kind = ArchivedKind::kUnknown;
  std::uint8_t operation = 0;  // OTF2_CollectiveOp, OTF2_RmaAtomicType
  std::uint8_t mode = 0;
  std::uint32_t reference = 0;  // to a definition, by kind; undefined: kUndefined32
  std::uint32_t comm = 0;
  std::uint32_t peer = 0;  // a rank of comm, or of the window's
  std::uint32_t tag = 0;
  std::uint32_t flags = 0, other = 0;
  std::uint64_t time = 0;      // ticks, with clock offsets applied
  std::uint64_t position = 0;  // in its location, from 0
  std::uint64_t bytes = 0, bytes_received = 0;
  std::uint64_t request = 0;
  std::uint64_t value = 0;
  struct Attribute {
    std::uint32_t reference;
    ArchivedValue value;
  };
  // Valid only during the call.
  std::span<const Attribute> attributes;
  std::span<const ArchivedValue> metrics;
  std::span<const std::uint32_t> arguments;  // strings
};

// Converts a union of OTF2 to a value.
[[nodiscard]] ArchivedValue archived_value(std::uint8_t type, OTF2_AttributeValue value);

using EventCounts = std::array<std::uint64_t, kArchivedKinds>;  // by kind

}  // namespace ardoise::knowledge_sources
