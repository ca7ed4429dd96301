// Packs of aggregates give the same sums as the records themselves: a whole program, once unchanged and once folded as
// a process folds it under pressure.
#include "instrument/record/aggregates.hpp"

#include <map>
#include <random>

#include "fixture.hpp"
#include "instrument/format/pack_reader.hpp"
#include "replay/synthetic.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::AggregatePart;
using instrument::AggregateRecord;
using instrument::MpiRecord;
using instrument::PackClass;
using instrument::PosixRecord;

// The packs of a rank with those of MPI and POSIX records replaced by what a process would send for them.
std::vector<replay::Pack> folded(const std::vector<replay::Pack>& packs) {
  constexpr std::size_t kBin = 65536;
  instrument::BinPool pool(64 * kBin, kBin);
  instrument::Aggregates aggregates(pool);
  std::vector<replay::Pack> result;
  instrument::ClassLedger mpi{}, posix{};
  std::uint64_t sequence = 0;
  const auto emit = [&](instrument::BinList& tables, const instrument::PackHeader& like) {
    while (instrument::Bin* const bin = tables.take_first(pool)) {
      instrument::PackHeader header = like;
      header.pack_class = bin->header.pack_class;
      header.record_count = bin->header.record_count;
      header.payload_bytes = bin->header.payload_bytes;
      header.first_tick = bin->header.first_tick;
      header.last_tick = bin->header.last_tick;
      result.emplace_back(header, std::span(bin->payload(), header.payload_bytes));
      pool.give(bin);
    }
  };
  for (const replay::Pack& pack : packs) {
    const auto view = *instrument::check_pack(pack.bytes()).pack;
    const auto& header = view.header();
    instrument::BinList full;
    if (view.pack_class() == PackClass::kMpi) {
      EXPECT_EQ(aggregates.fold(view.records<MpiRecord>(), header.first_tick, header.last_tick, full),
                header.record_count);
      mpi.aggregated += header.record_count;
    } else if (view.pack_class() == PackClass::kPosix) {
      EXPECT_EQ(aggregates.fold(view.records<PosixRecord>(), header.first_tick, header.last_tick, full),
                header.record_count);
      posix.aggregated += header.record_count;
    } else {
      if (view.pack_class() == PackClass::kTotals) aggregates.flush(true, full);
      emit(full, header);
      result.push_back(pack);
    }
    emit(full, header);
  }
  mpi.recorded = mpi.aggregated;
  posix.recorded = posix.aggregated;
  for (replay::Pack& pack : result) {
    pack.header().sequence = sequence++;
    pack.header().mpi = mpi;
    pack.header().posix = posix;
  }
  return result;
}

void expect_equal(const std::vector<reports::FunctionProfile>& a, const std::vector<reports::FunctionProfile>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    SCOPED_TRACE(a[i].function);
    EXPECT_EQ(a[i].function, b[i].function);
    EXPECT_EQ(a[i].calls, b[i].calls);
    EXPECT_EQ(a[i].bytes, b[i].bytes);
    EXPECT_EQ(a[i].bytes_sent, b[i].bytes_sent);
    EXPECT_EQ(a[i].bytes_received, b[i].bytes_received);
    EXPECT_NEAR(a[i].seconds, b[i].seconds, 1e-9);
    EXPECT_NEAR(a[i].min_seconds, b[i].min_seconds, 1e-12);
    EXPECT_NEAR(a[i].max_seconds, b[i].max_seconds, 1e-12);
    EXPECT_EQ(a[i].calls_by_size, b[i].calls_by_size);
  }
}

// Ninety calls that were counted, in one sum with calls that were recorded and folded.
TEST(AggregatesOfQueries, AreCountedBesideTheRecordsTheyShareASumWith) {
  replay::SyntheticProgram program{.ranks = 2, .steps = 3};
  Session session({{0, "program", program.ranks}});
  for (std::uint32_t rank = 0; rank < program.ranks; ++rank) {
    auto packs = folded(synthetic_packs(program, rank));
    for (replay::Pack& pack : packs) {
      const auto view = *instrument::check_pack(pack.bytes()).pack;
      if (rank != 0 || view.pack_class() != PackClass::kAggregates) continue;
      const auto records = view.records<AggregateRecord>();
      std::vector<AggregateRecord> more(records.begin(), records.end());
      const auto call = std::ranges::find(more, AggregatePart::kCall, &AggregateRecord::part);
      ASSERT_NE(call, more.end());
      call->calls += 90;
      pack = replay::Pack(view.header(), std::as_bytes(std::span(more)));
    }
    session.submit(packs);
  }
  const auto& quality = session.application().quality;
  for (const auto& ledger : quality.ledger) EXPECT_EQ(ledger.lost, 0u) << ledger.record_class;
  EXPECT_THAT(quality.notices, testing::Contains(testing::StartsWith("90 calls of queries")));
}

class AggregatePacks : public testing::TestWithParam<bool> {};

TEST_P(AggregatePacks, GiveTheSumsOfTheRecords) {
  const bool without_totals = GetParam();
  replay::SyntheticProgram program{.ranks = 12, .steps = 30};
  Session whole({{0, "program", program.ranks}}), sums({{0, "program", program.ranks}});
  for (std::uint32_t rank = 0; rank < program.ranks; ++rank) {
    auto packs = synthetic_packs(program, rank);
    if (without_totals) {
      std::erase_if(packs, [](const replay::Pack& pack) {
        return instrument::check_pack(pack.bytes()).pack->pack_class() == PackClass::kTotals;
      });
      // The tables are sent before a pack of totals; an empty one represents it.
      instrument::PackHeader header = packs.back().header();
      header.pack_class = static_cast<std::uint16_t>(PackClass::kTotals);
      header.payload_bytes = header.record_count = 0;
      packs.emplace_back(header, std::span<const std::byte>());
    }
    whole.submit(packs);
    sums.submit(folded(packs));
  }
  const auto a = whole.application(), b = sums.application();
  expect_equal(a.mpi, b.mpi);
  expect_equal(a.posix, b.posix);
  ASSERT_EQ(a.call_sites.size(), b.call_sites.size());
  for (std::size_t i = 0; i < a.call_sites.size(); ++i) {
    EXPECT_EQ(a.call_sites[i].calls, b.call_sites[i].calls);
    EXPECT_EQ(a.call_sites[i].bytes, b.call_sites[i].bytes);
    EXPECT_EQ(a.call_sites[i].ranks, b.call_sites[i].ranks);
    EXPECT_NEAR(a.call_sites[i].seconds, b.call_sites[i].seconds, 1e-9);
    EXPECT_NEAR(a.call_sites[i].min_seconds, b.call_sites[i].min_seconds, 1e-12);
    EXPECT_NEAR(a.call_sites[i].max_seconds, b.call_sites[i].max_seconds, 1e-12);
  }
  EXPECT_FALSE(a.edges.empty());
  EXPECT_EQ(edges_of(a), edges_of(b));
  ASSERT_EQ(a.files.size(), b.files.size());
  for (std::size_t i = 0; i < a.files.size(); ++i) {
    EXPECT_EQ(a.files[i].bytes_written, b.files[i].bytes_written);
    EXPECT_EQ(a.files[i].writes, b.files[i].writes);
    EXPECT_EQ(a.files[i].calls, b.files[i].calls);
  }
  ASSERT_EQ(b.quality.ledger.size(), a.quality.ledger.size());
  for (const auto& ledger : b.quality.ledger) EXPECT_EQ(ledger.lost, 0u) << ledger.record_class;
  EXPECT_THAT(b.quality.notices, testing::Contains(testing::HasSubstr("arrived as aggregates")));
  EXPECT_THAT(a.quality.notices, testing::Not(testing::Contains(testing::HasSubstr("arrived as aggregates"))));

  // Over time: the same sums in each class, spread over the time of the pack.
  const auto time_of = [](const reports::Application& application) {
    const auto& temporal = application.temporal;
    std::vector<double> sum(temporal.classes.size());
    for (std::size_t i = 0; i < temporal.share.size(); ++i)
      sum[i / (temporal.share.size() / sum.size())] += temporal.share[i] * temporal.bin_seconds;
    return sum;
  };
  const auto of_a = time_of(a), of_b = time_of(b);
  ASSERT_EQ(of_a.size(), of_b.size());
  for (std::size_t i = 0; i < of_a.size(); ++i)
    EXPECT_NEAR(of_a[i], of_b[i], 0.05 * of_a[i] + 1e-6) << a.temporal.classes[i];
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutTotals, AggregatePacks, testing::Bool());

// A process that calls random functions of every kind, each from one place, and sets snapshot marks between them.
std::vector<replay::Pack> calls_of_all_kinds(std::uint32_t rank, bool has_marks) {
  std::mt19937 random(rank);
  PackMaker maker({.rank = rank}, 5);  // completions are often in another pack than their call
  std::uint64_t now = 2000;
  const auto call = [&](FunctionId function, Shape shape, std::int32_t tag, std::uint32_t bytes) {
    const std::uint64_t begin = now;
    maker.call(function, shape, begin, 1000, shape == Shape::kCollective ? instrument::kNoPeer : 0, tag, bytes,
               static_cast<std::uint32_t>(function));
    now += 5000;
    return begin;
  };
  const auto completion = [&](FunctionId function, std::uint64_t post, std::int32_t peer, std::uint32_t bytes) {
    maker.mpi_extension(instrument::CompletionRecord{post, 0, static_cast<std::uint32_t>(function), peer, 3, bytes,
                                                     instrument::make_word(0, id(function), Shape::kCompletion)});
  };
  for (int i = 0; i < 400; ++i) {
    const auto bytes = static_cast<std::uint32_t>(random() % 1000);
    switch (random() % 14) {
      case 0:
        call(FunctionId::kSend, Shape::kSend, 3, bytes);
        break;
      case 1:
        call(FunctionId::kRecv, Shape::kReceive, 3, bytes);
        break;
      case 2: {
        const std::uint64_t post = call(FunctionId::kIrecv, Shape::kPostReceive, 3, 100 * bytes);
        call(FunctionId::kWait, Shape::kCompletes, 1, 0);
        completion(FunctionId::kIrecv, post, 0, bytes);
        break;
      }
      case 3: {
        const std::uint64_t post = call(FunctionId::kIsend, Shape::kSend, 3, bytes);
        call(FunctionId::kWaitall, Shape::kCompletes, 1, 0);
        completion(FunctionId::kIsend, post, instrument::kNoPeer, 0);
        break;
      }
      case 4:
        call(FunctionId::kBcast, Shape::kRooted, rank == 0 ? 0 : 77, rank == 0 ? 77 : 0);
        break;
      case 5:
        call(FunctionId::kAllreduce, Shape::kCollective, 64, 64);
        break;
      case 6:
        call(FunctionId::kReduce, Shape::kRooted, rank == 0 ? 8 : 0, 8);
        break;
      case 7:
        call(FunctionId::kPut, Shape::kPut, 0, bytes);
        break;
      case 8:
        call(FunctionId::kGet, Shape::kGet, 0, bytes);
        break;
      case 9:
        call(FunctionId::kFile_read, Shape::kFileRead, 0, bytes);
        break;
      case 10: {
        const std::uint64_t post = call(FunctionId::kFile_iread, Shape::kFileRead, 0, 0);
        call(FunctionId::kWait, Shape::kCompletes, 1, 0);
        completion(FunctionId::kFile_iread, post, 1, bytes);
        break;
      }
      case 11:
        call(FunctionId::kProbe, Shape::kProbe, 3, bytes);
        break;
      case 12:
        call(FunctionId::kStartall, Shape::kLocal, 0, 0);
        for (std::uint64_t part = 0; part < 2; ++part)
          maker.mpi_extension(instrument::StartedExtension{
              now - 5000 + part, bytes, 0, 3, instrument::make_word(0, id(FunctionId::kSend_init), Shape::kSend),
              extension_word(ExtensionKind::kStarted, FunctionId::kStartall)});
        break;
      default:
        maker.posix({now, 500, 3, 1, id(instrument::PosixFunction::kRead), 0, bytes});
        now += 5000;
        break;
    }
    if (has_marks && i % 40 == 20)
      maker.mpi_extension(instrument::MarkExtension{
          now, static_cast<std::uint64_t>(i), 9, 0, instrument::MarkKind::kSnapshot, {}, instrument::kMarkWord});
  }
  maker.flush();  // without totals: the sums are those of the records
  return maker.take();
}

std::map<std::string, std::uint64_t> bytes_of(const reports::SnapshotSeries& series) {
  std::map<std::string, std::uint64_t> bytes;
  for (const reports::SnapshotCalls& calls : series.calls) {
    for (const std::uint64_t each : calls.bytes) bytes[calls.function] += each;
  }
  return bytes;
}

TEST(BytesOfSnapshots, AreThoseOfTheProfileInEachFunction) {
  Session whole({{0, "program", 2}}), sums({{0, "program", 2}});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    whole.submit(calls_of_all_kinds(rank, true));
    auto as_sums = calls_of_all_kinds(rank, false);
    instrument::PackHeader header = as_sums.back().header();
    header.pack_class = static_cast<std::uint16_t>(PackClass::kTotals);
    header.payload_bytes = header.record_count = 0;
    as_sums.emplace_back(header, std::span<const std::byte>());
    sums.submit(folded(as_sums));
  }
  for (Session* const session : {&whole, &sums}) {
    SCOPED_TRACE(session == &whole ? "records" : "sums");
    const auto application = session->application();
    std::map<std::string, std::uint64_t> expected, of_sites;
    for (const auto* const list : {&application.mpi, &application.posix}) {
      for (const reports::FunctionProfile& each : *list) expected[each.function] = each.bytes;
    }
    EXPECT_GT(expected.at("MPI_Irecv"), 0u);
    EXPECT_GT(expected.at("MPI_Startall"), 0u);
    EXPECT_EQ(expected.at("MPI_Probe"), 0u);
    for (const char* trigger : {"timer", "snapshot"}) {
      const auto* const series = reports::find_series(application.snapshots, trigger);
      if (session == &sums && std::string_view(trigger) == "snapshot") continue;
      ASSERT_NE(series, nullptr) << trigger;
      EXPECT_EQ(bytes_of(*series), expected) << trigger;
    }
    for (const reports::CallSite& each : application.call_sites) of_sites[each.function] += each.bytes;
    // The call site is unknown if the rest of the started operations is in the next pack.
    of_sites["MPI_Startall"] = expected["MPI_Startall"];
    EXPECT_EQ(of_sites, expected);
  }
}

TEST(AggregatePack, PartsOfNeighbourhoodCollectivesStartedOperationsAndCompletionsCount) {
  const auto neighbour = id(FunctionId::kNeighbor_alltoall), startall = id(FunctionId::kStartall),
             irecv = id(FunctionId::kIrecv);
  const auto word = [](std::uint16_t function, Shape shape) { return instrument::make_word(0, function, shape); };
  const std::vector<AggregateRecord> records{
      {word(neighbour, Shape::kNeighbour), 7, -1, neighbour, AggregatePart::kCall, 11, 10, 10, 5000, 20000, 20000,
       20000, 500, 500},
      {word(neighbour, Shape::kNeighbour), 0, 1, neighbour, AggregatePart::kNeighbour, 11, 20, 20, 0, 20000, 0, 20000,
       0, 0},
      {word(id(FunctionId::kSend_init), Shape::kSend), 0, 1, startall, AggregatePart::kStarted, 4, 3, 3, 0, 24, 0, 24,
       0, 0},
      {word(irecv, Shape::kCompletion), 9, 1, irecv, AggregatePart::kCompletion, 7, 4, 4, 0, 400, 0, 400, 0, 0},
      // Records of later versions, or invalid ones: skipped.
      {0, 0, 0, 60000, AggregatePart::kCall, 1, 1, 1, 1, 1, 1, 1, 1, 1},
      {0, 0, 0, 1, static_cast<AggregatePart>(77), 1, 1, 1, 1, 1, 1, 1, 1, 1}};
  PackMaker maker({});
  maker.finish();
  auto packs = maker.take();
  instrument::PackHeader header = packs.back().header();
  header.flags = 0;
  header.pack_class = static_cast<std::uint16_t>(PackClass::kAggregates);
  header.record_count = static_cast<std::uint32_t>(records.size());
  header.payload_bytes = static_cast<std::uint32_t>(std::span(records).size_bytes());
  header.first_tick = 2000;
  header.last_tick = 9000;
  Session session({{0, "program", 2}});
  session.submit(replay::Pack(header, std::as_bytes(std::span(records))));
  const auto application = session.application();
  EXPECT_EQ(find(application.mpi, "MPI_Neighbor_alltoall").calls, 10u);
  EXPECT_EQ(find(application.mpi, "MPI_Neighbor_alltoall").bytes_sent, 20000u);
  EXPECT_EQ(find(application.mpi, "MPI_Startall").bytes_sent, 24u);
  EXPECT_EQ(find(application.mpi, "MPI_Irecv").bytes_received, 400u);
}

}  // namespace
}  // namespace ardoise::knowledge_sources
