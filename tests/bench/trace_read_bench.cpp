// The speed of reading an OTF2 archive: by OTF2 alone with empty callbacks, and by ArchiveReader one location after the
// other and in parallel, with an empty consumer. The archive is created first: four ranks, MPI_Isend and MPI_Recv with
// their completions for each message.
#include <fmt/format.h>
#include <otf2/otf2.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <type_traits>

#include "knowledge_sources/otf2/reader/archive_reader.hpp"
#include "replay/made_archive.hpp"

using namespace ardoise;
using namespace ardoise::knowledge_sources;

namespace {

constexpr std::uint32_t kRanks = 4;
constexpr std::uint64_t kMessages = 1'000'000, kEventsEach = 7;
constexpr int kRepeats = 5;

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

void make(const std::filesystem::path& folder) {
  replay::MadeArchive archive(folder);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    OTF2_EvtWriter* const out = archive.events(rank);
    std::uint64_t time = 1000;
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      OTF2_EvtWriter_Enter(out, nullptr, time, 0);
      OTF2_EvtWriter_MpiIsend(out, nullptr, time, (rank + 1) % kRanks, 0, 7, 1024, 2 * i);
      OTF2_EvtWriter_Leave(out, nullptr, time += 15, 0);
      OTF2_EvtWriter_Enter(out, nullptr, time += 100, 1);
      OTF2_EvtWriter_MpiRecv(out, nullptr, time += 10, (rank + kRanks - 1) % kRanks, 0, 7, 1024);
      OTF2_EvtWriter_MpiIsendComplete(out, nullptr, time, 2 * i);
      OTF2_EvtWriter_Leave(out, nullptr, time, 1);
      time += 30;
    }
    OTF2_Archive_CloseEvtWriter(archive.archive(), out);
  }
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) archive.local(rank);
  archive.clock(0, kMessages * 200);
  archive.processes(kRanks, kEventsEach * kMessages);
  archive.region(0, "MPI_Isend", OTF2_PARADIGM_MPI);
  archive.region(1, "MPI_Recv", OTF2_PARADIGM_MPI);
  archive.close();
}

std::uint64_t bare_events = 0;
template <class... Arguments>
OTF2_CallbackCode nothing(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void*, OTF2_AttributeList*, Arguments...) {
  ++bare_events;
  return OTF2_CALLBACK_SUCCESS;
}

double read_bare(const std::filesystem::path& anchor) {
  const auto begin = Clock::now();
  OTF2_Reader* const reader = OTF2_Reader_Open(anchor.c_str());
  OTF2_Reader_SetSerialCollectiveCallbacks(reader);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) OTF2_Reader_SelectLocation(reader, rank);
  OTF2_Reader_OpenEvtFiles(reader);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    OTF2_EvtReaderCallbacks* const calls = OTF2_EvtReaderCallbacks_New();
    OTF2_EvtReaderCallbacks_SetEnterCallback(calls, nothing);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(calls, nothing);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(calls, nothing);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(calls, nothing);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(calls, nothing);
    OTF2_EvtReader* const local = OTF2_Reader_GetEvtReader(reader, rank);
    OTF2_Reader_RegisterEvtCallbacks(reader, local, calls, nullptr);
    std::uint64_t read = 0;
    OTF2_Reader_ReadAllLocalEvents(reader, local, &read);
    OTF2_Reader_CloseEvtReader(reader, local);
    OTF2_EvtReaderCallbacks_Delete(calls);
  }
  OTF2_Reader_CloseEvtFiles(reader);
  OTF2_Reader_Close(reader);
  return seconds_since(begin);
}

class Nothing : public EventConsumer {
 public:
  bool event(const ArchivedEvent&) override {
    ++events;
    return true;
  }
  std::uint64_t events = 0;
};

}  // namespace

int main() {
  const replay::ScratchFolder folder;
  const auto made = folder.path() / "made";
  make(made);
  const ArchiveReader archive(made);
  double bare = 1e30, ours = 1e30, side_by_side = 1e30;
  Nothing nothing_done;
  for (int i = 0; i < kRepeats; ++i) {
    bare = std::min(bare, read_bare(made / "traces.otf2"));
    auto begin = Clock::now();
    for (const ArchivedLocation& location : archive.definitions().locations) (void)archive.read(location, nothing_done);
    ours = std::min(ours, seconds_since(begin));
    begin = Clock::now();
    (void)archive.read_side_by_side(nothing_done);
    side_by_side = std::min(side_by_side, seconds_since(begin));
  }
  constexpr std::uint64_t kEvents = kRanks * kMessages * kEventsEach;
  if (nothing_done.events != 2 * kRepeats * kEvents || bare_events != kRepeats * kEvents) {
    fmt::print(stderr, "{} and {} events were read instead of {}\n", nothing_done.events, bare_events, kEvents);
    return 1;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto millions = [](double seconds) { return static_cast<double>(kEvents) / seconds * 1e-6; };
  fmt::print(
      "{} events; million a second: OTF2 alone {:.1f}, a location after the other {:.1f}, side by side {:.1f}; "
      "{} MiB of memory, the writing included\n",
      kEvents, millions(bare), millions(ours), millions(side_by_side), usage.ru_maxrss >> 10);
  fmt::print("bench: trace_read_millions={:.1f} trace_read_ratio={:.2f}\n", millions(ours), ours / bare);
  return 0;
}
