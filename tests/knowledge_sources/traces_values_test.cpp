// Values of knowledge sources and plug-ins in a trace: at calls, or in separate events.
#include <functional>

#include "knowledge_sources/interface/event_values.hpp"
#include "traces_fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Event = replay::PrintedTrace::Event;

constexpr std::uint64_t kFirst = 2000, kSecond = 3000, kNoCallThen = 2500, kOther = 9000;

class TraceValues : public TracesFixture {
 protected:
  // Two barriers on thread 0 of rank 0; `tell` submits values to the board of the last analyzer.
  replay::PrintedTrace traced_with(const std::function<void(const EventValues&)>& tell, const std::string& selection,
                                   std::size_t analyzers = 1) {
    begin({{.name = "program", .ranks = 1}}, selection, analyzers);
    PackMaker maker({});
    for (const std::uint64_t tick : {kFirst, kSecond})
      maker.call(FunctionId::kBarrier, Shape::kCollective, tick, 100, instrument::kNoPeer, 0, 0, 1);
    maker.flush();
    session_->submit(maker.take());
    const LevelSources sources(session_->board(analyzers - 1));
    AnalysisContext context{.level = "0:program", .partition = 0, .ranks = 1, .ticks_per_second = 1e9};
    context.traces = archive_->settings(selection);
    values_ = {};
    values_.attach(sources, context);
    define();
    tell(values_);
    finish();
    return read();
  }
  void define() {
    number_ = values_.define<std::uint64_t>("mine::number", "without a sign");
    difference_ = values_.define<std::int64_t>("mine::difference", "with a sign");
    residual_ = values_.define<double>("mine::residual", "what is left");
    note_ = values_.define<std::string_view>("mine::note", "in words");
  }
  static EventMoment at(std::uint64_t tick, EventPlace place = EventPlace::kEnter) { return {0, 0, tick, place}; }

  EventValues values_;
  EventKey<std::uint64_t> number_;
  EventKey<std::int64_t> difference_;
  EventKey<double> residual_;
  EventKey<std::string_view> note_;
};

TEST_F(TraceValues, AreAtTheirCallsWhicheverAnalyzerHasThem) {
  for (const std::size_t analyzers : {1u, 3u}) {
    const auto trace = traced_with(
        [this](const EventValues& values) {
          EventValueBatch batch(values);
          batch.add(note_, at(kSecond, EventPlace::kLeave), "good");
          batch.add(number_, at(kFirst), 7);
          batch.add(difference_, at(kSecond, EventPlace::kLeave), -7);
          batch.add(residual_, at(kFirst), 0.5);
        },
        "all,attributes=plugins", analyzers);
    ASSERT_THAT(trace.of_kind("PARAMETER_STRING"), IsEmpty());
    const auto enters = trace.of_kind("ENTER"), leaves = trace.of_kind("LEAVE");
    ASSERT_THAT(enters, SizeIs(2));
    EXPECT_THAT(enters[0].attributes, AllOf(HasSubstr("(\"mine::number\" <2>; UINT64; 7)"),
                                            HasSubstr("(\"mine::residual\" <3>; DOUBLE; 0.5)")));
    EXPECT_THAT(enters[1].attributes, Not(HasSubstr("mine::")));
    EXPECT_THAT(leaves[0].attributes, Not(HasSubstr("mine::")));
    EXPECT_THAT(leaves[1].attributes, AllOf(HasSubstr("INT64; -7"), HasSubstr("STRING; \"good\"")));
    EXPECT_THAT(trace.definitions, HasSubstr("what is left"));
    EXPECT_THAT(finished_.notices, IsEmpty());
    std::filesystem::remove_all(folder_ / "trace");
  }
}

TEST_F(TraceValues, WithoutACallAreEventsOfTheirOwn) {
  const auto trace = traced_with(
      [this](const EventValues& values) {
        EventValueBatch batch(values);
        batch.add(number_, at(kOther, EventPlace::kOwn), 9);
        batch.add(number_, at(kNoCallThen), 8);
        batch.add(difference_, at(kFirst, EventPlace::kOwn), -1);
        batch.add(difference_, at(kFirst, EventPlace::kOwn), -2);
      },
      "all,attributes=plugins");
  std::vector<std::pair<std::uint64_t, std::string>> own;
  for (const Event& event : trace.of_kind("PARAMETER_STRING")) {
    EXPECT_THAT(event.attributes, AllOf(HasSubstr("\"ardoise::value\""), HasSubstr("mine::")));
    own.emplace_back(event.time - trace_time(0), event.attributes.substr(event.attributes.rfind("; ") + 2));
  }
  EXPECT_THAT(own, ElementsAre(std::pair(kFirst, "-2)"), std::pair(kFirst, "-1)"), std::pair(kNoCallThen, "8)"),
                               std::pair(kOther, "9)")));
  EXPECT_THAT(finished_.notices, IsEmpty());
}

TEST_F(TraceValues, OfWhatIsNotChosenAreNotThere) {
  const auto tell = [this](const EventValues& values) {
    EventValueBatch batch(values);
    for (const EventPlace place : {EventPlace::kEnter, EventPlace::kOwn}) {
      batch.add(number_, at(kFirst, place), 1);
      batch.add(number_, at(kOther, place), 2);
    }
  };
  const auto attributed = [](const replay::PrintedTrace& trace) {
    std::size_t count = 0;
    for (const Event& event : trace.events) count += event.attributes.find("mine::number") != std::string::npos;
    return count;
  };
  EXPECT_EQ(attributed(traced_with(tell, "all,attributes=plugins")), 4u);
  std::filesystem::remove_all(folder_ / "trace");
  EXPECT_EQ(attributed(traced_with(tell, "all,attributes=waiting")), 0u);
  EXPECT_FALSE(values_.are_wanted());
  std::filesystem::remove_all(folder_ / "trace");
  EXPECT_EQ(attributed(traced_with(tell, "to=5us,attributes=plugins")), 2u);
  std::filesystem::remove_all(folder_ / "trace");
  EXPECT_EQ(attributed(traced_with(tell, "functions=MPI_Barrier,attributes=plugins")), 3u)
      << "that which has no call may be of one that is not chosen";
  EXPECT_THAT(finished_.notices, IsEmpty());
}

TEST_F(TraceValues, ForWhichThereIsNoRoomAreCounted) {
  const auto trace = traced_with(
      [this](const EventValues& values) {
        EventValueBatch batch(values);
        batch.add(number_, at(kFirst), 1);
        batch.add(number_, at(kFirst), 2);
        batch.add(number_, {0, 5, kFirst, EventPlace::kOwn}, 3);  // a thread that is not in the trace
      },
      "all,attributes=plugins");
  EXPECT_THAT(trace.of_kind("ENTER")[0].attributes, HasSubstr("UINT64; 1"));
  EXPECT_THAT(finished_.notices, ElementsAre(HasSubstr("lacks attributes dropped for lack of room (2)")));
  EXPECT_THAT(trace.properties, HasSubstr("MISSING_ATTRIBUTES"));
}

TEST_F(TraceValues, OfAKeyWithTwoTypesAreLeftOutAndSaid) {
  const auto trace = traced_with(
      [this](const EventValues& values) {
        EventValues others = values;
        const auto one = values_.define<double>("their::size", ""), fine = residual_;
        const auto two = others.define<std::uint64_t>("their::size", "");
        EventValueBatch batch(values_), other_batch(others);
        batch.add(one, at(kFirst), 1.5);
        batch.add(fine, at(kFirst), 2.5);
        other_batch.add(two, at(kSecond), 3);
      },
      "all,attributes=plugins");
  EXPECT_THAT(trace.of_kind("ENTER")[0].attributes, AllOf(HasSubstr("2.5"), Not(HasSubstr("their::"))));
  EXPECT_THAT(trace.of_kind("ENTER")[1].attributes, Not(HasSubstr("their::")));
  EXPECT_THAT(finished_.notices, ElementsAre(AllOf(HasSubstr("The key their::size of values in the trace is defined "
                                                             "with two types: give one of them another name."),
                                                   HasSubstr("values of plug-ins whose key has two types (2)"))));
}

TEST_F(TraceValues, KeysNeedANamespaceAndAreDefinedOnce) {
  for (const std::string name : {"", "residual", "::residual", "mine::", "my plugin::x", "ardoise::x"})
    EXPECT_THROW((void)values_.define<double>(name, ""), std::invalid_argument) << name;
  define();
  EXPECT_THROW((void)values_.define<std::uint64_t>("mine::residual", ""), std::invalid_argument);
}

TEST_F(TraceValues, ThatAreMalformedAreRefused) {
  const auto fault_of = [](std::uint32_t type, std::uint32_t key, std::uint32_t place) -> std::string {
    ByteWriter out;
    out.put_count(1);
    out.put(type);
    out.put_text("mine::x");
    out.put_text("");
    out.put(key);
    out.put(place);
    out.put_array(std::span<const std::uint64_t>(std::vector<std::uint64_t>(3)));
    std::vector<EventKeyDefinition> keys;
    try {
      read_event_values(out.take(), keys, [](auto...) {});
    } catch (const BadPartial& fault) {
      return fault.what();
    }
    return "";
  };
  EXPECT_THAT(fault_of(4, 0, 0), HasSubstr("a key of an unknown type"));
  EXPECT_THAT(fault_of(0, 1, 0), HasSubstr("a value of a key that it does not define"));
  EXPECT_THAT(fault_of(0, 0, 3), HasSubstr("a value for an unknown place"));
  EXPECT_THAT(fault_of(0, 0, 0), HasSubstr("ends too early")) << "8 bytes behind the value";
}

TEST_F(TraceValues, LongTextsAreCutBetweenLetters) {
  std::string text = "x";
  while (text.size() < 1000) text += "é";
  const auto trace = traced_with(
      [&](const EventValues& values) { EventValueBatch(values).add(note_, at(kFirst), text); }, "attributes=plugins");
  EXPECT_THAT(trace.of_kind("ENTER")[0].attributes, HasSubstr("\"" + text.substr(0, 255) + "…\""));
}

TEST_F(TraceValues, AreWhatTheExampleSaysOfItsSends) {
  archive_ = std::make_unique<TraceArchive>(folder_);
  Program program{.name = "program", .ranks = 1};
  program.traces = archive_->settings("all,attributes=plugins");
  archive_->add_program(program);
  const std::filesystem::path example = TEMPLATE_PLUGIN;
  auto factories = replay::load_plugins({example.stem()}, example.parent_path());
  factories.push_back(replay::load_plugins({"traces"}).front());
  session_ = std::make_unique<Session>(std::vector{program}, 2, 1, factories);
  PackMaker maker({});
  maker.call(FunctionId::kSend, Shape::kSend, 2000, 100, 0, 5, 64);
  maker.call(FunctionId::kSend, Shape::kSend, 3000, 100, 0, 5, 64'000);
  maker.flush();
  session_->submit(maker.take());
  finish();
  const auto enters = read().of_kind("ENTER");
  ASSERT_THAT(enters, SizeIs(2));
  EXPECT_THAT(enters[0].attributes, AllOf(HasSubstr("tag_usage::size"), HasSubstr("\"small\"")));
  EXPECT_THAT(enters[1].attributes, HasSubstr("\"large\""));
}

}  // namespace
}  // namespace ardoise::knowledge_sources
