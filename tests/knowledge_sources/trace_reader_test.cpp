// Archives of other writers: whole ones, and broken ones as far as possible.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <bit>
#include <csignal>
#include <map>
#include <thread>

#include "knowledge_sources/otf2/reader/archive_reader.hpp"
#include "knowledge_sources/otf2/reader/guarded_reading.hpp"
#include "replay/made_archive.hpp"

namespace ardoise::knowledge_sources {
namespace {

namespace fs = std::filesystem;
using replay::bytes_of;
using replay::MadeArchive;
using replay::ScratchFolder;
using replay::write_bytes;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct KeptEvent {
  ArchivedEvent event;
  std::vector<ArchivedEvent::Attribute> attributes;
  std::vector<ArchivedValue> metrics;
};
class KeepEvents : public EventConsumer {
 public:
  bool event(const ArchivedEvent& event) override {
    kept.push_back(
        {event, {event.attributes.begin(), event.attributes.end()}, {event.metrics.begin(), event.metrics.end()}});
    return kept.size() < enough;
  }
  std::vector<KeptEvent> kept;
  std::size_t enough = SIZE_MAX;
};

class TraceReader : public ::testing::Test {
 protected:
  // Writes `pairs` pairs of Enter and Leave of region 0 in location 0, 10 ns each.
  static void calls(MadeArchive& archive, std::uint64_t location, std::uint64_t pairs) {
    OTF2_EvtWriter* const out = archive.events(location);
    for (std::uint64_t i = 0; i < pairs; ++i) {
      OTF2_EvtWriter_Enter(out, nullptr, 1000 + 20 * i, 0);
      OTF2_EvtWriter_Leave(out, nullptr, 1010 + 20 * i, 0);
    }
    OTF2_Archive_CloseEvtWriter(archive.archive(), out);
  }
  // Ranks with so many calls each.
  fs::path simple(std::uint32_t ranks, std::uint64_t pairs) {
    MadeArchive archive(folder_.path() / "simple");
    for (std::uint32_t rank = 0; rank < ranks; ++rank) calls(archive, rank, pairs);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) archive.local(rank);
    archive.clock(1000, 20 * pairs);
    archive.processes(ranks, 2 * pairs);
    archive.region(0, "work");
    return archive.close();
  }
  static std::vector<std::string> faults_of(const ArchiveReader& archive) {
    ArchiveFaults faults = archive.definitions().faults;
    for (const ArchivedLocation& location : archive.definitions().locations) {
      KeepEvents keep;
      const ReadLocation read = archive.read(location, keep);
      EXPECT_EQ(read.events, keep.kept.size());
      if (!read.fault.empty()) faults.add(read.fault, read.detail);
    }
    return faults.sentences();
  }
  static std::string refusal(const fs::path& path) {
    try {
      const ArchiveReader archive(path);
    } catch (const UnreadableArchive& error) {
      return error.what();
    }
    return "";
  }

  ScratchFolder folder_;
};

TEST_F(TraceReader, DefinitionsComeWithTheirNames) {
  MadeArchive archive(folder_.path() / "foreign");
  archive.clock(5000, 1000);
  archive.processes(2, 0, 2);
  auto* const out = archive.global();
  OTF2_GlobalDefWriter_WriteLocationGroup(out, 7, archive.string("CUDA Context 1"),
                                          OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, 0, 1);
  OTF2_GlobalDefWriter_WriteLocation(out, 1ull << 40, archive.string("CUDA[0:7]"),
                                     OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, 0, 7);
  archive.region(3, "!$omp parallel @solve.c:12", OTF2_PARADIGM_OPENMP, OTF2_REGION_ROLE_PARALLEL, "solve.c", 12);
  archive.region(5, "axpy_kernel", OTF2_PARADIGM_CUDA, OTF2_REGION_ROLE_FUNCTION);
  const std::uint64_t one[] = {1};
  OTF2_GlobalDefWriter_WriteGroup(out, 2, archive.string("other"), OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                  OTF2_GROUP_FLAG_NONE, 1, one);
  const std::uint64_t zero[] = {0};
  OTF2_GlobalDefWriter_WriteGroup(out, 3, archive.string("one"), OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                  OTF2_GROUP_FLAG_NONE, 1, zero);
  OTF2_GlobalDefWriter_WriteGroup(out, 4, archive.string("self"), OTF2_GROUP_TYPE_COMM_SELF, OTF2_PARADIGM_MPI,
                                  OTF2_GROUP_FLAG_NONE, 0, nullptr);
  OTF2_GlobalDefWriter_WriteInterComm(out, 1, archive.string("between"), 3, 2, 0, OTF2_COMM_FLAG_NONE);
  OTF2_GlobalDefWriter_WriteComm(out, 2, archive.string("MPI_COMM_SELF"), 4, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  OTF2_GlobalDefWriter_WriteRmaWin(out, 0, archive.string("halo"), 0, OTF2_RMA_WIN_FLAG_NONE);
  OTF2_GlobalDefWriter_WriteMetricMember(out, 0, archive.string("PAPI_TOT_CYC"), archive.string("cycles"),
                                         OTF2_METRIC_TYPE_PAPI, OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64,
                                         OTF2_BASE_DECIMAL, 0, archive.string("#"));
  const OTF2_MetricMemberRef member = 0;
  OTF2_GlobalDefWriter_WriteMetricClass(out, 0, 1, &member, OTF2_METRIC_SYNCHRONOUS_STRICT, OTF2_RECORDER_KIND_CPU);
  OTF2_GlobalDefWriter_WriteMetricInstance(out, 1, 0, 0, OTF2_SCOPE_LOCATION, 0);
  OTF2_GlobalDefWriter_WriteCartDimension(out, 0, archive.string("x"), 2, OTF2_CART_PERIODIC_TRUE);
  const OTF2_CartDimensionRef dimension = 0;
  OTF2_GlobalDefWriter_WriteCartTopology(out, 0, archive.string("grid"), 0, 1, &dimension);
  const std::uint32_t coordinate = 1;
  OTF2_GlobalDefWriter_WriteCartCoordinate(out, 0, 1, 1, &coordinate);
  OTF2_Archive_SetProperty(archive.archive(), "MAKER::NOTE", "hello", true);
  auto* const markers = OTF2_Archive_GetMarkerWriter(archive.archive());
  OTF2_MarkerWriter_WriteDefMarker(markers, 0, "group", "late", OTF2_SEVERITY_HIGH);
  OTF2_MarkerWriter_WriteMarker(markers, 5100, 10, 0, OTF2_MARKER_SCOPE_LOCATION, 2, "it is late");
  OTF2_Archive_CloseMarkerWriter(archive.archive(), markers);

  const ArchiveReader reader(archive.close() / "traces.otf2");
  const ArchiveDefinitions& all = reader.definitions();
  EXPECT_THAT(all.faults.sentences(), IsEmpty());
  EXPECT_EQ(reader.anchor().creator, "somebody else");
  EXPECT_THAT(reader.anchor().properties, ElementsAre(std::pair<std::string, std::string>("MAKER::NOTE", "hello")));
  EXPECT_EQ(all.clock.begin, 5000u);
  EXPECT_EQ(all.clock.nanoseconds(5250), 250);
  EXPECT_EQ(all.clock.nanoseconds(4990), -10);
  ASSERT_NE(all.regions.find(3), nullptr);
  EXPECT_EQ(all.regions.find(3)->source_file, "solve.c");
  EXPECT_EQ(all.regions.find(3)->line, 12u);
  EXPECT_EQ(all.regions.find(5)->paradigm, OTF2_PARADIGM_CUDA);
  EXPECT_EQ(all.regions.find(5)->source_file, "");
  EXPECT_EQ(all.regions.find(4), nullptr);
  EXPECT_EQ(all.world_rank_of(2), 1u);
  EXPECT_EQ(all.world_rank_of(3), 1u) << "a thread of rank 1";
  EXPECT_EQ(all.world_rank_of(1ull << 40), 1u) << "an accelerator of rank 1";
  EXPECT_THAT(all.comms.find(0)->members, ElementsAre(0u, 2u));
  EXPECT_EQ(all.location_of(*all.comms.find(1), 0, 0), 2u) << "the other side";
  EXPECT_EQ(all.location_of(*all.comms.find(1), 0, 2), 0u) << "the other side";
  EXPECT_EQ(all.location_of(*all.comms.find(2), 0, 2), 2u) << "MPI_COMM_SELF";
  EXPECT_EQ(all.location_of(*all.comms.find(0), 5, 0), kUndefined64);
  EXPECT_EQ(all.windows.find(0)->name, "halo");
  EXPECT_THAT(all.metric_members_of(1), ElementsAre(0u)) << "of an instance";
  EXPECT_EQ(all.topologies.find(0)->dimensions.at(0).size, 2u);
  EXPECT_THAT(all.topologies.find(0)->places.at(0).coordinates, ElementsAre(1u));
  ASSERT_THAT(all.markers, SizeIs(1));
  EXPECT_EQ(all.markers[0].text, "it is late");
  EXPECT_EQ(all.markers[0].category, "late");
}

TEST_F(TraceReader, NumbersAndClockAreThoseOfTheWholeTrace) {
  MadeArchive archive(folder_.path() / "local");
  calls(archive, 0, 3);
  archive.local(0, [](OTF2_DefWriter* out) {
    OTF2_IdMap* const map = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, 1);
    OTF2_IdMap_AddIdPair(map, 0, 4);
    OTF2_DefWriter_WriteMappingTable(out, OTF2_MAPPING_REGION, map);
    OTF2_IdMap_Free(map);
    OTF2_DefWriter_WriteClockOffset(out, 1000, 100, 0);
    OTF2_DefWriter_WriteClockOffset(out, 1100, 200, 0);
  });
  archive.clock(0, 10000);
  archive.processes(1, 6);
  archive.region(4, "work");
  const ArchiveReader reader(archive.close());
  KeepEvents keep;
  const ReadLocation read = reader.read(*reader.definitions().locations.find(0), keep);
  EXPECT_EQ(read.fault, "");
  EXPECT_TRUE(read.is_whole);
  ASSERT_THAT(keep.kept, SizeIs(6));
  EXPECT_EQ(keep.kept[0].event.reference, 4u);
  EXPECT_EQ(keep.kept[0].event.time, 1100u);
  EXPECT_EQ(keep.kept[5].event.time, 1050u + 150);
  EXPECT_EQ(keep.kept[5].event.position, 5u);
  EXPECT_EQ(read.counts[static_cast<std::size_t>(ArchivedKind::kEnter)], 3u);
}

TEST_F(TraceReader, AttributesOfAllTypesArriveWithTheirValues) {
  MadeArchive archive(folder_.path() / "attributes");
  OTF2_EvtWriter* const out = archive.events(0);
  OTF2_AttributeList* const list = OTF2_AttributeList_New();
  OTF2_AttributeList_AddUint8(list, 0, 200);
  OTF2_AttributeList_AddUint16(list, 1, 60000);
  OTF2_AttributeList_AddUint32(list, 2, 4000000000u);
  OTF2_AttributeList_AddUint64(list, 3, 1ull << 60);
  OTF2_AttributeList_AddInt8(list, 4, -5);
  OTF2_AttributeList_AddInt16(list, 5, -500);
  OTF2_AttributeList_AddInt32(list, 6, -50000);
  OTF2_AttributeList_AddInt64(list, 7, -(1ll << 50));
  OTF2_AttributeList_AddFloat(list, 8, 0.5F);
  OTF2_AttributeList_AddDouble(list, 9, 0.25);
  OTF2_AttributeList_AddStringRef(list, 10, 1);
  OTF2_AttributeList_AddRegionRef(list, 11, 0);
  OTF2_AttributeList_AddLocationRef(list, 12, 1ull << 40);
  OTF2_EvtWriter_MpiSend(out, list, 10, 1, 0, 7, 64);
  OTF2_AttributeList_Delete(list);
  OTF2_EvtWriter_MpiSend(out, nullptr, 11, 1, 0, 7, 64);
  const OTF2_Type types[] = {OTF2_TYPE_DOUBLE, OTF2_TYPE_INT64};
  OTF2_MetricValue values[2];
  values[0].floating_point = 1.5;
  values[1].signed_int = -3;
  OTF2_EvtWriter_Metric(out, nullptr, 12, 9, 2, types, values);
  archive.clock(0, 100);
  archive.processes(1, 3);
  archive.region(0, "work");
  const ArchiveReader reader(archive.close());
  KeepEvents keep;
  (void)reader.read(*reader.definitions().locations.find(0), keep);
  ASSERT_THAT(keep.kept, SizeIs(3));
  std::vector<std::string> texts;
  for (const auto& each : keep.kept[0].attributes) texts.push_back(reader.definitions().text_of(each.value));
  EXPECT_THAT(texts, ElementsAre("200", "60000", "4000000000", "1152921504606846976", "-5", "-500", "-50000",
                                 "-1125899906842624", "0.5", "0.25", reader.definitions().string_of(1), "work",
                                 "location 1099511627776"));
  EXPECT_EQ(keep.kept[0].event.tag, 7u);
  EXPECT_EQ(keep.kept[0].event.bytes, 64u);
  EXPECT_EQ(keep.kept[0].event.peer, 1u);
  EXPECT_THAT(keep.kept[1].attributes, IsEmpty());
  ASSERT_THAT(keep.kept[2].metrics, SizeIs(2));
  EXPECT_EQ(keep.kept[2].metrics[0].as_real(), 1.5);
  EXPECT_EQ(keep.kept[2].metrics[1].as_signed(), -3);
  EXPECT_EQ(keep.kept[2].event.reference, 9u);
}

TEST_F(TraceReader, ACallingContextIsNamedWithItsCallers) {
  MadeArchive archive(folder_.path() / "stacks");
  OTF2_EvtWriter_Enter(archive.events(0), nullptr, 10, 0);
  OTF2_EvtWriter_Leave(archive.events(0), nullptr, 20, 0);
  archive.clock(0, 100);
  archive.processes(1, 2);
  archive.region(0, "main");
  archive.region(1, "solve");
  const auto context = [&](std::uint32_t id, std::uint32_t region, std::uint32_t parent) {
    OTF2_GlobalDefWriter_WriteCallingContext(archive.global(), id, region, OTF2_UNDEFINED_SOURCE_CODE_LOCATION, parent);
  };
  context(0, 0, OTF2_UNDEFINED_CALLING_CONTEXT);
  context(1, 1, 0);
  context(2, 7, 1);  // a region that is not defined
  for (std::uint32_t id = 3; id < 100; ++id) context(id, 1, id - 1);
  const ArchiveReader reader(archive.close());
  const auto text_of = [&](std::uint32_t id) { return reader.definitions().text_of({OTF2_TYPE_CALLING_CONTEXT, id}); };
  EXPECT_EQ(text_of(0), "main");
  EXPECT_EQ(text_of(2), "calling context 2 < solve < main");
  EXPECT_THAT(text_of(99), ::testing::EndsWith("solve < …"));
  EXPECT_EQ(text_of(500), "calling context 500");
}

// OTF2 stops at such a list, in the middle of a record.
TEST_F(TraceReader, ADuplicateAttributeIsReported) {
  MadeArchive archive(folder_.path() / "twice");
  OTF2_EvtWriter* const out = archive.events(0);
  OTF2_EvtWriter_Enter(out, nullptr, 10, 0);
  OTF2_AttributeList* const list = OTF2_AttributeList_New();
  OTF2_AttributeList_AddUint8(list, 0, 1);
  OTF2_AttributeList_AddUint8(list, 1, 2);
  OTF2_EvtWriter_Enter(out, list, 11, 0);
  OTF2_AttributeList_Delete(list);
  archive.local(0, [](OTF2_DefWriter* definitions) {
    OTF2_IdMap* const map = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, 2);
    OTF2_IdMap_AddIdPair(map, 0, 1);
    OTF2_IdMap_AddIdPair(map, 1, 1);
    OTF2_DefWriter_WriteMappingTable(definitions, OTF2_MAPPING_ATTRIBUTE, map);
    OTF2_IdMap_Free(map);
  });
  archive.clock(0, 100);
  archive.processes(1, 2);
  archive.region(0, "work");
  EXPECT_THAT(faults_of(ArchiveReader(archive.close())),
              ElementsAre(AllOf(HasSubstr("locations whose events are damaged"), HasSubstr("after 1 of 2"),
                                HasSubstr("attribute ID already exists"))));
}

TEST_F(TraceReader, AConsumerThatHasEnoughGetsNoMore) {
  const ArchiveReader reader(simple(1, 100));
  KeepEvents keep;
  keep.enough = 5;
  const ReadLocation read = reader.read(*reader.definitions().locations.find(0), keep);
  EXPECT_EQ(read.events, 5u);
  EXPECT_FALSE(read.is_whole);
  EXPECT_EQ(read.fault, "");
}

TEST_F(TraceReader, SideBySideNoLocationRunsAhead) {
  class Skew : public EventConsumer {
   public:
    bool event(const ArchivedEvent& event) override {
      std::uint64_t& own = times[event.location->id];
      EXPECT_LE(own, event.time);
      own = event.time;
      ++events;
      if (times.size() < 4) return true;
      std::uint64_t least = UINT64_MAX;
      for (const auto& [location, time] : times) least = std::min(least, time);
      if (ended == 0) most = std::max(most, event.time - least);
      ended += event.position == 1999;
      return true;
    }
    std::map<std::uint64_t, std::uint64_t> times;
    std::uint64_t events = 0, most = 0, ended = 0;
  } skew;
  const fs::path made = simple(4, 1000);
  fs::remove(made / "traces" / "3.evt");
  fs::copy(made / "traces" / "1.evt", made / "traces" / "3.evt");
  EXPECT_THAT(ArchiveReader(made).read_side_by_side(skew).sentences(), IsEmpty());
  EXPECT_EQ(skew.events, 8000u);
  EXPECT_LE(skew.most, 2 * 256 * 10u);
  EXPECT_GT(skew.most, 0u);
}

TEST_F(TraceReader, MoreLocationsThanMayBeOpenAreReadInTurns) {
  const ArchiveReader reader(simple(150, 3));
  const GuardedEnd end = read_guarded([&] {
    const rlimit few{100, 100};
    if (::setrlimit(RLIMIT_NOFILE, &few) != 0) return 1;
    KeepEvents keep;
    if (!reader.read_side_by_side(keep).empty()) return 2;
    return keep.kept.size() == 150 * 6 ? 0 : 3;
  });
  EXPECT_EQ(end.crash, "");
  EXPECT_EQ(end.status, 0);
}

TEST_F(TraceReader, ThreadsReadTheSameArchive) {
  const ArchiveReader reader(simple(4, 500));
  std::vector<std::vector<ReadLocation>> reads(4);
  {
    std::vector<std::jthread> threads;
    for (auto& of_thread : reads) {
      threads.emplace_back([&] {
        for (const ArchivedLocation& location : reader.definitions().locations) {
          KeepEvents keep;
          of_thread.push_back(reader.read(location, keep));
        }
      });
    }
  }
  for (const auto& of_thread : reads) {
    ASSERT_THAT(of_thread, SizeIs(4));
    for (const ReadLocation& each : of_thread) {
      EXPECT_EQ(each.events, 1000u);
      EXPECT_EQ(each.fault, "");
    }
  }
}

TEST_F(TraceReader, AnExceptionOfTheConsumerIsPassedOn) {
  class Throws : public EventConsumer {
    bool event(const ArchivedEvent&) override { throw std::runtime_error("full"); }
  } throws;
  const ArchiveReader reader(simple(1, 100));
  EXPECT_THROW((void)reader.read(*reader.definitions().locations.find(0), throws), std::runtime_error);
}

TEST_F(TraceReader, IsFoundByItsFileItsFolderAndItsReport) {
  const fs::path made = simple(1, 1);
  fs::create_directories(folder_.path() / "report");
  fs::rename(made, folder_.path() / "report" / "trace");
  for (const char* const path : {"report", "report/trace", "report/trace/traces.otf2"})
    EXPECT_EQ(refusal(folder_.path() / path), "") << path;
}

TEST_F(TraceReader, OtherFilesAreRefusedWithASentence) {
  EXPECT_THAT(refusal(folder_.path() / "nothing"), HasSubstr("there is no such file"));
  EXPECT_THAT(refusal(folder_.path()), HasSubstr("has no trace"));
  write_bytes(folder_.path() / "a.otf2", "some text that is no trace at all, though its name says so");
  EXPECT_THAT(refusal(folder_.path() / "a.otf2"), HasSubstr("is not an OTF2 archive"));
  const fs::path made = simple(1, 1);
  const std::string anchor = bytes_of(made / "traces.otf2");
  write_bytes(made / "traces.otf2", anchor.substr(0, 20));
  EXPECT_THAT(refusal(made), HasSubstr("is truncated"));
  for (const auto& [place, sentence] :
       {std::pair(28, "SIONlib"), std::pair(29, "is compressed"), std::pair(14, "chunks of")}) {
    std::string other = anchor;
    other[static_cast<std::size_t>(place)] = 3;
    write_bytes(made / "traces.otf2", other);
    EXPECT_THAT(refusal(made), HasSubstr(sentence)) << place;
  }
  write_bytes(made / "traces.otf2", anchor);
  fs::remove(made / "traces.def");
  EXPECT_THAT(refusal(made), HasSubstr("is missing"));
}

TEST_F(TraceReader, KnownPartsOfANewerVersionAreRead) {
  const fs::path made = simple(1, 4);
  std::string anchor = bytes_of(made / "traces.otf2");
  anchor[9] = 9;
  write_bytes(made / "traces.otf2", anchor);
  EXPECT_THAT(faults_of(ArchiveReader(made)), ElementsAre(HasSubstr("written by OTF2 9.")));
}

TEST_F(TraceReader, MissingLocationsAreSaidAndTheOthersRead) {
  const fs::path made = simple(3, 4);
  fs::remove(made / "traces" / "1.evt");
  fs::remove(made / "traces" / "2.def");
  const ArchiveReader reader(made);
  EXPECT_THAT(faults_of(reader),
              ElementsAre(AllOf(HasSubstr("locations whose own definitions are missing"), HasSubstr("MPI Rank 2")),
                          AllOf(HasSubstr("locations without a file of events"), HasSubstr("MPI Rank 1"))));
}

TEST_F(TraceReader, WholeEventsOfATruncatedFileAreRead) {
  constexpr std::uint64_t kPairs = 40'000;  // more than two chunks
  const fs::path made = simple(1, kPairs);
  const std::string events = bytes_of(made / "traces" / "0.evt");
  ASSERT_GT(events.size(), 2 * OTF2_CHUNK_SIZE_MIN);
  // Within a record, between two chunks, within the first one, and nothing.
  for (const std::size_t size : {events.size() - 8, 2 * OTF2_CHUNK_SIZE_MIN, std::size_t{100}, std::size_t{0}}) {
    write_bytes(made / "traces" / "0.evt", events.substr(0, size));
    const ArchiveReader reader(made);
    KeepEvents keep;
    const ReadLocation read = reader.read(*reader.definitions().locations.find(0), keep);
    EXPECT_FALSE(read.is_whole);
    EXPECT_EQ(read.fault, "locations with incomplete events");
    EXPECT_THAT(read.detail, HasSubstr(std::to_string(read.events) + " of 80000 events are readable"));
    // 9 bytes for the time and 3 for the rest of each.
    EXPECT_LE(read.events, size / 11);
    EXPECT_GE(read.events, size < 50 ? 0 : size / 13 - 4);
    for (std::size_t i = 0; i < keep.kept.size(); ++i)
      ASSERT_EQ(keep.kept[i].event.time, 1000 + 10 * i) << "what OTF2 had in memory from before is no event";
  }
}

TEST_F(TraceReader, AWrongCountIsReported) {
  MadeArchive archive(folder_.path() / "count");
  calls(archive, 0, 3);
  archive.clock(0, 10000);
  archive.processes(1, 8);
  archive.region(0, "work");
  EXPECT_THAT(faults_of(ArchiveReader(archive.close())), ElementsAre(HasSubstr("6 instead of 8")));
}

TEST_F(TraceReader, DefinitionsThatReferToNothingOrToThemselvesAreSaid) {
  MadeArchive archive(folder_.path() / "loops");
  auto* const out = archive.global();
  OTF2_GlobalDefWriter_WriteSystemTreeNode(out, 0, archive.string("a"), archive.string("node"), 1);
  OTF2_GlobalDefWriter_WriteSystemTreeNode(out, 1, archive.string("b"), archive.string("node"), 0);
  OTF2_GlobalDefWriter_WriteSystemTreeNode(out, 2, archive.string("c"), archive.string("node"), 77);
  OTF2_GlobalDefWriter_WriteRegion(out, 0, 99, 99, 99, OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE,
                                   99, 0, 0);
  const std::uint64_t locations[] = {5};
  const std::uint64_t indices[] = {0, 3};
  OTF2_GlobalDefWriter_WriteGroup(out, 0, archive.string(""), OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                  OTF2_GROUP_FLAG_NONE, 1, locations);
  OTF2_GlobalDefWriter_WriteGroup(out, 1, archive.string(""), OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                  OTF2_GROUP_FLAG_NONE, 2, indices);
  OTF2_GlobalDefWriter_WriteComm(out, 0, archive.string("world"), 1, 0, OTF2_COMM_FLAG_NONE);
  OTF2_GlobalDefWriter_WriteComm(out, 1, archive.string("lost"), 42, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  OTF2_GlobalDefWriter_WriteComm(out, 1, archive.string("again"), 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  const ArchiveReader reader(archive.close());
  const auto sentences = reader.definitions().faults.sentences();
  for (const char* const part :
       {"communicators that are their own ancestors", "communicators that are defined twice",
        "communicators whose group is not defined", "groups whose member is not defined",
        "groups with a member out of range", "no clock properties", "regions with an undefined string",
        "system tree nodes that are their own ancestors", "system tree nodes whose parent is not defined"})
    EXPECT_THAT(sentences, Contains(HasSubstr(part)));
  EXPECT_EQ(reader.definitions().regions.find(0)->name, "region 0");
  EXPECT_EQ(reader.definitions().comms.find(1)->name, "lost");
  EXPECT_THAT(reader.definitions().comms.find(0)->members, ElementsAre(5u, kUndefined64));
}

// A few bytes refer again to a group or a string that is stored once.
TEST_F(TraceReader, RepeatedReferencesAreBounded) {
  constexpr std::uint32_t kRanks = 8192;
  MadeArchive archive(folder_.path() / "repeated");
  archive.clock(0, 1000);
  archive.processes(kRanks, 0);
  auto* const out = archive.global();
  // With MPI_COMM_WORLD.
  const auto comms = static_cast<std::uint32_t>(ArchiveDefinitions::kMostMembers / kRanks);
  for (std::uint32_t comm = 1; comm <= comms; ++comm)
    OTF2_GlobalDefWriter_WriteComm(out, comm, archive.string("again"), 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  const std::string name(60'000, 'n');
  const auto regions = static_cast<std::uint32_t>(ArchiveDefinitions::kMostNameBytes / name.size() + 10);
  for (std::uint32_t region = 0; region < regions; ++region)
    OTF2_GlobalDefWriter_WriteRegion(out, region, archive.string("r"), archive.string(name), OTF2_UNDEFINED_STRING,
                                     OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE,
                                     OTF2_UNDEFINED_STRING, 0, 0);
  const ArchiveReader reader(archive.close());
  const ArchiveDefinitions& all = reader.definitions();
  EXPECT_THAT(
      all.faults.sentences(),
      ElementsAre(HasSubstr("communicators treated as empty because all together may have 16777216 members (1): 2048."),
                  HasSubstr("names dropped because all definitions together may have 536870912 bytes of them")));
  EXPECT_THAT(all.comms.find(comms - 1)->members, SizeIs(kRanks));
  EXPECT_THAT(all.comms.find(comms)->members, IsEmpty());
  EXPECT_EQ(all.regions.find(regions - 1)->name, "r");
  EXPECT_EQ(all.regions.find(regions - 1)->canonical_name, "");
}

TEST_F(TraceReader, TruncatedDefinitionsAreReadAsFarAsTheyGo) {
  const fs::path made = simple(2, 1);
  const std::string definitions = bytes_of(made / "traces.def");
  write_bytes(made / "traces.def", definitions.substr(0, definitions.size() - 30));
  const ArchiveReader reader(made);
  EXPECT_EQ(reader.definitions().locations.size(), 2u);
  EXPECT_THAT(reader.definitions().faults.sentences(), Contains(HasSubstr("incomplete global definitions")));
}

TEST_F(TraceReader, ACrashOfTheChildBecomesASentence) {
  const GuardedEnd end = read_guarded([] {
    note_reading("events of", 7);
    return ::raise(SIGKILL);
  });
  EXPECT_THAT(end.crash, HasSubstr("crashed with signal 9 (Killed) while it read events of location 7"));
  const GuardedEnd good = read_guarded([] { return 3; });
  EXPECT_EQ(good.status, 3);
  EXPECT_EQ(good.crash, "");
}

}  // namespace
}  // namespace ardoise::knowledge_sources
