// `ardoise trace`: errors are found and counted, and exports equal the trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>
#include <sstream>

#include "knowledge_sources/otf2/reader/time_order.hpp"
#include "reports/text/utf8.hpp"
#include "tests/replay/made_archive.hpp"
#include "tests/tools/command_words.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/trace/export.hpp"
#include "tools/ardoise/trace/perfetto/trace_perfetto.hpp"
#include "tools/ardoise/trace/trace.hpp"
#include "tools/ardoise/trace/trace_check.hpp"
#include "tools/ardoise/trace/trace_info.hpp"
#include "tools/ardoise/trace/trace_tables.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;
using knowledge_sources::ArchiveFaults;
using knowledge_sources::ArchiveReader;
using replay::MadeArchive;
using replay::ScratchFolder;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr OTF2_RegionRef kSend = 0, kReceive = 1, kWait = 2, kReduce = 3, kWork = 4;

// Two ranks with the events that the test writes: writer(rank). Regions are the constants above; times are ns from 0.
class TraceCommands : public ::testing::Test {
 protected:
  TraceCommands() : archive_(folder_.path() / "made") {}
  OTF2_EvtWriter* rank(std::uint64_t number) { return archive_.events(number); }
  void enter(std::uint64_t of, std::uint64_t time, OTF2_RegionRef region) {
    OTF2_EvtWriter_Enter(rank(of), nullptr, time, region);
    ++events_[of];
  }
  void leave(std::uint64_t of, std::uint64_t time, OTF2_RegionRef region) {
    OTF2_EvtWriter_Leave(rank(of), nullptr, time, region);
    ++events_[of];
  }
  void send(std::uint64_t of, std::uint64_t time, std::uint32_t to, std::uint32_t tag, std::uint64_t bytes = 8) {
    enter(of, time, kSend);
    OTF2_EvtWriter_MpiSend(rank(of), nullptr, time, to, 0, tag, bytes);
    ++events_[of];
    leave(of, time + 5, kSend);
  }
  void receive(std::uint64_t of, std::uint64_t time, std::uint32_t from, std::uint32_t tag, std::uint64_t bytes = 8) {
    enter(of, time, kReceive);
    OTF2_EvtWriter_MpiRecv(rank(of), nullptr, time + 5, from, 0, tag, bytes);
    ++events_[of];
    leave(of, time + 5, kReceive);
  }
  void collective(std::uint64_t of, std::uint64_t time, OTF2_CollectiveOp operation = OTF2_COLLECTIVE_OP_ALLREDUCE) {
    enter(of, time, kReduce);
    OTF2_EvtWriter_MpiCollectiveBegin(rank(of), nullptr, time);
    OTF2_EvtWriter_MpiCollectiveEnd(rank(of), nullptr, time + 5, operation, 0, OTF2_UNDEFINED_UINT32, 8, 8);
    events_[of] += 2;
    leave(of, time + 5, kReduce);
  }
  void other(std::uint64_t of) { ++events_[of]; }  // an event was written

  // Locations after those of the ranks are further threads of rank 0.
  const ArchiveReader& read(std::uint32_t ranks = 2, std::uint32_t threads = 0) {
    for (std::uint32_t number = 0; number < ranks + threads; ++number) (void)rank(number);
    archive_.clock(0, 100'000);
    auto* const out = archive_.global();
    OTF2_GlobalDefWriter_WriteSystemTreeNode(out, 0, archive_.string("host"), archive_.string("node"),
                                             OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    std::vector<std::uint64_t> members;
    for (std::uint32_t number = 0; number < ranks; ++number) {
      OTF2_GlobalDefWriter_WriteLocationGroup(out, number, archive_.string("MPI Rank " + std::to_string(number)),
                                              OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP);
      OTF2_GlobalDefWriter_WriteLocation(out, number, archive_.string("Master thread"), OTF2_LOCATION_TYPE_CPU_THREAD,
                                         events_[number], number);
      members.push_back(number);
    }
    for (std::uint32_t number = ranks; number < ranks + threads; ++number)
      OTF2_GlobalDefWriter_WriteLocation(out, number, archive_.string("thread"), OTF2_LOCATION_TYPE_CPU_THREAD,
                                         events_[number], 0);
    OTF2_GlobalDefWriter_WriteGroup(out, 0, archive_.string(""), OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, ranks, members.data());
    OTF2_GlobalDefWriter_WriteGroup(out, 1, archive_.string(""), OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, ranks, members.data());
    OTF2_GlobalDefWriter_WriteComm(out, 0, archive_.string("MPI_COMM_WORLD"), 1, OTF2_UNDEFINED_COMM,
                                   OTF2_COMM_FLAG_NONE);
    archive_.region(kSend, "MPI_Send", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_FUNCTION, "a,\"b\".c", 17);
    archive_.region(kReceive, "MPI_Recv", OTF2_PARADIGM_MPI);
    archive_.region(kWait, "MPI_Waitall", OTF2_PARADIGM_MPI);
    archive_.region(kReduce, "MPI_Allreduce", OTF2_PARADIGM_MPI);
    archive_.region(kWork, "work");
    reader_ = std::make_unique<ArchiveReader>(archive_.close());
    EXPECT_THAT(reader_->definitions().faults.sentences(), IsEmpty());
    return *reader_;
  }
  std::vector<std::string> check(std::uint32_t ranks = 2, std::uint32_t threads = 0) {
    const ArchiveReader& archive = read(ranks, threads);
    TraceCheck check(archive.definitions(), most_ends_);
    ArchiveFaults faults = knowledge_sources::read_in_order(archive, check);
    check.finish();
    faults.merge(check.faults());
    messages_ = check.messages();
    collectives_ = check.collectives();
    remarks_ = check.remarks();
    return faults.sentences();
  }
  static std::vector<std::vector<std::string>> rows_of(const fs::path& file) {
    std::vector<std::vector<std::string>> rows;
    std::istringstream in(replay::bytes_of(file));
    for (std::string line; std::getline(in, line);) {
      auto& row = rows.emplace_back(1);
      bool is_quoted = false;
      for (const char c : line) {
        if (c == '"') is_quoted = !is_quoted;
        if (c == ',' && !is_quoted) {
          row.emplace_back();
        } else {
          row.back() += c;
        }
      }
    }
    return rows;
  }
  template <class Write>
  std::vector<std::vector<std::string>> table(Write write) {
    const fs::path file = folder_.path() / "table.csv";
    ExportOutput out(file.string());
    exported_ = write(*reader_, out);
    EXPECT_EQ(out.commit(), "");
    return rows_of(file);
  }
  // A field of a row, by the name of its column.
  static std::string at(const std::vector<std::vector<std::string>>& rows, std::size_t row, const std::string& column) {
    for (std::size_t i = 0; i < rows[0].size(); ++i) {
      if (rows[0][i] == column) return rows.at(row).at(i);
    }
    ADD_FAILURE() << "no column " << column;
    return "";
  }

  ScratchFolder folder_;
  MadeArchive archive_;
  std::map<std::uint64_t, std::uint64_t> events_;
  std::unique_ptr<ArchiveReader> reader_;
  std::uint64_t messages_ = 0, collectives_ = 0;
  std::size_t most_ends_ = knowledge_sources::MessageMatcher::kMost;
  std::vector<std::string> remarks_;
  ExportedTrace exported_;
};

TEST_F(TraceCommands, NamesOfATraceCannotMoveTheCursor) {
  archive_.region(9, "\x1b[31mred\nlength          forged", OTF2_PARADIGM_USER);
  enter(0, 10, 9);
  leave(0, 20, 9);
  ArchiveFaults faults;
  const std::string text = trace_info(read(), faults);
  EXPECT_THAT(text, HasSubstr("[31mred"));
  EXPECT_EQ(text, reports::printable_lines(text));
  EXPECT_EQ(text.find("\nlength          forged"), text.npos);
}

TEST_F(TraceCommands, NothingIsWrongInAWholeTrace) {
  for (std::uint64_t i = 0; i < 50; ++i) {
    send(0, 100 * i, 1, 7);
    receive(1, 100 * i + 1, 0, 7);
    collective(0, 100 * i + 50);
    collective(1, 100 * i + 50);
  }
  EXPECT_THAT(check(), IsEmpty());
  EXPECT_EQ(messages_, 50u);
  EXPECT_EQ(collectives_, 50u);
}

TEST_F(TraceCommands, ThreadsOfAProcessAreSeenInTheOrderOfTime) {
  constexpr std::uint64_t kThread = 2;  // of rank 0
  for (std::uint64_t i = 0; i < 1000; ++i) {
    send(i % 2 == 0 ? 0 : kThread, 100 * i, 1, 7, i);
    receive(1, 100 * i + 10, 0, 7, i);
  }
  EXPECT_THAT(check(2, 1), IsEmpty());
  EXPECT_EQ(messages_, 1000u);
}

// The channel with the most open ends drops them; those of other channels are still matched.
TEST_F(TraceCommands, EndsWithoutRoomAreCounted) {
  for (std::uint64_t i = 0; i < 40; ++i) send(0, 100 + 10 * i, 1, 7);
  send(0, 900, 1, 8);
  for (std::uint64_t i = 0; i < 30; ++i) receive(1, 1000 + 10 * i, 0, 7);
  receive(1, 2000, 0, 8);
  most_ends_ = 10;
  EXPECT_THAT(check(), ElementsAre(AllOf(HasSubstr("messages never received (10)"), HasSubstr("tag 7: 10"))));
  EXPECT_EQ(messages_, 1u);
  EXPECT_THAT(remarks_,
              ElementsAre(HasSubstr(
                  "ends of messages without the other one were so many that further ones are only counted (70)")));
}

TEST_F(TraceCommands, MessagesWithoutTheOtherEndAreCountedByChannel) {
  send(0, 100, 1, 7);
  send(0, 200, 1, 7);
  send(0, 300, 1, 8);
  receive(1, 400, 0, 7);
  receive(1, 500, 0, 9);
  EXPECT_THAT(check(),
              ElementsAre(AllOf(HasSubstr("messages never received (2)"),
                                HasSubstr("rank 0 to rank 1, tag 7: 1, the first at 0.000000200 s in MPI_Send"),
                                HasSubstr("tag 8: 1")),
                          AllOf(HasSubstr("receives of messages never sent (1)"), HasSubstr("tag 9: 1"))));
  EXPECT_EQ(messages_, 1u);
}

TEST_F(TraceCommands, RanksWithoutEventsAreNotMissed) {
  send(0, 100, 1, 7);
  receive(0, 200, 2, 7);
  collective(0, 300);
  collective(2, 300);
  send(2, 310, 0, 7);
  const auto faults = check(3);
  EXPECT_THAT(faults, ElementsAre(HasSubstr("received before they are sent, by the clock (1): by up to 105 ns")));
  EXPECT_THAT(remarks_,
              ElementsAre(HasSubstr("ends of messages of ranks without events in this trace are not checked (1)")));
  EXPECT_EQ(collectives_, 1u);
}

TEST_F(TraceCommands, TimesRegionsAndCountsAreChecked) {
  enter(0, 100, kWork);
  enter(0, 200, kSend);
  leave(0, 250, kWork);
  leave(0, 300, kWork);
  leave(0, 310, kWork);
  enter(1, 100, 99);
  events_[1] = 5;
  // OTF2 writes no decreasing times, but clock offsets can produce them.
  archive_.local(0, [](OTF2_DefWriter* out) {
    for (const auto& [time, offset] : {std::pair(100, 500), std::pair(110, 0), std::pair(1000, 0)})
      OTF2_DefWriter_WriteClockOffset(out, static_cast<OTF2_TimeStamp>(time), offset, 0);
  });
  archive_.local(1);
  const auto faults = check();
  for (const char* const part :
       {"events that are earlier than one before them (4)", "by 400 ticks", "left while another one is inside (1)",
        "left and were not entered (1)", "never left (1)", "an undefined region (1)", "1 instead of 5"})
    EXPECT_THAT(faults, Contains(HasSubstr(part)));
  EXPECT_THAT(faults, SizeIs(6));
}

TEST_F(TraceCommands, RequestsAreStartedAndCompletedOnce) {
  const auto isend = [&](std::uint64_t time, std::uint64_t request) {
    OTF2_EvtWriter_MpiIsend(rank(0), nullptr, time, 1, 0, 7, 8, request);
    other(0);
  };
  const auto complete = [&](std::uint64_t time, std::uint64_t request) {
    OTF2_EvtWriter_MpiIsendComplete(rank(0), nullptr, time, request);
    other(0);
  };
  isend(100, 1);
  complete(110, 1);
  complete(120, 1);
  isend(130, 2);
  complete(140, 9);
  for (std::uint64_t i = 0; i < 2; ++i) receive(1, 200 + 10 * i, 0, 7);
  EXPECT_THAT(check(), ElementsAre(AllOf(HasSubstr("never started, or already complete (2)"), HasSubstr("send 9")),
                                   AllOf(HasSubstr("never completed (1)"), HasSubstr("send 2"))));
}

TEST_F(TraceCommands, CollectivesNeedAllMembers) {
  collective(0, 100);
  collective(1, 100);
  collective(0, 200, OTF2_COLLECTIVE_OP_BCAST);
  collective(1, 200, OTF2_COLLECTIVE_OP_BARRIER);
  collective(0, 300);
  EXPECT_THAT(check(),
              UnorderedElementsAre(HasSubstr("members call different operations (1)"),
                                   AllOf(HasSubstr("not all members take part (1)"), HasSubstr("has 1 of 2"))));
}

TEST_F(TraceCommands, AttributesAreChecked) {
  OTF2_AttributeList* const list = OTF2_AttributeList_New();
  OTF2_AttributeList_AddUint32(list, 0, 1);
  OTF2_AttributeList_AddDouble(list, 1, 1);
  OTF2_AttributeList_AddUint32(list, 5, 1);
  OTF2_AttributeList_AddStringRef(list, 2, 4711);
  OTF2_EvtWriter_Enter(rank(0), list, 100, kWork);
  OTF2_AttributeList_Delete(list);
  other(0);
  leave(0, 200, kWork);
  (void)rank(1);
  for (const auto& [key, type] :
       {std::pair(0, OTF2_TYPE_UINT32), std::pair(1, OTF2_TYPE_UINT32), std::pair(2, OTF2_TYPE_STRING)})
    OTF2_GlobalDefWriter_WriteAttribute(archive_.global(), static_cast<OTF2_AttributeRef>(key),
                                        archive_.string("key " + std::to_string(key)), archive_.string(""),
                                        static_cast<OTF2_Type>(type));
  EXPECT_THAT(check(), ElementsAre(AllOf(HasSubstr("another type than their key has (1)"), HasSubstr("key 1")),
                                   HasSubstr("an undefined key (1)"), HasSubstr("an undefined string (1)")));
}

// Two receives of one channel complete in the reverse order of posting.
TEST_F(TraceCommands, MessagesAreMatchedInTheOrderOfPosting) {
  send(0, 100, 1, 7, 10);
  send(0, 110, 1, 7, 20);
  enter(1, 50, kReceive);
  OTF2_EvtWriter_MpiIrecvRequest(rank(1), nullptr, 50, 1);
  leave(1, 55, kReceive);
  enter(1, 60, kReceive);
  OTF2_EvtWriter_MpiIrecvRequest(rank(1), nullptr, 60, 2);
  leave(1, 65, kReceive);
  enter(1, 120, kWait);
  OTF2_EvtWriter_MpiIrecv(rank(1), nullptr, 130, 0, 0, 7, 20, 2);
  OTF2_EvtWriter_MpiIrecv(rank(1), nullptr, 140, 0, 0, 7, 10, 1);
  leave(1, 150, kWait);
  events_[1] += 4;
  EXPECT_THAT(check(), IsEmpty());
  const auto rows = table(write_message_table);
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_EQ(at(rows, 1, "size_bytes"), "10");
  EXPECT_EQ(at(rows, 1, "receive_begin_seconds"), "0.000000050");
  EXPECT_EQ(at(rows, 1, "receive_end_seconds"), "0.000000140");
  EXPECT_EQ(at(rows, 1, "receive_function"), "MPI_Recv");
  EXPECT_EQ(at(rows, 2, "receive_end_seconds"), "0.000000130");
  EXPECT_EQ(at(rows, 2, "sender"), "0");
  EXPECT_EQ(at(rows, 2, "receiver"), "1");
}

TEST_F(TraceCommands, TablesHaveUnitsInTheirNamesAndQuoteTexts) {
  send(0, 1'000, 1, 7, 64);
  receive(1, 1'500, 0, 7, 64);
  enter(0, 2'000, kWork);
  collective(0, 2'100);
  collective(1, 2'100);
  leave(0, 3'000, kWork);
  (void)read();
  const auto calls = table(write_call_table);
  EXPECT_EQ(exported_.rows, 5u);
  ASSERT_THAT(calls, SizeIs(6));
  EXPECT_EQ(at(calls, 1, "function"), "MPI_Send");
  EXPECT_EQ(at(calls, 1, "file"), "\"a,\"\"b\"\".c\"");
  EXPECT_EQ(at(calls, 1, "line"), "17");
  EXPECT_EQ(at(calls, 1, "begin_seconds"), "0.000001000");
  EXPECT_EQ(at(calls, 1, "duration_seconds"), "0.000000005");
  EXPECT_EQ(at(calls, 1, "sent_bytes"), "64");
  EXPECT_EQ(at(calls, 2, "depth"), "1");
  EXPECT_EQ(at(calls, 3, "function"), "work");
  EXPECT_EQ(at(calls, 4, "rank"), "1");
  EXPECT_EQ(at(calls, 4, "received_bytes"), "64");
  const auto events = table(write_event_table);
  EXPECT_THAT(events, SizeIs(1 + 3 + 3 + 2 + 4 + 4));
  EXPECT_EQ(at(events, 2, "event"), "MpiSend");
  EXPECT_EQ(at(events, 2, "communicator"), "MPI_COMM_WORLD");
  EXPECT_EQ(at(events, 2, "peer"), "1");
  EXPECT_EQ(at(events, 2, "tag"), "7");
  EXPECT_EQ(at(events, 2, "time_seconds"), "0.000001000");
  EXPECT_EQ(at(events, 1, "peer"), "");
}

TEST_F(TraceCommands, InfoTellsWhatIsThere) {
  send(0, 1'000, 1, 7, 64);
  receive(1, 1'500, 0, 7, 64);
  ArchiveFaults faults;
  const std::string text = trace_info(read(), faults);
  EXPECT_THAT(faults.sentences(), IsEmpty());
  for (const char* const part :
       {"somebody else, OTF2 3.", "6 events", "processes       2", "MPI_Send (MPI), a,\"b\".c:17", "2  MPI_COMM_WORLD",
        "1  MpiSend", "length          100 µs"})
    EXPECT_THAT(text, HasSubstr(part));
}

// Parses a protocol buffer by field number, as far as the tests need.
class Proto {
 public:
  explicit Proto(std::string bytes) : bytes_(std::move(bytes)) {
    for (std::size_t at = 0; at < bytes_.size();) {
      const std::uint64_t tag = varint(at);
      const auto field = static_cast<std::uint32_t>(tag >> 3);
      if ((tag & 7) == 0) {
        numbers_[field].push_back(varint(at));
      } else if ((tag & 7) == 1) {
        std::uint64_t value = 0;
        for (unsigned i = 0; i < 8; ++i)
          value |= std::uint64_t{static_cast<std::uint8_t>(bytes_.at(at + i))} << (8 * i);
        at += 8;
        numbers_[field].push_back(value);
      } else {
        EXPECT_EQ(tag & 7, 2u);
        const auto size = static_cast<std::size_t>(varint(at));
        EXPECT_LE(size, bytes_.size() - at);
        texts_[field].push_back(bytes_.substr(at, size));
        at += size;
      }
    }
  }
  [[nodiscard]] bool has(std::uint32_t field) const { return numbers_.contains(field) || texts_.contains(field); }
  [[nodiscard]] std::uint64_t number(std::uint32_t field) const {
    return numbers_.contains(field) ? numbers_.at(field).front() : 0;
  }
  [[nodiscard]] std::vector<std::uint64_t> numbers(std::uint32_t field) const {
    return numbers_.contains(field) ? numbers_.at(field) : std::vector<std::uint64_t>();
  }
  [[nodiscard]] std::string text(std::uint32_t field) const {
    return texts_.contains(field) ? texts_.at(field).front() : "";
  }
  [[nodiscard]] std::vector<Proto> messages(std::uint32_t field) const {
    std::vector<Proto> all;
    if (texts_.contains(field)) {
      for (const std::string& each : texts_.at(field)) all.emplace_back(each);
    }
    return all;
  }
  [[nodiscard]] Proto message(std::uint32_t field) const { return Proto(text(field)); }

 private:
  std::uint64_t varint(std::size_t& at) const {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(bytes_.at(at++));
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }
  std::string bytes_;
  std::map<std::uint32_t, std::vector<std::uint64_t>> numbers_;
  std::map<std::uint32_t, std::vector<std::string>> texts_;
};

// Reads packets as a viewer does.
struct Viewed {
  struct Slice {
    std::string name, category, file;
    std::uint64_t track, begin, end = 0;
    std::vector<std::uint64_t> flows;
    std::map<std::string, std::string> notes;  // "MpiSend.peer": "1"
  };
  explicit Viewed(const fs::path& file) {
    const Proto trace(replay::bytes_of(file));
    for (const Proto& packet : trace.messages(1)) {
      EXPECT_EQ(packet.number(10), 1u) << "one sequence";
      for (const Proto& interned : packet.messages(12)) intern(interned);
      for (const Proto& descriptor : packet.messages(60)) {
        if (descriptor.has(3)) processes[descriptor.message(3).number(1)] = descriptor.message(3).text(6);
        if (descriptor.has(4)) threads[descriptor.number(1)] = descriptor.message(4).number(1);
        if (descriptor.has(8)) counters[descriptor.number(1)] = descriptor.text(2);
      }
      for (const Proto& event : packet.messages(11)) take(event, packet.number(8));
    }
    for (const auto& [track, stack] : open) EXPECT_THAT(stack, IsEmpty());
  }
  void intern(const Proto& interned) {
    for (const auto& [field, names] : {std::pair(1u, &categories), std::pair(2u, &names_), std::pair(3u, &note_names),
                                       std::pair(29u, &texts), std::pair(4u, &sources)}) {
      for (const Proto& each : interned.messages(field)) (*names)[each.number(1)] = each.text(2);
    }
  }
  void note(Slice& slice, const std::string& prefix, const Proto& annotation) {
    const std::string name = prefix + note_names.at(annotation.number(1));
    if (annotation.has(3)) slice.notes[name] = std::to_string(annotation.number(3));
    if (annotation.has(4)) slice.notes[name] = std::to_string(static_cast<std::int64_t>(annotation.number(4)));
    if (annotation.has(5)) slice.notes[name] = std::to_string(std::bit_cast<double>(annotation.number(5)));
    if (annotation.has(17)) slice.notes[name] = texts.at(annotation.number(17));
    for (const Proto& entry : annotation.messages(11)) note(slice, name + ".", entry);
  }
  void take(const Proto& event, std::uint64_t time) {
    const std::uint64_t track = event.number(11);
    if (event.number(9) == 4) {
      EXPECT_TRUE(counters.contains(track));
      values[counters[track]].push_back(event.has(44) ? std::bit_cast<double>(event.number(44))
                                                      : static_cast<double>(event.number(30)));
      return;
    }
    Slice slice{
        names_[event.number(10)], categories[event.number(3)], sources[event.number(34)], track, time, time, {}, {}};
    const bool is_end = event.number(9) == 2;
    if (is_end) {
      ASSERT_FALSE(open[track].empty());
      slice = open[track].back();
      open[track].pop_back();
      slice.end = time;
    }
    for (const std::uint64_t flow : event.numbers(47)) slice.flows.push_back(flow);
    for (const Proto& annotation : event.messages(4)) note(slice, "", annotation);
    if (event.number(9) == 1) {
      open[track].push_back(slice);
    } else {
      slices.push_back(slice);
    }
  }
  [[nodiscard]] std::vector<Slice> named(const std::string& name) const {
    std::vector<Slice> some;
    for (const Slice& each : slices) {
      if (each.name == name) some.push_back(each);
    }
    return some;
  }

  std::map<std::uint64_t, std::string> processes, counters, categories, names_, note_names, texts, sources;
  std::map<std::uint64_t, std::uint64_t> threads;  // pid by track
  std::map<std::uint64_t, std::vector<Slice>> open;
  std::map<std::string, std::vector<double>> values;
  std::vector<Slice> slices;  // and instants
};

TEST_F(TraceCommands, PerfettoHasSlicesFlowsCountersAndNotes) {
  constexpr std::uint64_t kRounds = 300;
  enter(0, 1, kWork);
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    send(0, 100 * i + 10, 1, 7, 1000 + i);
    receive(1, 100 * i + 12, 0, 7, 1000 + i);
  }
  OTF2_AttributeList* const list = OTF2_AttributeList_New();
  OTF2_AttributeList_AddInt64(list, 0, -5);
  OTF2_AttributeList_AddDouble(list, 1, 0.5);
  OTF2_EvtWriter_Leave(rank(0), list, 90'000, kWork);
  OTF2_AttributeList_Delete(list);
  other(0);
  const OTF2_Type type = OTF2_TYPE_DOUBLE;
  OTF2_MetricValue value;
  value.floating_point = 2.5;
  OTF2_EvtWriter_Metric(rank(1), nullptr, 90'000, 0, 1, &type, &value);
  OTF2_EvtWriter_ParameterInt(rank(1), nullptr, 90'001, 0, -3);
  events_[1] += 2;
  auto* const out = archive_.global();
  OTF2_GlobalDefWriter_WriteMetricMember(out, 0, archive_.string("residual"), archive_.string(""),
                                         OTF2_METRIC_TYPE_USER, OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE,
                                         OTF2_BASE_DECIMAL, 0, archive_.string("m"));
  const OTF2_MetricMemberRef member = 0;
  OTF2_GlobalDefWriter_WriteMetricClass(out, 0, 1, &member, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
  OTF2_GlobalDefWriter_WriteParameter(out, 0, archive_.string("step"), OTF2_PARAMETER_TYPE_INT64);
  OTF2_GlobalDefWriter_WriteAttribute(out, 0, archive_.string("shift"), archive_.string(""), OTF2_TYPE_INT64);
  OTF2_GlobalDefWriter_WriteAttribute(out, 1, archive_.string("load"), archive_.string(""), OTF2_TYPE_DOUBLE);
  auto* const markers = OTF2_Archive_GetMarkerWriter(archive_.archive());
  OTF2_MarkerWriter_WriteDefMarker(markers, 0, "group", "late", OTF2_SEVERITY_HIGH);
  OTF2_MarkerWriter_WriteMarker(markers, 50, 0, 0, OTF2_MARKER_SCOPE_GLOBAL, 0, "it is late");
  OTF2_Archive_CloseMarkerWriter(archive_.archive(), markers);
  (void)read();
  const fs::path file = folder_.path() / "made.pftrace";
  ExportOutput to(file.string());
  const ExportedTrace exported = write_perfetto(*reader_, to);
  ASSERT_EQ(to.commit(), "");
  EXPECT_EQ(exported.left_out, 0u);
  EXPECT_THAT(exported.faults.sentences(), IsEmpty());

  const Viewed viewed(file);
  EXPECT_THAT(viewed.processes, ElementsAre(std::pair(1u, "MPI Rank 0"), std::pair(2u, "MPI Rank 1")));
  EXPECT_THAT(viewed.threads, SizeIs(2));
  const auto sends = viewed.named("MPI_Send"), receives = viewed.named("MPI_Recv");
  ASSERT_THAT(sends, SizeIs(kRounds));
  ASSERT_THAT(receives, SizeIs(kRounds));
  std::set<std::uint64_t> flows;
  for (std::size_t i = 0; i < kRounds; ++i) {
    ASSERT_THAT(sends[i].flows, SizeIs(1));
    EXPECT_EQ(sends[i].flows, receives[i].flows);
    flows.insert(sends[i].flows[0]);
    EXPECT_EQ(sends[i].begin, 100 * i + 10);
    EXPECT_EQ(sends[i].end, 100 * i + 15);
    EXPECT_EQ(receives[i].end, 100 * i + 17);
    EXPECT_EQ(sends[i].notes.at("MpiSend.bytes"), std::to_string(1000 + i));
    EXPECT_EQ(sends[i].notes.at("MpiSend.peer"), "1");
    EXPECT_EQ(receives[i].notes.at("MpiRecv.communicator"), "MPI_COMM_WORLD");
  }
  EXPECT_EQ(flows.size(), kRounds);
  EXPECT_EQ(sends[0].category, "mpi");
  EXPECT_EQ(sends[0].file, "a,\"b\".c");
  const auto work = viewed.named("work");
  ASSERT_THAT(work, SizeIs(1));
  EXPECT_EQ(work[0].category, "user");
  EXPECT_EQ(work[0].end, 90'000u);
  EXPECT_EQ(work[0].notes.at("shift"), "-5");
  EXPECT_EQ(work[0].notes.at("load"), std::to_string(0.5));
  EXPECT_THAT(viewed.values.at("residual"), ElementsAre(2.5));
  ASSERT_THAT(viewed.named("step"), SizeIs(1));
  EXPECT_EQ(viewed.named("step")[0].notes.at("value"), "-3");
  ASSERT_THAT(viewed.named("late"), SizeIs(1));
  EXPECT_EQ(viewed.named("late")[0].notes.at("text"), "it is late");
}

int run_trace(const char* action, const std::string& path) { return trace(line_of({"trace", action, path})); }

int run_export(const std::string& path, const std::vector<std::string>& more) {
  std::vector<std::string> words{"export", path, "--format", "csv"};
  words.insert(words.end(), more.begin(), more.end());
  return export_for_tools(line_of(words));
}

TEST_F(TraceCommands, ExitStatusesTellWhatIsWrong) {
  send(0, 100, 1, 7);
  receive(1, 200, 0, 7);
  (void)read();
  const std::string made = (folder_.path() / "made").string(), file = (folder_.path() / "out.csv").string();
  EXPECT_EQ(run_trace("check", made), 0);
  EXPECT_EQ(run_trace("info", made), 0);
  EXPECT_EQ(run_export(made, {"--table", "calls", "-o", file}), 0);
  EXPECT_THAT(rows_of(file), SizeIs(3));
  fs::remove(folder_.path() / "made" / "traces" / "1.evt");
  EXPECT_EQ(run_trace("check", made), 3);
  EXPECT_EQ(run_trace("check", made + "/nothing"), 1);
  EXPECT_EQ(run_export(made, {"--table", "calls", "-o", made + "/no/such/folder"}), 1);
  EXPECT_THROW((void)run_export(made, {}), UsageError);
}

}  // namespace
}  // namespace ardoise::launcher
