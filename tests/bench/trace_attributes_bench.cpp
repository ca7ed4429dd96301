// The cost of attributes in a trace, from none to eight on each event, like figure 5 of the paper on attributes and
// replay for OTF: bytes of the event files, the time to write them, and the time to read them (ArchiveReader), both as
// CPU time. Twice:
//
//   with the events    as arguments, messages and values of the trace itself: each goes to the file with its event
//   as values          of a plug-in (event_values.hpp): noted in a file, attached when the events are copied at the end
//
// Each is a ratio to no attributes. With at most one per event, every second, fourth or eighth event has one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "knowledge_sources/interface/event_values.hpp"
#include "knowledge_sources/otf2/reader/archive_reader.hpp"
#include "knowledge_sources/otf2/writer/trace_archive.hpp"
#include "knowledge_sources/reduction/reduction.hpp"
#include "replay/made_archive.hpp"
#include "replay/pack_maker.hpp"
#include "replay/plugins.hpp"

namespace {

using namespace ardoise;
using namespace ardoise::knowledge_sources;
namespace fs = std::filesystem;

constexpr std::uint32_t kRanks = 4;
// Per rank: 2 · 64,000 events, with eight values each 1,024,000, which fit.
constexpr std::uint64_t kCalls = 64'000, kWrittenCalls = 10 * kCalls;
constexpr int kRepeats = 5;
struct Ratio {
  const char* name;
  std::uint64_t attributes, events;  // this many on one of this many events
};
constexpr std::array<Ratio, 8> kRatios{
    {{"0", 0, 1}, {"1/8", 1, 8}, {"1/4", 1, 4}, {"1/2", 1, 2}, {"1", 1, 1}, {"2", 2, 1}, {"4", 4, 1}, {"8", 8, 1}}};

double seconds_since(std::clock_t begin) { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; }

// Realistic values: most are small.
std::uint64_t value_of(std::uint64_t event, std::uint64_t attribute) {
  return (event * 2654435761u + attribute * 40503u) >> (event % 4 * 8 + 4) & 0xFFFFFF;
}

void write_with_events(const fs::path& folder, const Ratio& ratio) {
  replay::MadeArchive archive(folder);
  OTF2_AttributeList* const list = OTF2_AttributeList_New();
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    OTF2_EvtWriter* const out = archive.events(rank);
    for (std::uint64_t event = 0; event < 2 * kWrittenCalls; ++event) {
      if (event % ratio.events == 0) {
        for (std::uint64_t i = 0; i < ratio.attributes; ++i)
          OTF2_AttributeList_AddUint64(list, static_cast<OTF2_AttributeRef>(i), value_of(event, i));
      }
      if (event % 2 == 0) {
        OTF2_EvtWriter_Enter(out, list, 1000 + 100 * event, 0);
      } else {
        OTF2_EvtWriter_Leave(out, list, 1000 + 100 * event, 0);
      }
    }
    OTF2_Archive_CloseEvtWriter(archive.archive(), out);
  }
  OTF2_AttributeList_Delete(list);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) archive.local(rank);
  archive.clock(0, kWrittenCalls * 1000);
  archive.processes(kRanks, 2 * kWrittenCalls);
  archive.region(0, "MPI_Barrier", OTF2_PARADIGM_MPI);
  for (std::uint64_t i = 0; i < ratio.attributes; ++i)
    OTF2_GlobalDefWriter_WriteAttribute(archive.global(), static_cast<OTF2_AttributeRef>(i),
                                        archive.string(fmt::format("bench::value{}", i)), archive.string(""),
                                        OTF2_TYPE_UINT64);
  archive.close();
}

void write_as_values(const fs::path& folder, const std::vector<std::vector<replay::Pack>>& packs, const Ratio& ratio) {
  TraceArchive archive(folder);
  const auto complain = [](const std::string& sentence) {
    fmt::print(stderr, "{}\n", sentence);
    std::exit(1);
  };
  archive.begin(complain);
  Program program{.name = "program", .ranks = kRanks};
  program.traces = archive.settings("all,attributes=plugins");
  archive.add_program(program);
  blackboard::Options options;
  options.workers = 0;  // jobs run in drain(), on this thread
  blackboard::Blackboard board(std::move(options));
  Reduction reduction(board, replay::load_plugins({"traces"}));
  reduction.add_program(program);
  const LevelSources sources(board);
  AnalysisContext context{.level = "0:program", .partition = 0, .ranks = kRanks, .ticks_per_second = 1e9};
  context.traces = program.traces;
  EventValues values;
  values.attach(sources, context);
  std::vector<EventKey<std::uint64_t>> keys;
  for (std::uint64_t i = 0; i < ratio.attributes; ++i)
    keys.push_back(values.define<std::uint64_t>(fmt::format("bench::value{}", i), ""));
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    for (const replay::Pack& pack : packs[rank]) {
      auto entry = blackboard::make_entry(Reduction::pack_type(), pack.bytes().size());
      std::ranges::copy(pack.bytes(), entry.writable().begin());
      board.submit(std::move(entry));
      board.drain();
    }
    EventValueBatch batch(values);
    for (std::uint64_t event = 0; event < 2 * kCalls && ratio.attributes != 0; event += ratio.events) {
      const EventPlace place = event % 2 == 0 ? EventPlace::kEnter : EventPlace::kLeave;
      for (std::uint64_t i = 0; i < ratio.attributes; ++i)
        batch.add(keys[i], {rank, 0, 2000 + 200 * (event / 2), place}, value_of(event, i));
    }
    board.drain();
  }
  board.drain();
  reduction.flush();
  board.drain();
  reduction.end();
  reports::Run run;
  reduction.contribute(run);
  for (const auto& notice : archive.finish().notices) complain(notice);
}

class Counting : public EventConsumer {
 public:
  bool event(const ArchivedEvent& event) override {
    ++events;
    attributes += event.attributes.size();
    return true;
  }
  std::uint64_t events = 0, attributes = 0;
};

struct Cost {
  double bytes = 0, write = 1e30, read = 1e30;
};

Cost measure(const fs::path& folder, const fs::path& archive, std::uint64_t events, const Ratio& ratio,
             const std::function<void()>& write) {
  Cost cost;
  for (int i = 0; i < kRepeats; ++i) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    auto begin = std::clock();
    write();
    cost.write = std::min(cost.write, seconds_since(begin));
    Counting counting;
    begin = std::clock();
    const ArchiveReader reader(archive);
    for (const ArchivedLocation& location : reader.definitions().locations) (void)reader.read(location, counting);
    cost.read = std::min(cost.read, seconds_since(begin));
    if (counting.events != events || counting.attributes != events / ratio.events * ratio.attributes) {
      fmt::print(stderr, "{} events with {} attributes were read\n", counting.events, counting.attributes);
      std::exit(1);
    }
  }
  for (const auto& entry : fs::directory_iterator(archive / "traces")) {
    if (entry.path().extension() == ".evt") cost.bytes += static_cast<double>(entry.file_size());
  }
  return cost;
}

void print(const char* what, std::uint64_t events, const std::function<Cost(const Ratio&)>& measure_one) {
  fmt::print("{}, {} events: times none\nattributes an event   size  write   read\n", what, events);
  std::optional<Cost> none;
  Cost cost;
  for (const Ratio& ratio : kRatios) {
    cost = measure_one(ratio);
    if (!none) none = cost;
    fmt::print("{:>19} {:6.2f} {:6.2f} {:6.2f}\n", ratio.name, cost.bytes / none->bytes, cost.write / none->write,
               cost.read / none->read);
  }
  const double count = static_cast<double>(events), of_attributes = count * 8;
  fmt::print(
      "none: {:.1f} bytes, {:.1f} ns written, {:.1f} ns read an event; an attribute, of eight: {:.1f}, {:.1f}, "
      "{:.1f}\n\n",
      none->bytes / count, none->write / count * 1e9, none->read / count * 1e9,
      (cost.bytes - none->bytes) / of_attributes, (cost.write - none->write) / of_attributes * 1e9,
      (cost.read - none->read) / of_attributes * 1e9);
}

}  // namespace

int main() {
  const replay::ScratchFolder scratch;
  const fs::path folder = scratch.path() / "trace_of_bench";
  constexpr std::uint64_t kWritten = 2 * kRanks * kWrittenCalls, kEvents = 2 * kRanks * kCalls;
  print("attributes written with the events", kWritten, [&](const Ratio& ratio) {
    return measure(folder, folder, kWritten, ratio, [&] { write_with_events(folder, ratio); });
  });
  std::vector<std::vector<replay::Pack>> packs;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    replay::PackMaker maker({.rank = rank}, 4000);
    for (std::uint64_t call = 0; call < kCalls; ++call)
      maker.call(vmpi::FunctionId::kComm_rank, instrument::Shape::kLocal, 2000 + 200 * call, 100, instrument::kNoPeer,
                 0, 0, 1);
    maker.flush();
    packs.push_back(maker.take());
  }
  print("attributes as values of a plug-in", kEvents, [&](const Ratio& ratio) {
    return measure(folder, folder / "trace", kEvents, ratio, [&] { write_as_values(folder, packs, ratio); });
  });
}
