// RaceForcer: a program whose messages arrive in another order than in the recorded run gets them in the recorded
// order; where it diverges is said, and it stops or continues.
#include "instrument/races/race_forcer.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/instrument/race_calls.hpp"

namespace ardoise::instrument {
namespace {

// Nanoseconds; each look takes 0.6 s.
std::uint64_t fake_time = 0;
std::uint64_t look_at_fake_clock() { return fake_time += 600'000'000; }

class RaceForcerTest : public RaceCalls {
 protected:
  void SetUp() override {
    RaceCalls::SetUp();
    fake_time = 0;
  }
  static std::vector<int> sources_of_three(RacingProgram& program) {
    std::vector<int> sources;
    for (int i = 0; i < 3; ++i) sources.push_back(program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG).source);
    return sources;
  }
  // Two wildcard receives of the messages of ranks 2 and 1.
  void record_two() {
    fake_mpi.arrived = {{2, 7}, {1, 8}};
    record([](RacingProgram& program) {
      (void)program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG);
      (void)program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG);
    });
    fake_mpi = {};
  }
  [[nodiscard]] std::string divergences() const {
    std::ifstream file(folder_ + "/" + kRaceDivergences);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] static std::string said() {
    EXPECT_EQ(said_of_races.size(), 1u);
    return said_of_races.empty() ? "" : said_of_races.front();
  }
  static bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
};

TEST_F(RaceForcerTest, ReceivesGetTheirMessagesInTheRecordedOrder) {
  fake_mpi.arrived = {{2, 7}, {1, 9}, {3, 4}};
  record([](RacingProgram& program) { EXPECT_EQ(sources_of_three(program), (std::vector<int>{2, 1, 3})); });
  fake_mpi.arrived = {{3, 4}, {1, 9}, {2, 7}};
  force([](RacingProgram& program) { EXPECT_EQ(sources_of_three(program), (std::vector<int>{2, 1, 3})); });
  EXPECT_TRUE(said_of_races.empty());
}

TEST_F(RaceForcerTest, AReceiveWaitsForTheRecordedMessage) {
  record_two();
  fake_mpi.arrived = {{1, 8}};
  int polls = 0;
  fake_mpi.on_poll = [&] {
    if (++polls == 3) fake_mpi.deliver({2, 7});
  };
  force([](RacingProgram& program) {
    EXPECT_EQ(program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG).source, 2);
    EXPECT_EQ(program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG).source, 1);
  });
  EXPECT_EQ(polls, 3);
  EXPECT_TRUE(said_of_races.empty());
}

TEST_F(RaceForcerTest, PostedReceivesAreBoundToTheRecordedMessages) {
  const Program two = [](RacingProgram& program) {
    MPI_Request first = program.post(MPI_ANY_SOURCE, MPI_ANY_TAG), second = program.post(MPI_ANY_SOURCE, 6);
    EXPECT_EQ(program.wait(second).source, 3);
    EXPECT_EQ(program.wait(first).source, 1);
  };
  fake_mpi.arrived = {{1, 6}, {3, 6}};
  record(two);
  fake_mpi = {};
  fake_mpi.arrived = {{3, 6}, {1, 6}};
  force(two);
  EXPECT_TRUE(said_of_races.empty());
}

TEST_F(RaceForcerTest, WaitanyGivesTheRecordedRequest) {
  std::vector<int> indices;
  const Program wait_for_both = [&](RacingProgram& program) {
    std::vector<MPI_Request> requests{program.post(1, 0), program.post(2, 0)};
    if (!fake_mpi.on_poll) fake_mpi.deliver({2, 0});
    indices.push_back(program.wait_any(requests));
    if (!fake_mpi.on_poll) fake_mpi.deliver({1, 0});
    indices.push_back(program.wait_any(requests));
    indices.push_back(program.wait_any(requests));
  };
  record(wait_for_both);
  ASSERT_EQ(indices, (std::vector<int>{1, 0, -1}));
  indices.clear();
  fake_mpi = {};
  fake_mpi.arrived = {{1, 0}};
  fake_mpi.on_poll = [] { fake_mpi.deliver({2, 0}); };
  force(wait_for_both);
  EXPECT_EQ(indices, (std::vector<int>{1, 0, -1}));
  EXPECT_TRUE(said_of_races.empty());
}

TEST_F(RaceForcerTest, TestsomeAndTestanyGiveTheRecordedRequests) {
  std::vector<std::vector<int>> results;
  const Program look = [&](RacingProgram& program) {
    const bool is_recorded = !fake_mpi.on_poll;
    std::vector<MPI_Request> requests{program.post(1, 0), program.post(2, 0), program.post(3, 0), program.post(1, 1)};
    results.push_back(program.test_some(requests));
    results.push_back({program.test_any(requests)});
    if (is_recorded) fake_mpi.deliver({3, 0});
    if (is_recorded) fake_mpi.deliver({1, 0});
    results.push_back(program.test_some(requests));
    if (is_recorded) fake_mpi.deliver({1, 1});
    results.push_back({program.test_any(requests)});
    if (is_recorded) fake_mpi.deliver({2, 0});
    results.push_back(program.test_some(requests));
    results.push_back(program.test_some(requests));
  };
  record(look);
  const std::vector<std::vector<int>> expected{{}, {-1}, {0, 2}, {3}, {1}, {}};
  ASSERT_EQ(results, expected);
  results.clear();
  fake_mpi = {};
  fake_mpi.arrived = {{1, 0}, {2, 0}};
  int polls = 0;
  fake_mpi.on_poll = [&] {
    if (++polls == 2) fake_mpi.deliver({3, 0});
    if (polls == 4) fake_mpi.deliver({1, 1});
  };
  force(look);
  EXPECT_EQ(results, expected);
  EXPECT_EQ(polls, 4);
  EXPECT_TRUE(said_of_races.empty());
}

TEST_F(RaceForcerTest, ATestIsSkippedOrRepeatedUntilItHasTheRecordedFlag) {
  record([](RacingProgram& program) {
    MPI_Request request = program.post(2, 7);
    EXPECT_FALSE(program.test(request));
    fake_mpi.deliver({2, 7});
    EXPECT_TRUE(program.test(request));
    EXPECT_FALSE(program.probe(MPI_ANY_SOURCE, 4));
    fake_mpi.deliver({3, 4});
    EXPECT_TRUE(program.probe(MPI_ANY_SOURCE, 4));
  });
  fake_mpi = {};
  fake_mpi.arrived = {{1, 4}};
  int polls = 0;
  fake_mpi.on_poll = [&] {
    if (++polls == 5) fake_mpi.deliver({2, 7});
    if (polls == 8) fake_mpi.deliver({3, 4});
  };
  force([](RacingProgram& program) {
    MPI_Request request = program.post(2, 7);
    EXPECT_FALSE(program.test(request));
    EXPECT_TRUE(program.did_skip);
    EXPECT_TRUE(program.test(request));
    EXPECT_FALSE(program.probe(MPI_ANY_SOURCE, 4));  // a message of rank 1 is there
    FakeMpi::Message found{};
    EXPECT_TRUE(program.probe(MPI_ANY_SOURCE, 4, &found));
    EXPECT_EQ(found.source, 3);
  });
  EXPECT_EQ(polls, 8);
  EXPECT_TRUE(said_of_races.empty());
}

TEST_F(RaceForcerTest, CancelledReceivesAreWithoutAMessageAgain) {
  record([](RacingProgram& program) {
    MPI_Request early = program.post(MPI_ANY_SOURCE, 6), late = program.post(1, 5),
                open = program.post(MPI_ANY_SOURCE, 8);
    fake_mpi.deliver({1, 5});
    program.cancel(late);
    (void)program.wait(late);
    program.cancel(early);
    fake_mpi.cancels = true;
    (void)program.wait(early);
    EXPECT_NE(open, MPI_REQUEST_NULL);  // never completed
  });
  fake_mpi = {};
  fake_mpi.arrived = {{2, 6}, {1, 5}, {2, 8}};
  fake_mpi.cancels = true;
  force([](RacingProgram& program) {
    MPI_Request early = program.post(MPI_ANY_SOURCE, 6), late = program.post(1, 5),
                open = program.post(MPI_ANY_SOURCE, 8);
    EXPECT_EQ(fake_mpi.request(early)->comm, fake_mpi.nowhere);
    EXPECT_EQ(fake_mpi.request(late)->comm, fake_mpi.world);
    EXPECT_EQ(fake_mpi.request(open)->comm, fake_mpi.nowhere);
    program.cancel(late);
    EXPECT_TRUE(program.did_skip);
    (void)program.wait(late);
    program.cancel(early);
    EXPECT_FALSE(program.did_skip);
  });
  EXPECT_EQ(fake_mpi.arrived.size(), 2u);
  EXPECT_TRUE(said_of_races.empty());
}

TEST_F(RaceForcerTest, AnotherReceiveIsStartedInPlaceOfAPersistentOne) {
  const Program twice = [](RacingProgram& program) {
    const MPI_Request kept = program.prepare(MPI_ANY_SOURCE, 5);
    std::vector<int> sources;
    for (int i = 0; i < 2; ++i) {
      program.start(kept, MPI_ANY_SOURCE, 5);
      MPI_Request request = kept;
      sources.push_back(program.wait(request).source);
    }
    EXPECT_EQ(sources, (std::vector<int>{2, 3}));
    program.free(kept);
  };
  fake_mpi.arrived = {{2, 5}, {3, 5}};
  record(twice);
  fake_mpi = {};
  fake_mpi.arrived = {{3, 5}, {2, 5}};
  force(twice);
  EXPECT_TRUE(said_of_races.empty());
}

TEST_F(RaceForcerTest, AThreadReplaysItsOwnStream) {
  fake_mpi.arrived = {{1, 7}, {2, 8}};
  const auto receive = [](int source) {
    return [source](RacingProgram& program) { EXPECT_EQ(program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG).source, source); };
  };
  record({receive(1), receive(2)});
  fake_mpi.arrived = {{2, 8}, {1, 7}};
  const auto made = forcer(settings());
  ASSERT_EQ(made->start(), "");
  for (const int source : {1, 2}) {
    std::thread([&] {
      RacingProgram program(*made);
      receive(source)(program);
    }).join();
  }
  made->finish();
  EXPECT_TRUE(said_of_races.empty());
}

// ---- divergence

TEST_F(RaceForcerTest, AnotherCallIsSaidWithBothPlacesAndTheProgramGoesOn) {
  record_two();
  const RaceKey key = keys(1).front();
  std::ofstream(folder_ + "/" + kRaceSites) << std::filesystem::path(key.module).filename().string() << '\t' << std::hex
                                            << key.offset << "\tsolve() (solver.c:12)\n";
  fake_mpi.arrived = {{2, 7}, {3, 1}, {1, 8}};
  force([](RacingProgram& program) {
    EXPECT_EQ(program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG).source, 2);
    EXPECT_EQ(program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG, 3).source, 3);
    EXPECT_EQ(program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG).source, 1);  // not forced, and not said again
  });
  const std::string sentence = said();
  EXPECT_TRUE(contains(sentence,
                       "rank 1 diverges from the record at decision 2 of its thread 0: recorded: MPI_Recv at solve() "
                       "(solver.c:12), on a communicator of 4; now: MPI_Recv at "))
      << sentence;
  EXPECT_TRUE(contains(sentence, "Nothing is forced on this rank from here on.")) << sentence;
  EXPECT_TRUE(fake_mpi.aborts.empty());
  std::ostringstream line;
  line << "1\tMPI_Recv\t" << key.module << '\t' << std::hex << key.offset + 3 << '\n';
  EXPECT_EQ(divergences(), line.str());
}

TEST_F(RaceForcerTest, IfSetTheProgramIsStopped) {
  record_two();
  fake_mpi.arrived = {{1, 7}};
  RaceForcer::Settings stops = settings();
  stops.stops = true;
  force(stops, [](RacingProgram& program) { (void)program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG, 3); });
  EXPECT_EQ(fake_mpi.aborts, std::vector<int>{3});
  EXPECT_TRUE(contains(said(), "The program is stopped (--replay-divergence stop)."));
}

TEST_F(RaceForcerTest, AProgramDivergesAfterTheEndOfTheRecord) {
  const Program twice = [](RacingProgram& program) {
    EXPECT_FALSE(program.probe(MPI_ANY_SOURCE, 3));  // as recorded
    EXPECT_TRUE(program.probe(MPI_ANY_SOURCE, 3));
  };
  record([](RacingProgram& program) { EXPECT_FALSE(program.probe(MPI_ANY_SOURCE, 3)); });
  fake_mpi.arrived = {{1, 3}};
  force(twice);
  EXPECT_TRUE(contains(said(), "at decision 2 of its thread 0: recorded: no further decision; now: MPI_Iprobe at "));
  // The recorded program died.
  std::filesystem::resize_file(path(), std::filesystem::file_size(path()) - sizeof(RaceBlock) - sizeof(RaceEnd));
  said_of_races.clear();
  force(twice);
  EXPECT_TRUE(contains(said(), ": recorded: the record ends here, it is incomplete; now: "));
}

TEST_F(RaceForcerTest, ARecordedRequestThatIsNotThereDiverges) {
  record([](RacingProgram& program) {
    std::vector<MPI_Request> requests{program.post(1, 0), program.post(2, 0)};
    fake_mpi.deliver({2, 0});
    EXPECT_EQ(program.wait_any(requests), 1);
    fake_mpi.deliver({1, 0});
    EXPECT_EQ(program.test_some(requests), std::vector<int>{0});
  });
  fake_mpi = {};
  fake_mpi.arrived = {{1, 0}};
  force([](RacingProgram& program) {
    std::vector<MPI_Request> requests{program.post(1, 0)};
    EXPECT_EQ(program.wait_any(requests), 0);
  });
  EXPECT_TRUE(contains(said(), ", where request 1 of 1 was the complete one. Nothing is forced")) << said();
}

TEST_F(RaceForcerTest, DecisionsThatRemainAtTheEndDiverge) {
  record_two();
  fake_mpi.arrived = {{2, 7}};
  force([](RacingProgram& program) { (void)program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG); });
  const std::string sentence = said();
  EXPECT_TRUE(
      contains(sentence, "rank 1 diverges from the record after decision 1 of its thread 0: recorded: MPI_Recv at "))
      << sentence;
  EXPECT_TRUE(contains(sentence, "; now: MPI_Finalize.")) << sentence;
  EXPECT_EQ(divergences(), "1\tMPI_Finalize\t\t0\n");
}

TEST_F(RaceForcerTest, TheEndOfTheProcessIsNotedForTheOthers) {
  record([](RacingProgram&) {});
  RaceForcer::Settings third = settings();
  third.partition = 2;
  third.rank = 3;
  force(third, [](RacingProgram&) {});
  std::ifstream file(folder_ + "/" + kRaceEnded, std::ios::binary);
  RaceEnded ended{};
  file.read(reinterpret_cast<char*>(&ended), sizeof ended);
  EXPECT_EQ(ended.partition, 2);
  EXPECT_EQ(ended.rank, 3);
  EXPECT_EQ(file.peek(), EOF);
}

// ---- waiting

TEST_F(RaceForcerTest, ALongWaitIsSaidOnce) {
  record_two();
  RaceForcer::Settings patient = settings();
  patient.nanoseconds = look_at_fake_clock;
  patient.patience_seconds = 3;
  fake_mpi.arrived = {{1, 8}};
  fake_mpi.on_poll = [] {
    if (fake_time > 9'000'000'000) fake_mpi.deliver({2, 7});
  };
  force(patient, [](RacingProgram& program) {
    EXPECT_EQ(program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG).source, 2);
    EXPECT_EQ(program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG).source, 1);
  });
  EXPECT_TRUE(contains(
      said(), "rank 1 has waited 3 s for the message from rank 2 of its communicator with tag 7, in MPI_Recv at "));
}

TEST_F(RaceForcerTest, AWaitEndsWhenAnotherRankDiverged) {
  record_two();
  RaceForcer::Settings waits = settings();
  waits.nanoseconds = look_at_fake_clock;
  std::ofstream(folder_ + "/" + kRaceDivergences) << "0\tMPI_Recv\t\t0\n";
  fake_mpi.arrived = {{1, 8}};
  force(waits, [](RacingProgram& program) { EXPECT_EQ(program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG).source, 1); });
  EXPECT_TRUE(contains(said(), "rank 1 waits in MPI_Recv at "));
  EXPECT_TRUE(contains(said(), "and another rank has diverged from the record. Nothing is forced on this rank"));
  EXPECT_TRUE(fake_mpi.aborts.empty());
}

class RaceForcerEndedTest : public RaceForcerTest {
 protected:
  // The message of rank 2 never comes, and these have ended MPI. False: the wait went on.
  bool ends_wait(const std::vector<RaceEnded>& ended) {
    record_two();
    std::ofstream file(folder_ + "/" + kRaceEnded, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(ended.data()),
               static_cast<std::streamsize>(ended.size() * sizeof(RaceEnded)));
    file.close();
    RaceForcer::Settings waits = settings();
    waits.nanoseconds = look_at_fake_clock;
    fake_mpi.arrived = {{1, 8}};
    bool went_on = false;
    fake_time = 0;
    fake_mpi.on_poll = [&] {
      if (went_on || fake_time < 6'000'000'000) return;
      went_on = true;
      fake_mpi.deliver({2, 7});
    };
    force(waits, [](RacingProgram& program) {
      (void)program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG);
      if (!fake_mpi.arrived.empty()) (void)program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG);
    });
    return !went_on;
  }
};

TEST_F(RaceForcerEndedTest, AWaitForARankThatHasEndedDiverges) {
  EXPECT_TRUE(ends_wait({{0, 2}}));
  EXPECT_TRUE(contains(said(), ": rank 2, whose message it waits for, has ended MPI. Nothing is forced"));
}

TEST_F(RaceForcerEndedTest, AWaitForAnotherRankGoesOn) {
  EXPECT_FALSE(ends_wait({{0, 3}, {1, 2}, {0, 1}}));
  EXPECT_TRUE(said_of_races.empty());
}

TEST_F(RaceForcerEndedTest, AWaitDivergesWhenAllOthersHaveEnded) {
  EXPECT_TRUE(ends_wait({{0, 3}, {0, 0}, {0, 2}}));
  EXPECT_EQ(said_of_races.size(), 1u);
}

// ---- records that no program can have

TEST_F(RaceForcerTest, CompletionsOfUnknownThreadsAreRefused) {
  for (const std::int32_t stream : {-1, 0, 2, 1}) {
    std::filesystem::remove(path());
    RaceWriter writer([](std::string_view) {});
    ASSERT_EQ(writer.open(path(), {}, "solver", "abc", "MPI"), "");
    {
      RaceOutput outcomes(writer, 0);
      const RaceKey key{"completion", "", 0, 0};
      outcomes.add(0, std::vector<std::int32_t>{stream, 0, 1, 5}, &key);
      outcomes.flush();
    }
    writer.finish({});
    EXPECT_EQ(forcer(settings())->start(), stream == 1 ? "" : "has completions that no receive can have") << stream;
  }
}

}  // namespace
}  // namespace ardoise::instrument
