// The speed of one core that makes events of OTF2 from packs (order, selection, numbers of regions and requests, OTF2's
// writer, the file), and their bytes on disk. An event is one of OTF2's: an MPI_Isend is three, Enter, MpiIsend and
// Leave.
//
// The limit is OTF2's writer alone: the same events, read back from the archive, written once more from memory.
#include <fmt/core.h>
#include <otf2/otf2.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "knowledge_sources/otf2/writer/otf2_archive.hpp"
#include "knowledge_sources/otf2/writer/trace_archive.hpp"
#include "knowledge_sources/reduction/reduction.hpp"
#include "replay/plugins.hpp"
#include "replay/synthetic.hpp"

namespace {

using namespace ardoise;
using namespace ardoise::knowledge_sources;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr std::uint32_t kRanks = 8;
constexpr int kRepeats = 5;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

void keep_pack(void*, std::span<std::byte>) noexcept {}

// Seconds until the event files are complete; then the archive is created in `folder`.
double write_trace(std::vector<replay::Pack>& packs, const fs::path& folder) {
  TraceArchive archive(folder);
  archive.begin([](const std::string& sentence) {
    fmt::print(stderr, "{}\n", sentence);
    std::exit(1);
  });
  Program program{.name = "synthetic", .ranks = kRanks};
  program.traces = archive.settings("all");
  archive.add_program(program);
  blackboard::Options options;
  options.workers = 0;  // jobs run in drain(), on this thread
  blackboard::Blackboard board(std::move(options));
  Reduction reduction(board, replay::load_plugins({"traces"}));
  reduction.add_program(program);
  const auto begin = Clock::now();
  for (replay::Pack& pack : packs) {
    board.submit(blackboard::adopt_entry(Reduction::pack_type(), pack.writable(), &keep_pack, nullptr));
    board.drain();
  }
  archive.close_parts();
  const double seconds = seconds_since(begin);
  reports::Run run;
  reduction.contribute(run);
  for (const auto& notice : archive.finish().notices) fmt::print("{}\n", notice);
  return seconds;
}

// An event of the archive, with the fields that its kind has.
struct Event {
  enum Kind : std::uint8_t {
    kEnter,
    kLeave,
    kIsend,
    kIsendEnd,
    kIrecv,
    kIrecvEnd,
    kCollective,
    kCollectiveEnd,
    kIo,
    kIoEnd
  };
  Kind kind;
  std::uint8_t small = 0;
  std::uint32_t a = 0, b = 0, c = 0;
  std::uint64_t time = 0, d = 0, e = 0;
};
using Events = std::vector<Event>;

OTF2_CallbackCode take(void* list, const Event& event) {
  static_cast<Events*>(list)->push_back(event);
  return OTF2_CALLBACK_SUCCESS;
}

Events read_location(OTF2_Reader* reader, OTF2_LocationRef location) {
  Events events;
  OTF2_EvtReaderCallbacks* const calls = OTF2_EvtReaderCallbacks_New();
  using List = OTF2_AttributeList;
  OTF2_EvtReaderCallbacks_SetEnterCallback(
      calls, [](OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user, List*, OTF2_RegionRef region) {
        return take(user, {.kind = Event::kEnter, .a = region, .time = time});
      });
  OTF2_EvtReaderCallbacks_SetLeaveCallback(
      calls, [](OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user, List*, OTF2_RegionRef region) {
        return take(user, {.kind = Event::kLeave, .a = region, .time = time});
      });
  OTF2_EvtReaderCallbacks_SetMpiIsendCallback(
      calls, [](OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user, List*, std::uint32_t receiver,
                OTF2_CommRef comm, std::uint32_t tag, std::uint64_t length, std::uint64_t request) {
        return take(
            user, {.kind = Event::kIsend, .a = receiver, .b = comm, .c = tag, .time = time, .d = length, .e = request});
      });
  OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(
      calls, [](OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user, List*, std::uint64_t request) {
        return take(user, {.kind = Event::kIsendEnd, .time = time, .d = request});
      });
  OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(
      calls, [](OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user, List*, std::uint64_t request) {
        return take(user, {.kind = Event::kIrecv, .time = time, .d = request});
      });
  OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(
      calls, [](OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user, List*, std::uint32_t sender,
                OTF2_CommRef comm, std::uint32_t tag, std::uint64_t length, std::uint64_t request) {
        return take(
            user,
            {.kind = Event::kIrecvEnd, .a = sender, .b = comm, .c = tag, .time = time, .d = length, .e = request});
      });
  OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(
      calls, [](OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user, List*) {
        return take(user, {.kind = Event::kCollective, .time = time});
      });
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(
      calls, [](OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user, List*, OTF2_CollectiveOp op,
                OTF2_CommRef comm, std::uint32_t root, std::uint64_t sent, std::uint64_t received) {
        return take(
            user,
            {.kind = Event::kCollectiveEnd, .small = op, .a = comm, .b = root, .time = time, .d = sent, .e = received});
      });
  OTF2_EvtReaderCallbacks_SetIoOperationBeginCallback(
      calls, [](OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user, List*, OTF2_IoHandleRef handle,
                OTF2_IoOperationMode mode, OTF2_IoOperationFlag, std::uint64_t bytes, std::uint64_t matching) {
        return take(user, {.kind = Event::kIo, .small = mode, .a = handle, .time = time, .d = bytes, .e = matching});
      });
  OTF2_EvtReaderCallbacks_SetIoOperationCompleteCallback(
      calls, [](OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user, List*, OTF2_IoHandleRef handle,
                std::uint64_t bytes, std::uint64_t matching) {
        return take(user, {.kind = Event::kIoEnd, .a = handle, .time = time, .d = bytes, .e = matching});
      });
  OTF2_EvtReader* const local = OTF2_Reader_GetEvtReader(reader, location);
  OTF2_Reader_RegisterEvtCallbacks(reader, local, calls, &events);
  std::uint64_t read = 0;
  OTF2_Reader_ReadAllLocalEvents(reader, local, &read);
  OTF2_Reader_CloseEvtReader(reader, local);
  OTF2_EvtReaderCallbacks_Delete(calls);
  if (read != events.size()) {
    fmt::print(stderr, "there are events of other kinds in the archive: {} of {}\n", events.size(), read);
    std::exit(1);
  }
  return events;
}

std::vector<Events> read_trace(const fs::path& anchor) {
  OTF2_Reader* const reader = OTF2_Reader_Open(anchor.c_str());
  OTF2_Reader_SetSerialCollectiveCallbacks(reader);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) OTF2_Reader_SelectLocation(reader, rank);
  OTF2_Reader_OpenEvtFiles(reader);
  std::vector<Events> all;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) all.push_back(read_location(reader, rank));
  OTF2_Reader_CloseEvtFiles(reader);
  OTF2_Reader_Close(reader);
  return all;
}

void write_event(OTF2_EvtWriter* out, const Event& event) {
  switch (event.kind) {
    case Event::kEnter:
      OTF2_EvtWriter_Enter(out, nullptr, event.time, event.a);
      return;
    case Event::kLeave:
      OTF2_EvtWriter_Leave(out, nullptr, event.time, event.a);
      return;
    case Event::kIsend:
      OTF2_EvtWriter_MpiIsend(out, nullptr, event.time, event.a, event.b, event.c, event.d, event.e);
      return;
    case Event::kIsendEnd:
      OTF2_EvtWriter_MpiIsendComplete(out, nullptr, event.time, event.d);
      return;
    case Event::kIrecv:
      OTF2_EvtWriter_MpiIrecvRequest(out, nullptr, event.time, event.d);
      return;
    case Event::kIrecvEnd:
      OTF2_EvtWriter_MpiIrecv(out, nullptr, event.time, event.a, event.b, event.c, event.d, event.e);
      return;
    case Event::kCollective:
      OTF2_EvtWriter_MpiCollectiveBegin(out, nullptr, event.time);
      return;
    case Event::kCollectiveEnd:
      OTF2_EvtWriter_MpiCollectiveEnd(out, nullptr, event.time, event.small, event.a, event.b, event.d, event.e);
      return;
    case Event::kIo:
      OTF2_EvtWriter_IoOperationBegin(out, nullptr, event.time, event.a, event.small, OTF2_IO_OPERATION_FLAG_NONE,
                                      event.d, event.e);
      return;
    case Event::kIoEnd:
      OTF2_EvtWriter_IoOperationComplete(out, nullptr, event.time, event.a, event.d, event.e);
      return;
  }
}

// In turns, as packs come.
double write_bare(const std::vector<Events>& all, const fs::path& folder) {
  constexpr std::size_t kAtATime = 4096;
  fs::create_directories(folder);
  const auto begin = Clock::now();
  OTF2_Archive* const archive = open_otf2_archive(folder);
  std::vector<OTF2_EvtWriter*> writers;
  std::size_t most = 0;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    writers.push_back(OTF2_Archive_GetEvtWriter(archive, rank));
    most = std::max(most, all[rank].size());
  }
  for (std::size_t at = 0; at < most; at += kAtATime) {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      for (std::size_t i = at; i < std::min(at + kAtATime, all[rank].size()); ++i)
        write_event(writers[rank], all[rank][i]);
    }
  }
  for (OTF2_EvtWriter* const writer : writers) OTF2_Archive_CloseEvtWriter(archive, writer);
  OTF2_Archive_CloseEvtFiles(archive);
  OTF2_Archive_Close(archive);
  return seconds_since(begin);
}

std::vector<replay::Pack> packs_side_by_side() {
  const replay::SyntheticProgram program{.ranks = kRanks, .steps = 20'000};
  std::vector<std::vector<replay::Pack>> of_ranks;
  std::size_t most = 0;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    of_ranks.push_back(replay::synthetic_packs(program, rank));
    most = std::max(most, of_ranks.back().size());
  }
  std::vector<replay::Pack> packs;
  for (std::size_t i = 0; i < most; ++i) {
    for (auto& list : of_ranks) {
      if (i < list.size()) packs.push_back(std::move(list[i]));
    }
  }
  return packs;
}

}  // namespace

int main() {
  const fs::path folder = fs::temp_directory_path() / fmt::format("traces_bench-{}", ::getpid());
  auto packs = packs_side_by_side();
  std::uint64_t records = 0;
  for (replay::Pack& pack : packs) {
    const auto kind = static_cast<instrument::PackClass>(pack.header().pack_class);
    if (kind == instrument::PackClass::kMpi || kind == instrument::PackClass::kPosix)
      records += pack.header().record_count;
  }
  const auto packs_of_run = packs;
  std::vector<Events> all;
  double ours = 1e30, bare = 1e30;
  std::uint64_t bytes = 0, events = 0;
  for (int i = 0; i < kRepeats; ++i) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    packs = packs_of_run;
    ours = std::min(ours, write_trace(packs, folder));
    if (all.empty()) {
      all = read_trace(folder / "trace" / "traces.otf2");
      for (const Events& each : all) events += each.size();
      for (const auto& entry : fs::directory_iterator(folder / "trace" / "traces")) bytes += entry.file_size();
    }
    bare = std::min(bare, write_bare(all, folder / "bare"));
  }
  fs::remove_all(folder);
  const auto count = static_cast<double>(events);
  fmt::print("{} records of {} ranks become {} events, {:.1f} MiB\n", records, kRanks, events,
             static_cast<double>(bytes) / (1 << 20));
  fmt::print("from packs {:.2f} s, {:.1f} million events/s; OTF2's writer alone {:.2f} s, {:.1f} million/s\n", ours,
             count / ours * 1e-6, bare, count / bare * 1e-6);
  fmt::print("bench: trace_events_per_second_millions={:.2f} trace_writer_ratio={:.2f} trace_bytes_per_event={:.1f}\n",
             count / ours * 1e-6, ours / bare, static_cast<double>(bytes) / count);
}
