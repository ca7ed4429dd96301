// Lamport clocks (trace_clocks.hpp): the events of all locations that have one.
#include <fmt/format.h>
#include <otf2/otf2.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "knowledge_sources/otf2/contents/trace_attribute.hpp"
#include "knowledge_sources/otf2/contents/trace_selection.hpp"
#include "knowledge_sources/otf2/writer/location_events.hpp"
#include "knowledge_sources/otf2/writer/otf2_archive.hpp"
#include "knowledge_sources/otf2/writer/world_archive.hpp"

namespace ardoise::knowledge_sources {
namespace {

std::optional<std::uint64_t> number_in(const OTF2_AttributeList* attributes, std::uint32_t key) {
  std::uint64_t number = 0;
  if (OTF2_AttributeList_GetUint64(attributes, key, &number) != OTF2_SUCCESS) return std::nullopt;
  return number;
}

}  // namespace

// Reads the events of a location that have a clock. Communicators are those of its rank.
class WorldArchive::ClockEvents {
 public:
  ClockEvents(const WorldArchive& archive, std::uint32_t rank, TraceClocks& clocks)
      : archive_(archive), rank_(rank), clocks_(clocks) {}

  static void set_callbacks(OTF2_EvtReaderCallbacks* to) {
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(to, on_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(to, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(to, on_receive);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(to, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(to, on_begin);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(to, on_collective);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(to, on_request);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(to, on_complete);
  }

 private:
  using List = OTF2_AttributeList*;
  using Location = OTF2_LocationRef;
  using Time = OTF2_TimeStamp;

  static ClockEvents& self(void* data) { return *static_cast<ClockEvents*>(data); }
  static OTF2_CallbackCode on_send(Location, Time, std::uint64_t, void* data, List list, std::uint32_t peer,
                                   OTF2_CommRef comm, std::uint32_t tag, std::uint64_t) {
    self(data).clocks_.add_send(self(data).channel(comm, peer, tag, true), number_in(list, kMessageAttribute));
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode on_isend(Location location, Time time, std::uint64_t at, void* data, List list,
                                    std::uint32_t peer, OTF2_CommRef comm, std::uint32_t tag, std::uint64_t bytes,
                                    std::uint64_t) {
    return on_send(location, time, at, data, list, peer, comm, tag, bytes);
  }
  static OTF2_CallbackCode on_receive(Location, Time, std::uint64_t, void* data, List list, std::uint32_t peer,
                                      OTF2_CommRef comm, std::uint32_t tag, std::uint64_t) {
    self(data).clocks_.add_receive(self(data).channel(comm, peer, tag, false), number_in(list, kMessageAttribute));
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode on_irecv(Location location, Time time, std::uint64_t at, void* data, List list,
                                    std::uint32_t peer, OTF2_CommRef comm, std::uint32_t tag, std::uint64_t bytes,
                                    std::uint64_t) {
    return on_receive(location, time, at, data, list, peer, comm, tag, bytes);
  }
  static OTF2_CallbackCode on_begin(Location, Time, std::uint64_t, void* data, List) {
    self(data).clocks_.add_begin();
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode on_collective(Location, Time, std::uint64_t, void* data, List list, OTF2_CollectiveOp,
                                         OTF2_CommRef comm, std::uint32_t, std::uint64_t, std::uint64_t) {
    self(data).clocks_.add_collective(self(data).collective_key(comm), number_in(list, kCollectiveAttribute));
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode on_request(Location, Time, std::uint64_t, void* data, List list, std::uint64_t request) {
    self(data).clocks_.add_request(static_cast<std::uint32_t>(request), number_in(list, kCollectiveAttribute));
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode on_complete(Location, Time, std::uint64_t, void* data, List, OTF2_CollectiveOp,
                                       OTF2_CommRef comm, std::uint32_t, std::uint64_t, std::uint64_t,
                                       std::uint64_t request) {
    self(data).clocks_.add_complete(static_cast<std::uint32_t>(request), self(data).collective_key(comm));
    return OTF2_CALLBACK_SUCCESS;
  }

  struct Comm {
    std::uint64_t number = 0;
    const Communicator* known = nullptr;
    const std::vector<std::uint64_t>* peers = nullptr;
  };
  const Comm& comm_of(std::uint32_t number) {
    const auto [found, is_new] = comms_.try_emplace(number);
    const auto& of_rank = archive_.ranks_[rank_].communicators;
    const auto global = of_rank.find(number);
    if (!is_new || global == of_rank.end() || global->second == archive_.unknown_communicator_number())
      return found->second;
    const Communicator& known = archive_.communicators_[global->second];
    const bool is_of_others = known.is_inter && std::ranges::find(known.members, rank_) != known.members.end();
    found->second = {global->second, &known, is_of_others ? &known.others : &known.members};
    return found->second;
  }
  std::optional<TraceClocks::Channel> channel(std::uint32_t comm, std::uint32_t peer, std::uint32_t tag, bool is_send) {
    const Comm& of = comm_of(comm);
    if (of.known == nullptr) return std::nullopt;
    std::uint32_t other = rank_;  // MPI_COMM_SELF
    if (!of.known->is_self) {
      if (peer >= of.peers->size()) return std::nullopt;
      other = static_cast<std::uint32_t>((*of.peers)[peer]);
    }
    return TraceClocks::Channel{of.number, is_send ? rank_ : other, is_send ? other : rank_, tag};
  }
  // Key of a communicator for collectives; MPI_COMM_SELF is separate for each rank.
  std::optional<std::uint64_t> collective_key(std::uint32_t comm) {
    const Comm& of = comm_of(comm);
    if (of.known == nullptr) return std::nullopt;
    return of.number | (of.known->is_self ? (std::uint64_t{rank_} + 1) << 32 : 0);
  }

  const WorldArchive& archive_;
  const std::uint32_t rank_;
  TraceClocks& clocks_;
  std::unordered_map<std::uint32_t, Comm> comms_;  // by number in the rank
};

std::string WorldArchive::make_clocks(const std::filesystem::path& folder) {
  if (selection_.empty() || !TraceSelection(selection_).attributes().has(AttributeClass::kClocks)) return "";
  try {
    clocks_ = std::make_unique<TraceClocks>(folder);
    const std::unique_ptr<OTF2_EvtReaderCallbacks, void (*)(OTF2_EvtReaderCallbacks*)> callbacks(
        OTF2_EvtReaderCallbacks_New(), OTF2_EvtReaderCallbacks_Delete);
    ClockEvents::set_callbacks(callbacks.get());
    std::string fault;
    for (const auto& [location, thread] : threads_) {
      if (thread.told.thread >= kSamplesOfThread || thread.told.events == 0) continue;
      clocks_->begin_location(location);
      ClockEvents events(*this, thread.told.rank, *clocks_);
      for (const Thread::InPart& part : thread.parts) {
        if (!read_location_events(part.folder, location, callbacks.get(), &events))
          fault = fmt::format("'{}' cannot be read: {}",
                              (part.folder / fmt::format("traces/{}.evt", location)).string(), last_otf2_error());
      }
      clocks_->end_location();
      clocked_.insert(location);
    }
    if (!fault.empty()) return fault;
    clocks_->resolve();
    clocks_without_other_end_ = clocks_->unmatched();
    attributes_ |= std::uint64_t{1} << kLamportAttribute;
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace ardoise::knowledge_sources
