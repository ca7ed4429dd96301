// MpiRecorder: the records of each kind of Call. The Calls are made by hand and the test answers the queries to MPI;
// MPI is never initialised.
#include "instrument/record/mpi_recorder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <type_traits>

#include "tests/instrument/capture.hpp"
#include "tests/instrument/fake_transport.hpp"
#include "vmpi/wrappers/call_arguments.hpp"

namespace ardoise::instrument {
namespace {

using vmpi::ArgumentKind;
using vmpi::Call;
using vmpi::FunctionId;

// Answers: the bytes of a status and whether it is cancelled are kept in its error field and tag.
constexpr int kCancelledTag = 4444;
std::int64_t answer_bytes(const MPI_Status& status) { return status.MPI_ERROR; }
bool answer_cancelled(const MPI_Status& status) { return status.MPI_TAG == kCancelledTag; }
// Types are named by their words; two words may be one type.
DatatypeFacts answer_type(std::int64_t word) {
  if (word == 0) return {};
  return {"type" + std::to_string(word % 100), word % 100, 0, word % 100};
}
CommunicatorFacts answer_describe(MPI_Comm) {
  CommunicatorFacts facts;
  facts.local = {0, 1, 2};
  facts.name = "described";
  return facts;
}

// A group of 20 ranks.
std::size_t answer_ranks(MPI_Win, MPI_Group, std::size_t first, std::span<int> ranks) {
  const std::size_t count = std::min<std::size_t>(ranks.size(), 20 - std::min<std::size_t>(first, 20));
  std::iota(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(count), 100 + static_cast<int>(first));
  return count;
}

template <class Handle>
Handle handle(std::uintptr_t value) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<Handle>(value);
  } else {
    return static_cast<Handle>(value);
  }
}
const auto kWorld = handle<MPI_Comm>(0x1000);
const auto kOther = handle<MPI_Comm>(0x2000);

MPI_Status status(int source, int tag, int bytes) {
  MPI_Status made{};
  made.MPI_SOURCE = source;
  made.MPI_TAG = tag;
  made.MPI_ERROR = bytes;
  return made;
}

class MpiRecorderTest : public testing::Test {
 protected:
  explicit MpiRecorderTest(bool has_zero_statuses = false)
      : mpi_(recorder_, MpiQueries{answer_bytes, answer_cancelled, answer_describe, answer_ranks, answer_type,
                                   MpiQueries{}.is_complete, has_zero_statuses}) {}
  void SetUp() override {
    mpi_.define(kWorld);
    thread_ = recorder_.threads.adopt(0);
    recorder_.active = true;
  }

  // Lasts 10 ticks.
  void record(Call call, std::uint64_t duration = 10) {
    call.begin = tick_ += 100;
    call.return_address = &kSite;
    const ActivityScope scope(thread_->activity, Activity::kRecording, recorder_.active);
    mpi_.record(*thread_, call, call.begin + duration);
    last_begin_ = call.begin;
  }
  static Call on_world(FunctionId function) {
    Call call{function};
    call.comm = kWorld;
    return call;
  }
  void post(FunctionId function, std::uintptr_t request, std::int64_t sent, std::int64_t received, int peer = 1) {
    Call call = on_world(function);
    auto posted = handle<MPI_Request>(request);
    call.peer = peer;
    call.tag = 9;
    call.bytes_sent = sent;
    call.bytes_received = received;
    call.requests = &posted;
    call.request_count = 1;
    record(call);
  }
  void complete(FunctionId function, std::vector<std::uintptr_t> handles, const std::vector<MPI_Status>& statuses,
                const std::vector<int>* indices = nullptr) {
    Call call{function};
    std::vector<MPI_Request> requests;
    for (const auto value : handles) requests.push_back(handle<MPI_Request>(value));
    call.requests = requests.data();
    call.request_count = static_cast<int>(requests.size());
    call.completed_count = static_cast<int>(indices != nullptr ? indices->size() : requests.size());
    call.completed_indices = indices != nullptr ? indices->data() : nullptr;
    call.statuses = statuses.empty() ? nullptr : statuses.data();
    record(call);
  }
  Capture finish() {
    recorder_.finish(1);
    bytes_ = transport_.bytes();
    return read_capture(std::as_bytes(std::span(bytes_)));
  }

  static constexpr int kSite = 0;
  FakeTransport transport_;
  std::vector<std::uint64_t> bytes_;
  Recorder recorder_{Settings{}, transport_, PackIdentity{}, std::uint64_t{1} << 60, false};
  MpiRecorder mpi_;
  ThreadRecorder* thread_ = nullptr;
  std::uint64_t tick_ = 0, last_begin_ = 0;
};

// Read by the survivor.
TEST_F(MpiRecorderTest, CollectivesAreNumberedOnTheirCommunicator) {
  Call reduce = on_world(FunctionId::kReduce), receive = on_world(FunctionId::kRecv);
  reduce.peer = 2;
  for (int i = 0; i < 9; ++i) record(on_world(FunctionId::kBarrier));
  record(receive);
  record(reduce);
  record(on_world(FunctionId::kComm_dup));
  post(FunctionId::kIallreduce, 7, 8, 8);
  const CollectivesDefinition all = mpi_.communicators().collectives(kWorldComm);
  ASSERT_EQ(all.begun, 12u);
  EXPECT_EQ(all.last[8 % 8], collective_word(static_cast<std::uint32_t>(FunctionId::kBarrier), kNoPeer));
  EXPECT_EQ(all.last[9 % 8], collective_word(static_cast<std::uint32_t>(FunctionId::kReduce), 2));
  EXPECT_EQ(root_of_collective(all.last[9 % 8]), 2u);
  EXPECT_EQ(function_of_collective(all.last[11 % 8]), static_cast<std::uint32_t>(FunctionId::kIallreduce));

  std::array<RecentCall, 4> parts{};
  Call open = on_world(FunctionId::kBarrier);
  EXPECT_EQ(mpi_.open_call(open, 5000, parts), 1u);
  EXPECT_EQ(parts[0].collective, 1 + 12u);
  EXPECT_EQ(mpi_.open_call(receive, 5000, parts), 1u);
  EXPECT_EQ(parts[0].collective, 0u);
  auto request = handle<MPI_Request>(7);
  Call wait{FunctionId::kWait};
  wait.begin = 4000;
  wait.requests = &request;
  wait.request_count = 1;
  EXPECT_EQ(mpi_.open_call(wait, 5000, parts), 2u);
  EXPECT_EQ(parts[1].collective, 1 + 11u);
}

TEST_F(MpiRecorderTest, AWaitIsForIncompleteRequestsOnly) {
  static constexpr std::uint64_t kDone = 0x20;
  const MpiQueries seeing{
      answer_bytes, answer_cancelled, answer_describe,
      answer_ranks, answer_type,      [](std::uint64_t request) -> std::optional<bool> { return request == kDone; }};
  MpiRecorder sees(recorder_, seeing);
  std::vector<MPI_Request> requests;
  for (const std::uintptr_t request : {0x10U, 0x20U, 0x30U, 0x40U}) requests.push_back(handle<MPI_Request>(request));
  for (const std::uintptr_t request : {0x10U, 0x20U, 0x30U}) post(FunctionId::kIrecv, request, 0, 8);
  Call wait{FunctionId::kWaitall};
  wait.begin = 5000;
  wait.requests = requests.data();
  wait.request_count = 3;
  std::array<RecentCall, 5> parts{};
  ASSERT_EQ(sees.open_call(wait, 6000, parts), 3u);
  EXPECT_EQ(parts[0].flags, kOpenCall);
  EXPECT_EQ(parts[1].flags, kPendingPart);
  EXPECT_EQ(parts[1].begin + 200, parts[2].begin);
  // On a machine where completion cannot be seen.
  ASSERT_EQ(mpi_.open_call(wait, 6000, parts), 4u);
  EXPECT_EQ(parts[2].flags, kPendingPart | kMayBeDone);
  // More than there is room for, and one unknown.
  ASSERT_EQ(mpi_.open_call(wait, 6000, std::span(parts).first(2)), 2u);
  EXPECT_EQ(parts[0].flags, kOpenCall | kPartsMissing);
  wait.request_count = 4;
  ASSERT_EQ(sees.open_call(wait, 6000, parts), 3u);
  EXPECT_EQ(parts[0].flags, kOpenCall | kPartsMissing);
}

// Other ranks may have created them in another order.
TEST_F(MpiRecorderTest, CommunicatorsThatAreSeenAtTheirFirstUseMakeNumbersUnsure) {
  EXPECT_FALSE(mpi_.communicators().is_unsure());
  Call call{FunctionId::kBarrier};
  call.comm = kOther;
  record(call);
  EXPECT_TRUE(mpi_.communicators().is_unsure());
  EXPECT_EQ(mpi_.communicators().known(1), nullptr);
  EXPECT_NE(mpi_.communicators().known(kWorldComm), nullptr);
}

TEST_F(MpiRecorderTest, SendHasItsPeerTagAndBytes) {
  Call call = on_world(FunctionId::kSend);
  call.peer = 2;
  call.tag = 5;
  call.bytes_sent = 800;
  record(call);
  call.peer = MPI_PROC_NULL;
  call.bytes_sent = 0;
  record(call);
  const Capture capture = finish();
  ASSERT_EQ(capture.fault(), "");
  ASSERT_EQ(capture.events.size(), 2u);
  EXPECT_EQ(capture.events[0].shape, Shape::kSend);
  EXPECT_EQ(capture.events[0].comm, kWorldComm);
  EXPECT_EQ(capture.events[0].peer, 2);
  EXPECT_EQ(capture.events[0].tag, 5);
  EXPECT_EQ(capture.events[0].bytes, 800u);
  EXPECT_EQ(capture.events[0].duration, 10u);
  EXPECT_EQ(capture.events[1].peer, kNoPeer);
  EXPECT_EQ(capture.totals.at("MPI_Send").calls, 2u);
  EXPECT_EQ(capture.totals.at("MPI_Send").bytes_sent, 800u);
  EXPECT_EQ(capture.totals.at("MPI_Send").ticks, 20u);
}

// A timed call that had to wait for its processor counts only for itself.
TEST_F(MpiRecorderTest, ManyQueriesBecomeSums) {
  constexpr std::uint64_t kCalls = 100'000;
  const auto function = static_cast<std::uint32_t>(FunctionId::kType_size);
  std::uint64_t told = 0, sums_told = 0;
  for (std::uint64_t i = 0; i < kCalls; ++i) {
    if (thread_->queries.count(&kSite, function)) continue;
    record(Call{FunctionId::kType_size}, i == 50'000 || i > 99'930 ? 1'000'000 : 10);
    told += thread_->call_sums.calls;
    sums_told += thread_->call_sums.ticks;
  }
  const Capture capture = finish();
  ASSERT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.count("MPI_Type_size"), QueryCounts::kRecorded);
  EXPECT_EQ(capture.totals.at("MPI_Type_size").calls, kCalls);
  std::uint64_t calls = QueryCounts::kRecorded, ticks = 10 * QueryCounts::kRecorded;
  for (const AggregateRecord& sum : capture.aggregates) {
    EXPECT_EQ(sum.function, function);
    EXPECT_EQ(sum.part, AggregatePart::kCall);
    EXPECT_EQ(sum.records, 0u) << "the ledger counts records";
    calls += sum.calls;
    ticks += sum.ticks;
  }
  EXPECT_EQ(calls, kCalls);
  EXPECT_EQ(capture.totals.at("MPI_Type_size").ticks, ticks);
  EXPECT_LE(kCalls - told, QueryCounts::kEvery) << "but for the last, which the end of recording tells";
  EXPECT_EQ(ticks - sums_told, 10 * (kCalls - told));
  EXPECT_GE(ticks, 10 * kCalls);
  EXPECT_LE(ticks, 10 * kCalls + 3 * 1'000'000);
}

TEST_F(MpiRecorderTest, ReceiveFromAnywhereNamesTheActualSource) {
  const MPI_Status actual = status(2, 77, 0);
  Call call = on_world(FunctionId::kRecv);
  call.peer = MPI_ANY_SOURCE;
  call.tag = MPI_ANY_TAG;
  call.bytes_received = 40;
  call.statuses = &actual;
  record(call);
  const Capture capture = finish();
  EXPECT_EQ(capture.events[0].peer, 2);
  EXPECT_EQ(capture.events[0].tag, 77);
  EXPECT_EQ(capture.events[0].bytes, 40u);
  EXPECT_EQ(capture.totals.at("MPI_Recv").bytes_received, 40u);
  EXPECT_EQ(capture.totals.at("MPI_Recv").bytes, 40u);
}

TEST_F(MpiRecorderTest, AMatchedReceiveIsOnTheCommunicatorOfItsProbe) {
  Call make = on_world(FunctionId::kComm_split);
  make.new_comm = kOther;
  record(make);
  const MPI_Status actual = status(2, 77, 0);
  const auto probe = [&](FunctionId function, MPI_Comm comm, std::uintptr_t message) {
    Call call{function};
    call.comm = comm;
    call.message = handle<MPI_Message>(message);
    call.completed_count = 1;
    call.statuses = &actual;
    record(call);
  };
  const auto receive = [&](std::uintptr_t message) {
    Call call{FunctionId::kMrecv};
    call.message = handle<MPI_Message>(message);
    call.statuses = &actual;
    record(call);
  };
  probe(FunctionId::kMprobe, kOther, 0x5000);
  probe(FunctionId::kImprobe, kWorld, 0x6000);
  receive(0x5000);
  probe(FunctionId::kMprobe, kWorld, 0x5000);  // MPI gives the handle out again
  receive(0x5000);
  receive(0x7000);  // its probe was not seen
  Call post{FunctionId::kImrecv};
  post.message = handle<MPI_Message>(0x6000);
  auto request = handle<MPI_Request>(0x6000);  // where it becomes the request
  post.requests = &request;
  post.request_count = 1;
  record(post);
  complete(FunctionId::kWait, {0x6000}, {actual});
  const Capture capture = finish();
  ASSERT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.events[3].comm, 1u);
  EXPECT_EQ(capture.events[5].comm, kWorldComm);
  EXPECT_EQ(capture.events[6].comm, kNoComm);
  EXPECT_EQ(capture.events[7].comm, kWorldComm);
  EXPECT_EQ(capture.events[7].peer, 2);
  EXPECT_EQ(capture.events[7].tag, 77);
  ASSERT_EQ(capture.completions.size(), 1u);
  EXPECT_EQ(capture.completions[0].function, "MPI_Imrecv");
  EXPECT_EQ(comm_of(capture.completions[0].record.word), kWorldComm);
  EXPECT_EQ(recorder_.requests.size(), 0u);
}

TEST_F(MpiRecorderTest, ArgumentsComeBeforeTheirCall) {
  Call call = on_world(FunctionId::kAlltoallw);
  const std::vector<int> counts = {1, -2, 300'000};
  const std::vector<std::int64_t> types = {101, 0, 201};
  vmpi::ArgumentList<4> list;
  list.add(ArgumentKind::kInPlace, 1);
  list.add_array(ArgumentKind::kReceiveCounts, counts.data(), 3);
  list.add_array(ArgumentKind::kReceiveTypes, types.data(), 3);
  list.tell(call);
  record(call);
  record(on_world(FunctionId::kBarrier));
  const Capture capture = finish();
  ASSERT_EQ(capture.fault(), "");
  ASSERT_EQ(capture.events.size(), 2u);
  const auto& arguments = capture.arguments.at(capture.events[0].begin);
  EXPECT_EQ(arguments.at(ArgumentKind::kInPlace), std::vector<std::int64_t>({1}));
  EXPECT_EQ(arguments.at(ArgumentKind::kReceiveCounts), std::vector<std::int64_t>({1, -2, 300'000}));
  EXPECT_EQ(arguments.at(ArgumentKind::kReceiveTypes), std::vector<std::int64_t>({1, 0, 1}))
      << "handles of one type have one number";
  EXPECT_FALSE(capture.arguments.contains(capture.events[1].begin));
  EXPECT_EQ(capture.datatypes.at(1), "type1");
}

TEST_F(MpiRecorderTest, ArgumentsOfAnyLengthAreWhole) {
  std::vector<int> counts(100'000);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = static_cast<int>(i * 7);
  Call call = on_world(FunctionId::kAllgatherv);
  vmpi::ArgumentList<1> list;
  list.add_array(ArgumentKind::kReceiveCounts, counts.data(), static_cast<std::int64_t>(counts.size()));
  list.tell(call);
  record(call);
  const Capture capture = finish();
  ASSERT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.arguments.at(capture.events[0].begin).at(ArgumentKind::kReceiveCounts),
            std::vector<std::int64_t>(counts.begin(), counts.end()));
}

TEST_F(MpiRecorderTest, AWaitTellsHowLongAgoItsRequestsWereStarted) {
  post(FunctionId::kIsend, 40, 8, 0);
  const std::uint64_t started = last_begin_;
  Call call{FunctionId::kWaitall};
  std::vector<MPI_Request> requests = {handle<MPI_Request>(40), handle<MPI_Request>(41)};
  call.requests = requests.data();
  call.request_count = 2;
  call.completed_count = 1;
  vmpi::ArgumentList<1> list;
  list.tell(call);
  record(call);
  const std::uint64_t begin = last_begin_;
  const Capture capture = finish();
  EXPECT_EQ(capture.arguments.at(begin).at(ArgumentKind::kRequests),
            std::vector<std::int64_t>({static_cast<std::int64_t>(begin - started), 0}));
  EXPECT_EQ(capture.completions.size(), 1u);
}

TEST_F(MpiRecorderTest, AFreedDatatypeMayComeAgainAsAnother) {
  Call call = on_world(FunctionId::kBcast);
  vmpi::ArgumentList<1> list;
  list.add(ArgumentKind::kType, 1);
  list.tell(call);
  record(call);
  record(Call{FunctionId::kType_free});
  record(call);
  const Capture capture = finish();
  ASSERT_EQ(capture.events.size(), 3u);
  for (const std::size_t i : {0u, 2u})
    EXPECT_EQ(capture.arguments.at(capture.events[i].begin).at(ArgumentKind::kType), std::vector<std::int64_t>({1}));
}

TEST_F(MpiRecorderTest, FailedCallMovesNothing) {
  Call call = on_world(FunctionId::kSend);
  call.peer = 1;
  call.bytes_sent = 40;
  call.result = MPI_ERR_RANK;
  record(call);
  const Capture capture = finish();
  EXPECT_EQ(capture.count("MPI_Send"), 1u);
  EXPECT_EQ(capture.bytes("MPI_Send"), 0u);
  EXPECT_EQ(capture.events[0].peer, kNoPeer);
}

TEST_F(MpiRecorderTest, SendrecvIsASendWithAReceivingHalf) {
  const MPI_Status actual = status(0, 3, 0);
  Call call = on_world(FunctionId::kSendrecv);
  call.peer = 1;
  call.tag = 2;
  call.bytes_sent = 100;
  call.source = MPI_ANY_SOURCE;
  call.receive_tag = MPI_ANY_TAG;
  call.bytes_received = 50;
  call.statuses = &actual;
  record(call);
  const Capture capture = finish();
  ASSERT_EQ(capture.fault(), "");
  ASSERT_EQ(capture.events.size(), 1u);
  ASSERT_TRUE(capture.events[0].has_receive_half);
  EXPECT_EQ(capture.events[0].bytes, 100u);
  EXPECT_EQ(capture.events[0].receive_half.bytes, 50u);
  EXPECT_EQ(capture.events[0].receive_half.source, 0);
  EXPECT_EQ(capture.events[0].receive_half.tag, 3);
  EXPECT_EQ(capture.totals.at("MPI_Sendrecv").bytes_received, 50u);
  EXPECT_EQ(capture.last.mpi.recorded, 2u) << "the half is a record too";
}

TEST_F(MpiRecorderTest, IsendrecvSendsAtOnceAndReceivesAtCompletion) {
  auto request = handle<MPI_Request>(0x77);
  Call call = on_world(FunctionId::kIsendrecv);
  call.peer = 1;
  call.tag = 2;
  call.bytes_sent = 100;
  call.source = MPI_ANY_SOURCE;
  call.receive_tag = MPI_ANY_TAG;
  call.bytes_received = 50;
  call.requests = &request;
  call.request_count = 1;
  record(call);
  complete(FunctionId::kWait, {0x77}, {status(2, 3, 40)});
  const Capture capture = finish();
  ASSERT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.events[0].shape, Shape::kSend);
  EXPECT_EQ(capture.events[0].bytes, 100u);
  ASSERT_EQ(capture.completions.size(), 1u);
  EXPECT_EQ(capture.completions[0].record.peer, 2);
  EXPECT_EQ(capture.totals.at("MPI_Isendrecv").bytes_sent, 100u);
  EXPECT_EQ(capture.totals.at("MPI_Isendrecv").bytes_received, 40u);
}

// As MPICH 4.0 does it.
TEST_F(MpiRecorderTest, AnEmptyStatusKeepsTheArgumentsOfTheReceive) {
  for (const int source : {2, MPI_ANY_SOURCE}) {
    auto request = handle<MPI_Request>(0x77);
    Call call = on_world(FunctionId::kIsendrecv);
    call.peer = 1;
    call.tag = 2;
    call.bytes_sent = 100;
    call.source = source;
    call.receive_tag = 3;
    call.bytes_received = 50;
    call.requests = &request;
    call.request_count = 1;
    record(call);
    complete(FunctionId::kWait, {0x77}, {status(MPI_ANY_SOURCE, MPI_ANY_TAG, 0)});
  }
  const Capture capture = finish();
  ASSERT_EQ(capture.fault(), "");
  ASSERT_EQ(capture.completions.size(), 2u);
  EXPECT_EQ(capture.completions[0].record.peer, 2);
  EXPECT_EQ(capture.completions[0].record.tag, 3);
  EXPECT_EQ(completion_bytes(capture.completions[0].record), 50u);
  EXPECT_EQ(capture.completions[1].record.peer, kNoPeer);
  EXPECT_EQ(capture.totals.at("MPI_Isendrecv").bytes_received, 50u);
}

class ZeroStatusesTest : public MpiRecorderTest {
 protected:
  ZeroStatusesTest() : MpiRecorderTest(true) {}
};

// MPICH 4.0 with UCX. Messages of other functions, and those that have bytes, come from rank 0.
TEST_F(ZeroStatusesTest, KeepTheArgumentsOfTheReceive) {
  struct Case {
    FunctionId function;
    int source, bytes;
    std::int32_t peer;
    std::uint64_t received;
  };
  const std::array cases{Case{FunctionId::kIsendrecv, 2, 0, 2, 50}, Case{FunctionId::kIsendrecv_replace, 2, 0, 2, 50},
                         Case{FunctionId::kIsendrecv, MPI_ANY_SOURCE, 0, kNoPeer, 0},
                         Case{FunctionId::kIsendrecv, 0, 40, 0, 40}, Case{FunctionId::kIrecv, 0, 0, 0, 0}};
  for (const Case& each : cases) {
    auto request = handle<MPI_Request>(0x77);
    Call call = on_world(each.function);
    call.peer = each.function == FunctionId::kIrecv ? each.source : 1;
    call.tag = each.function == FunctionId::kIrecv ? 0 : 2;
    call.bytes_sent = each.function == FunctionId::kIrecv ? 0 : 100;
    call.source = each.source;
    call.receive_tag = 3;
    call.bytes_received = 50;
    call.requests = &request;
    call.request_count = 1;
    record(call);
    complete(FunctionId::kWait, {0x77}, {status(0, 0, each.bytes)});
  }
  const Capture capture = finish();
  ASSERT_EQ(capture.completions.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(capture.completions[i].record.peer, cases[i].peer) << i;
    EXPECT_EQ(completion_bytes(capture.completions[i].record), cases[i].received) << i;
  }
}

TEST_F(MpiRecorderTest, ValuesBeyond32BitsAreExact) {
  const std::int64_t huge = 5'000'000'000;
  Call call = on_world(FunctionId::kSend);
  call.peer = 1;
  call.bytes_sent = huge;
  record(call);
  record(on_world(FunctionId::kBarrier), 6'000'000'000);
  call = on_world(FunctionId::kAllreduce);
  call.bytes_sent = 8;
  call.bytes_received = huge + 1;
  record(call);
  const Capture capture = finish();
  ASSERT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.events[0].bytes, 5'000'000'000u);
  EXPECT_EQ(capture.events[0].duration, 10u);
  EXPECT_EQ(capture.events[1].duration, 6'000'000'000u);
  EXPECT_EQ(capture.events[2].bytes, 8u);
  EXPECT_EQ(capture.events[2].received, 5'000'000'001u);
}

TEST_F(MpiRecorderTest, NonBlockingReceiveCountsItsBytesAtCompletion) {
  post(FunctionId::kIrecv, 0x10, 0, 4000, MPI_ANY_SOURCE);
  const std::uint64_t posted = last_begin_;
  post(FunctionId::kIsend, 0x20, 64, 0);
  complete(FunctionId::kWaitall, {0x10, 0x20}, {status(2, 9, 24), status(0, 0, 0)});
  const Capture capture = finish();
  ASSERT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.events[0].shape, Shape::kPostReceive);
  EXPECT_EQ(capture.events[0].peer, kAnySource);
  EXPECT_EQ(capture.events[0].bytes, 4000u);
  EXPECT_EQ(capture.events[2].shape, Shape::kCompletes);
  EXPECT_EQ(capture.events[2].tag, 2);
  ASSERT_EQ(capture.completions.size(), 2u);
  EXPECT_EQ(capture.completions[0].function, "MPI_Irecv");
  EXPECT_EQ(capture.completions[0].record.post_begin, posted);
  EXPECT_EQ(capture.completions[0].record.peer, 2);
  EXPECT_EQ(completion_bytes(capture.completions[0].record), 24u);
  EXPECT_EQ(capture.completions[1].record.peer, kNoPeer);
  EXPECT_EQ(capture.totals.at("MPI_Irecv").bytes_received, 24u);
  EXPECT_EQ(capture.totals.at("MPI_Isend").bytes_sent, 64u);
  EXPECT_EQ(capture.totals.at("MPI_Waitall").bytes, 0u);
}

TEST_F(MpiRecorderTest, WaitsomeCompletesTheIndicesItNames) {
  for (const std::uintptr_t request : {0x10u, 0x20u, 0x30u}) post(FunctionId::kIrecv, request, 0, 100);
  const std::vector<int> indices{2, 0};
  complete(FunctionId::kWaitsome, {0x10, 0x20, 0x30}, {status(7, 1, 70), status(5, 1, 50)}, &indices);
  const Capture capture = finish();
  ASSERT_EQ(capture.completions.size(), 2u);
  EXPECT_EQ(capture.completions[0].record.peer, 7);
  EXPECT_EQ(completion_bytes(capture.completions[1].record), 50u);
  EXPECT_EQ(recorder_.requests.size(), 1u);
}

TEST_F(MpiRecorderTest, SharedRequestOfManySendsCompletesEachOnce) {
  recorder_.requests.set_shared(0x77);
  post(FunctionId::kIsend, 0x77, 8, 0);
  const std::uint64_t first = last_begin_;
  post(FunctionId::kIsend, 0x77, 16, 0);
  complete(FunctionId::kWaitall, {0x77, 0x77}, {});
  const Capture capture = finish();
  ASSERT_EQ(capture.completions.size(), 2u);
  EXPECT_EQ(capture.completions[0].record.post_begin, first);
  EXPECT_EQ(capture.completions[1].record.post_begin, first + 100);
  EXPECT_EQ(capture.totals.at("MPI_Isend").bytes_sent, 24u);
}

TEST_F(MpiRecorderTest, PersistentRequestMovesItsBytesAtEachStart) {
  post(FunctionId::kSend_init, 0x10, 32, 0);
  post(FunctionId::kRecv_init, 0x20, 0, 32);
  for (int round = 0; round < 2; ++round) {
    for (const std::uintptr_t request : {0x10u, 0x20u}) {
      Call call{FunctionId::kStart};
      auto started = handle<MPI_Request>(request);
      call.requests = &started;
      call.request_count = 1;
      record(call);
    }
    complete(FunctionId::kWaitall, {0x10, 0x20}, {status(0, 0, 0), status(1, 9, 20)});
  }
  const Capture capture = finish();
  ASSERT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.events[0].shape, Shape::kLocal);
  EXPECT_EQ(capture.events[0].bytes, 0u);
  EXPECT_EQ(capture.events[2].function, "MPI_Start");
  EXPECT_EQ(capture.events[2].shape, Shape::kSend);
  EXPECT_EQ(capture.events[2].bytes, 32u);
  EXPECT_EQ(capture.events[2].comm, kWorldComm);
  EXPECT_EQ(capture.events[3].shape, Shape::kPostReceive);
  EXPECT_EQ(capture.completions.size(), 4u);
  EXPECT_EQ(capture.totals.at("MPI_Start").bytes_sent, 64u);
  EXPECT_EQ(capture.totals.at("MPI_Start").bytes_received, 40u);
}

TEST_F(MpiRecorderTest, StartallIsOneCallWithItsOperationsBehind) {
  post(FunctionId::kSend_init, 0x10, 32, 0, 2);
  post(FunctionId::kRecv_init, 0x20, 0, 32, 1);
  Call call{FunctionId::kStartall};
  std::array<MPI_Request, 2> requests{handle<MPI_Request>(0x10), handle<MPI_Request>(0x20)};
  call.requests = requests.data();
  call.request_count = 2;
  record(call);
  complete(FunctionId::kWaitall, {0x10, 0x20}, {status(0, 0, 0), status(1, 9, 20)});
  const Capture capture = finish();
  ASSERT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.count("MPI_Startall"), 1u);
  ASSERT_EQ(capture.started.size(), 2u);
  EXPECT_EQ(capture.started[0].bytes, 32u);
  EXPECT_EQ(capture.started[0].peer, 2);
  EXPECT_EQ(capture.started[1].bytes, 0u);
  EXPECT_EQ(capture.completions[1].record.post_begin, capture.started[1].begin);
  EXPECT_EQ(capture.totals.at("MPI_Startall").bytes_sent, 32u);
}

TEST_F(MpiRecorderTest, AFreedRequestIsForgottenAndItsSendNeedsNoWait) {
  post(FunctionId::kIsend, 0x10, 8, 0);
  post(FunctionId::kIrecv, 0x20, 0, 8);
  complete(FunctionId::kRequest_free, {0x10}, {});
  complete(FunctionId::kRequest_free, {0x20}, {});
  EXPECT_EQ(recorder_.requests.size(), 0u);
  const Capture capture = finish();
  ASSERT_EQ(capture.completions.size(), 1u);
  EXPECT_EQ(capture.completions[0].record.peer, kNoPeer);
  EXPECT_EQ(function_of(capture.completions[0].record.word), static_cast<unsigned>(FunctionId::kIsend));
}

TEST_F(MpiRecorderTest, CancelledReceiveHasNoBytesAndNoSource) {
  post(FunctionId::kIrecv, 0x10, 0, 100);
  record(Call{FunctionId::kCancel});
  complete(FunctionId::kWait, {0x10}, {status(1, kCancelledTag, 55)});
  const Capture capture = finish();
  ASSERT_EQ(capture.completions.size(), 1u);
  EXPECT_EQ(capture.completions[0].record.peer, kNoPeer);
  EXPECT_EQ(completion_bytes(capture.completions[0].record), 0u);
  EXPECT_EQ(capture.totals.at("MPI_Irecv").bytes_received, 0u);
}

TEST_F(MpiRecorderTest, NullAndUnknownRequestsCompleteNothing) {
  Call call{FunctionId::kWait};
  MPI_Request null = MPI_REQUEST_NULL;
  call.requests = &null;
  call.request_count = call.completed_count = 1;
  record(call);
  complete(FunctionId::kWait, {0x99}, {status(1, 1, 1)});
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_TRUE(capture.completions.empty());
}

TEST_F(MpiRecorderTest, ManyCompletionsGoOverSeveralPacks) {
  constexpr std::uintptr_t kMany = 5000;
  std::vector<std::uintptr_t> requests;
  for (std::uintptr_t i = 1; i <= kMany; ++i) {
    post(FunctionId::kIsend, i * 16, 1, 0);
    requests.push_back(i * 16);
  }
  complete(FunctionId::kWaitall, requests, {});
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.completions.size(), kMany);
  EXPECT_GT(capture.packs, 4u);
}

TEST_F(MpiRecorderTest, NeighbourhoodCollectiveNamesItsDestinations) {
  const std::array<std::int32_t, 3> neighbours{2, MPI_PROC_NULL, 1};
  const std::array<std::int64_t, 3> bytes{10, 20, 30};
  Call call = on_world(FunctionId::kNeighbor_alltoallv);
  call.neighbours = neighbours.data();
  call.neighbour_bytes = bytes.data();
  call.neighbour_count = 3;
  call.bytes_sent = 40;
  call.bytes_received = 44;
  record(call);
  const Capture capture = finish();
  ASSERT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.events[0].shape, Shape::kNeighbour);
  EXPECT_EQ(capture.events[0].received, 44u);
  ASSERT_EQ(capture.neighbours.size(), 2u);
  EXPECT_EQ(capture.neighbours[1].destination, 1);
  EXPECT_EQ(capture.neighbours[1].bytes, 30u);
  EXPECT_EQ(capture.neighbours[1].comm, kWorldComm);
}

TEST_F(MpiRecorderTest, CommunicatorsAreDefinedFollowedAndForgotten) {
  Call make = on_world(FunctionId::kComm_split);
  make.new_comm = kOther;
  record(make);
  Call use{FunctionId::kBarrier};
  use.comm = kOther;
  record(use);
  Call end{FunctionId::kComm_free};
  end.comm = kOther;
  record(end);
  record(make);  // MPI gives the handle out again
  record(use);
  const Capture capture = finish();
  ASSERT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.events[0].comm, kWorldComm);
  EXPECT_EQ(capture.events[1].comm, 1u);
  EXPECT_EQ(capture.events[2].comm, 1u);
  EXPECT_EQ(capture.events[4].comm, 2u);
  EXPECT_EQ(capture.comms.at(2).fixed.instance, 2u);
}

TEST_F(MpiRecorderTest, OneSidedCallsAreOnTheCommunicatorOfTheWindow) {
  Call make = on_world(FunctionId::kWin_create);
  make.window = handle<MPI_Win>(0x500);
  record(make);
  Call put{FunctionId::kPut};
  put.window = handle<MPI_Win>(0x500);
  put.peer = 2;
  put.bytes_sent = 12;
  record(put);
  const Capture capture = finish();
  EXPECT_EQ(capture.events[1].shape, Shape::kPut);
  EXPECT_EQ(capture.events[1].comm, kWorldComm);
  EXPECT_EQ(capture.events[1].peer, 2);
  EXPECT_EQ(capture.totals.at("MPI_Put").bytes_sent, 12u);
}

TEST_F(MpiRecorderTest, WindowsOfOneCommunicatorHaveNumbers) {
  for (const std::uintptr_t window : {0x500UL, 0x600UL}) {
    Call make = on_world(FunctionId::kWin_allocate);
    make.window = handle<MPI_Win>(window);
    record(make);
  }
  Call lock{FunctionId::kWin_lock};
  lock.window = handle<MPI_Win>(0x600);
  lock.tag = MPI_LOCK_EXCLUSIVE;
  record(lock);
  lock.tag = MPI_LOCK_SHARED;
  record(lock);
  Call test{FunctionId::kWin_test};
  test.window = handle<MPI_Win>(0x500);
  test.completed_count = 1;
  record(test);
  Call get{FunctionId::kGet};
  get.window = handle<MPI_Win>(0x600);
  record(get);
  const Capture capture = finish();
  const auto tag = [&](std::size_t event) { return capture.events[event].tag; };
  EXPECT_EQ(tag(2), window_tag(1, WindowAct::kExclusive));
  EXPECT_EQ(tag(3), window_tag(1, WindowAct::kShared));
  EXPECT_EQ(tag(4), window_tag(0, WindowAct::kEnded));
  EXPECT_EQ(tag(5), window_tag(1, WindowAct::kNone));
  EXPECT_EQ(window_of(tag(3)), 1u);
  EXPECT_EQ(window_act_of(tag(3)), WindowAct::kShared);
  EXPECT_EQ(capture.events[5].comm, kWorldComm);
}

TEST_F(MpiRecorderTest, EpochsHaveTheirGroups) {
  Call make = on_world(FunctionId::kWin_create);
  make.window = handle<MPI_Win>(0x500);
  record(make);
  Call start{FunctionId::kWin_start};
  start.window = handle<MPI_Win>(0x500);
  start.group = handle<MPI_Group>(0x700);
  record(start);
  const Capture capture = finish();
  EXPECT_EQ(capture.fault(), "");
  ASSERT_EQ(capture.groups.size(), 4u) << "20 ranks, six in each";
  EXPECT_EQ(capture.groups[0].count, GroupExtension::kMost);
  EXPECT_EQ(capture.groups[1].ranks[0], 106);
  EXPECT_EQ(capture.groups[3].count, 2u);
  EXPECT_EQ(capture.groups[3].ranks[1], 119);
}

TEST_F(MpiRecorderTest, FilesOfMpiIoHaveNamesAndBytes) {
  Call open = on_world(FunctionId::kFile_open);
  open.file = handle<MPI_File>(0x600);
  open.file_name = "/data/field";
  record(open);
  Call read{FunctionId::kFile_read_at};
  read.file = handle<MPI_File>(0x600);
  read.bytes_received = 512;
  record(read);
  const Capture capture = finish();
  EXPECT_EQ(capture.events[1].shape, Shape::kFileRead);
  EXPECT_EQ(capture.files.at(static_cast<std::uint32_t>(capture.events[1].peer)), "/data/field");
  EXPECT_EQ(capture.events[1].bytes, 512u);
}

TEST_F(MpiRecorderTest, NonBlockingFileReadCountsAtCompletion) {
  Call read{FunctionId::kFile_iread};
  auto request = handle<MPI_Request>(0x10);
  read.file = handle<MPI_File>(0x600);
  read.bytes_received = 512;
  read.requests = &request;
  read.request_count = 1;
  record(read);
  complete(FunctionId::kWait, {0x10}, {status(0, 0, 100)});
  const Capture capture = finish();
  EXPECT_EQ(capture.bytes("MPI_File_iread"), 0u);
  EXPECT_EQ(capture.totals.at("MPI_File_iread").bytes_received, 100u);
  ASSERT_EQ(capture.completions.size(), 1u);
  EXPECT_EQ(completion_bytes(capture.completions[0].record), 100u);
}

TEST_F(MpiRecorderTest, RootOfARootedCollectiveIsItsPeer) {
  Call call = on_world(FunctionId::kBcast);
  call.peer = 2;
  call.bytes_sent = 0;
  call.bytes_received = 40;
  record(call);
  call.peer = MPI_ROOT;
  record(call);
  const Capture capture = finish();
  EXPECT_EQ(capture.events[0].shape, Shape::kRooted);
  EXPECT_EQ(capture.events[0].peer, 2);
  EXPECT_EQ(capture.events[0].received, 40u);
  EXPECT_EQ(capture.totals.at("MPI_Bcast").bytes, 80u) << "received where nothing was sent";
  EXPECT_EQ(capture.events[1].peer, kRootGroup);
}

}  // namespace
}  // namespace ardoise::instrument
