// The sampled profile: contexts of ranks and threads become one tree, samples become seconds with their error, MPI
// calls are attached to the caller in the program. Stacks are made by hand, with a resolver that needs no binaries.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "fixture.hpp"
#include "knowledge_sources/contexts/runtime_library.hpp"
#include "knowledge_sources/plugins/samples/sample_model.hpp"
#include "reports/model_check.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::ContextRecord;
using instrument::ContextTotalsRecord;
using instrument::PackClass;
using instrument::SampleRecord;
using testing::DoubleNear;
using testing::ElementsAre;
using namespace std::string_view_literals;

constexpr std::uint32_t kApp = 0, kTool = 1, kMpi = 2, kLibm = 3, kNone = 4,
                        kModules = 5;  // numbers of modules, before each rank turns them around

// Ranks number their modules differently; a function fills 256 bytes: 0x200 … 0x2ff of the program is "f2", and its
// source line is the last byte. From 0x8000 on "inner" is inlined into it, and from 0x9000 a system header's function.
class FakeResolver final : public Resolver {
 public:
  explicit FakeResolver(std::uint32_t ranks) : ranks_(ranks), ledger_{} { ledger_.origin_tick = 1000; }
  std::uint32_t ranks() const override { return ranks_; }
  const ProcessFacts& process(std::uint32_t) const override { return process_; }
  const RankLedger& ledger(std::uint32_t) const override { return ledger_; }
  double seconds_per_tick(std::uint32_t) const override { return 1e-9; }
  std::span<const FunctionSums> sums(std::uint32_t) const override { return sums_; }
  std::int64_t world_rank(std::uint32_t, std::uint32_t, std::int32_t) const override { return kUnknownRank; }
  std::string_view communicator(std::uint32_t, std::uint32_t) const override { return {}; }
  const Location& call_site(std::uint32_t) const override { return location_; }
  SourceFrame python(std::uint32_t, std::uint64_t offset) const override {
    if (offset >> 32 == 99) return {};
    return {fmt::format("p{}", offset >> 32), "/src/p.py", static_cast<std::uint32_t>(offset), "/src/p.py", 1};
  }
  std::span<const instrument::FileAccessDefinition> accesses(std::uint32_t) const override { return {}; }
  std::string_view file(std::uint32_t, std::uint32_t) const override { return {}; }
  std::optional<Cartesian> cartesian() const override { return std::nullopt; }
  std::vector<CommunicatorFacts> communicators() const override { return {}; }
  std::vector<std::string> notices() const override { return {}; }
  ModuleFacts module(std::uint32_t rank, std::uint32_t number) const override {
    const std::uint32_t kind = (number + rank) % kModules;
    return kind == kApp    ? ModuleFacts{"/opt/app", "aa"}
           : kind == kTool ? ModuleFacts{"/usr/lib/libardoise.so", "bb"}
           : kind == kMpi  ? ModuleFacts{"/usr/lib/libmpi.so.40", "cc"}
           : kind == kLibm ? ModuleFacts{"/lib/libm.so.6", "dd"}
                           : ModuleFacts{};
  }
  std::vector<SourceFrame> frames(const ModuleFacts& module, std::uint64_t offset) const override {
    asked_ += 1;
    if (module.path == "/lib/libm.so.6")
      return {{"set_rounding", "/glibc/fenv.h", 416, "/glibc/fenv.h", 400},
              {offset < 0x200 ? "sin" : "reduce", "/glibc/sin.c", 9, "/glibc/sin.c", 8}};
    if (module.path != "/opt/app") return {};
    const std::uint64_t address = offset - 1;
    const auto line = static_cast<std::uint32_t>(address & 0xFF);
    const SourceFrame outer{fmt::format("f{}", address >> 8 & 0xF), "/src/app.c", line, "/src/app.c", 1};
    if (address >= 0x9000) return {{"std::swap", "/usr/include/c++/12/move", 7, "/usr/include/c++/12/move", 5}, outer};
    if (address >= 0x8000) return {{"inner", "/src/inner.h", line, "/src/inner.h", 2}, outer};
    return {outer};
  }
  mutable int asked_ = 0;
  std::vector<FunctionSums> sums_;  // of each rank

 private:
  std::uint32_t ranks_;
  ProcessFacts process_;
  RankLedger ledger_;
  Location location_;
};

// The input of one test, and the resulting model.
class Profile {
 public:
  explicit Profile(std::uint32_t ranks) : resolver(ranks), sampled(ranks), facts(ranks, 1), bins(ranks) {}

  // Module numbers are those of rank 0.
  void context(std::uint32_t rank, std::uint32_t thread, std::uint32_t number, std::uint32_t parent,
               std::uint32_t module, std::uint64_t offset, bool instruction = false) {
    add_sums(sampled.of(rank, thread).contexts,
             {ContextEntry{number, parent, (module + kModules - rank % kModules) % kModules, instruction ? 1u : 0u,
                           offset}});
  }
  void sample(std::uint32_t rank, std::uint32_t thread, const SampleKey& key, std::uint64_t ms, int times = 1) {
    for (int i = 0; i < times; ++i) add_sums(sampled.of(rank, thread).samples, {SampleSums::one(key, ms * 1'000'000)});
  }
  void call(std::uint32_t rank, std::uint32_t thread, std::uint32_t context, FunctionId function, std::uint64_t calls,
            std::uint64_t ms, std::uint64_t sent) {
    add_sums(
        sampled.of(rank, thread).calls,
        {ContextCallSums{
            {context, static_cast<std::uint16_t>(PackClass::kMpi), id(function)}, calls, ms * 1'000'000, sent, 0}});
  }
  const reports::SampleProfile& model() {
    reports::Run run;
    run.applications.push_back({});
    run.applications[0].ranks = resolver.ranks();
    contribute_samples({sampled, facts, bins, 1, 0}, resolver, run.applications[0]);
    EXPECT_EQ(reports::check_model(run).error, "");
    application = run.applications[0];
    return application.samples;
  }

  // "main;f2;MPI_Send" → its node in the tree.
  std::size_t node(const std::string& path) const {
    const auto& s = application.samples;
    for (std::size_t i = 0; i < s.tree.parent.size(); ++i) {
      std::string text = s.functions[s.tree.function[i]].symbol;
      for (std::uint32_t up = s.tree.parent[i]; up != reports::kNoParent; up = s.tree.parent[up]) {
        text = s.functions[s.tree.function[up]].symbol + ";" + text;
      }
      if (text == path) return i;
    }
    ADD_FAILURE() << "no " << path;
    return 0;
  }
  double self(const std::string& path) const { return application.samples.tree.self[node(path)]; }
  const reports::SampledFunction& function(const std::string& symbol) const {
    for (const auto& f : application.samples.functions) {
      if (f.symbol == symbol) return f;
    }
    throw std::runtime_error("no function " + symbol);
  }

  FakeResolver resolver;
  SampledRanks sampled;
  SamplingFacts facts;
  std::vector<SampleBins> bins;
  reports::Application application;
};

std::uint32_t mpi(FunctionId function) { return static_cast<std::uint32_t>(function) + 1; }

TEST(Samples, RanksAndThreadsMeetInOneTree) {
  Profile p(2);
  // f1 → f2 → (f3 at two instructions), numbered in another order in rank 1 and in a second thread.
  p.context(0, 0, 1, 0, kApp, 0x110);
  p.context(0, 0, 2, 1, kApp, 0x220);
  p.context(0, 0, 3, 2, kApp, 0x300, true);
  p.sample(0, 0, {3, 0x11, 0, 0}, 100);
  p.sample(0, 0, {3, 0x12, 0, 0}, 100, 2);
  p.context(1, 7, 5, 9, kApp, 0x220);
  p.context(1, 7, 9, 0, kApp, 0x110);
  p.context(1, 7, 2, 5, kApp, 0x300, true);
  p.sample(1, 7, {2, 0x12, 0, 0}, 50);
  p.context(1, 8, 1, 0, kApp, 0x400, true);
  p.sample(1, 8, {1, 0, 0, 0}, 250);
  const auto& model = p.model();

  EXPECT_EQ(model.unit, "seconds");
  EXPECT_EQ(model.samples, 5u);
  EXPECT_DOUBLE_EQ(model.self, 0.6);
  ASSERT_EQ(model.tree.parent.size(), 4u);
  EXPECT_DOUBLE_EQ(p.self("f1;f2;f3"), 0.35);
  EXPECT_DOUBLE_EQ(p.self("f1;f2"), 0);
  EXPECT_DOUBLE_EQ(p.self("f4"), 0.25);
  EXPECT_DOUBLE_EQ(p.function("f2").total, 0.35);
  EXPECT_DOUBLE_EQ(p.function("f2").self, 0);
  EXPECT_EQ(p.function("f3").source_file, "/src/app.c");
  EXPECT_EQ(p.function("f3").line, 1u);

  ASSERT_EQ(model.lines.size(), 2u) << "f4 has no line";
  EXPECT_EQ(model.lines[0].line, 0x12u) << "an instruction is its context's address and its own offset";
  EXPECT_DOUBLE_EQ(model.lines[0].self, 0.25);
  EXPECT_EQ(model.lines[0].samples, 3u);

  EXPECT_DOUBLE_EQ(p.function("f3").rank_min, 0.05);
  EXPECT_DOUBLE_EQ(p.function("f3").rank_max, 0.30);
  EXPECT_DOUBLE_EQ(p.function("f3").rank_mean, 0.175);
  EXPECT_EQ(p.function("f3").max_rank, 0u);
  EXPECT_DOUBLE_EQ(p.function("f4").rank_min, 0);
  EXPECT_THAT(model.threads.rank, ElementsAre(0, 1, 1));
  EXPECT_THAT(model.threads.thread, ElementsAre(0, 7, 8));
  EXPECT_THAT(model.threads.self,
              ElementsAre(DoubleNear(0.3, 1e-12), DoubleNear(0.05, 1e-12), DoubleNear(0.25, 1e-12)));
}

TEST(Samples, EachAddressIsLookedUpOnce) {
  Profile p(50);
  for (std::uint32_t rank = 0; rank < 50; ++rank) {
    p.context(rank, 0, 1, 0, kApp, 0x110);
    p.context(rank, 0, 2, 1, kApp, 0x200, true);
    p.sample(rank, 0, {2, 4, 0, 0}, 10);
  }
  (void)p.model();
  EXPECT_EQ(p.resolver.asked_, 2);
}

// The profile over time keeps only the function of a sample, not the function inlined at its start.
TEST(Samples, WithoutTheInstructionTheFunctionCountsAndNotWhatIsInlinedAtItsStart) {
  Profile p(1);
  p.context(0, 0, 1, 0, kApp, 0x8100, true);
  p.sample(0, 0, {1, 0x11, 0, 0}, 10);
  p.sample(0, 0, {1, 0, 0, 0}, 30);
  p.model();
  EXPECT_NEAR(p.self("f1"), 0.03, 1e-9);
  EXPECT_NEAR(p.self("f1;inner"), 0.01, 1e-9);
}

TEST(Samples, InlinedFunctionsAreFramesOfTheTreeButSystemHeadersAreNot) {
  Profile p(1);
  p.context(0, 0, 1, 0, kApp, 0x100, true);
  p.context(0, 0, 2, 0, kApp, 0x8211);
  p.context(0, 0, 3, 2, kApp, 0x9300, true);
  p.sample(0, 0, {1, 0x8011 - 0x100, 0, 0}, 10);  // 0x8011 is in "inner", inlined into f0
  p.sample(0, 0, {3, 0x20, 0, 0}, 30);            // std::swap inlined into f3, called from "inner" in f2
  (void)p.model();
  EXPECT_DOUBLE_EQ(p.self("f0;inner"), 0.010);
  EXPECT_DOUBLE_EQ(p.self("f2;inner;f3"), 0.030);
  EXPECT_EQ(p.application.samples.functions.size(), 4u);
  EXPECT_EQ(p.application.samples.lines[0].source_file, "/src/app.c");
  EXPECT_EQ(p.application.samples.lines[0].line, 0x20u);
}

TEST(Samples, MpiHangsWhereTheProgramCalledIt) {
  Profile p(1);
  p.context(0, 0, 1, 0, kApp, 0x110);
  p.context(0, 0, 2, 1, kApp, 0x220);   // the call of MPI_Send in f2
  p.context(0, 0, 3, 2, kTool, 0x111);  // the wrapper
  p.context(0, 0, 4, 3, kMpi, 0x999);   // inside of MPI
  p.context(0, 0, 5, 4, kMpi, 0x500, true);
  p.sample(0, 0, {5, 0, mpi(FunctionId::kSend), instrument::kInsideMpi}, 70);
  p.sample(0, 0, {2, 0, mpi(FunctionId::kSend), 0}, 10);  // a call site that was known already
  p.call(0, 0, 2, FunctionId::kSend, 12, 81, 4096);
  p.call(0, 0, 3, FunctionId::kBarrier, 3, 20, 0);  // a context that ends in the wrapper
  (void)p.model();
  EXPECT_DOUBLE_EQ(p.self("f1;f2;MPI_Send"), 0.080);
  const auto& tree = p.application.samples.tree;
  EXPECT_EQ(tree.calls[p.node("f1;f2;MPI_Send")], 12u);
  EXPECT_DOUBLE_EQ(tree.call_seconds[p.node("f1;f2;MPI_Send")], 0.081);
  EXPECT_EQ(tree.bytes_sent[p.node("f1;f2;MPI_Send")], 4096u);
  EXPECT_EQ(tree.calls[p.node("f1;f2;MPI_Barrier")], 3u);
  EXPECT_EQ(tree.parent.size(), 4u) << "neither the wrapper nor MPI's inside are shown";
  EXPECT_EQ(p.function("MPI_Send").kind, "mpi");
  EXPECT_DOUBLE_EQ(p.function("MPI_Send").call_seconds, 0.081);
  EXPECT_DOUBLE_EQ(p.function("f1").total, 0.080);
}

TEST(Samples, NoCallIsGivenMoreThanItTook) {
  Profile p(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    p.context(rank, 0, 1, 0, kApp, 0x110);
    p.context(rank, 0, 2, 1, kApp, 0x220);
    p.sample(rank, 0, {2, 0, mpi(FunctionId::kGet_count), 0}, 10, rank == 0 ? 3 : 1);
    p.sample(rank, 0, {2, 0, mpi(FunctionId::kSend), 0}, 10);
    p.sample(rank, 0, {7, 0, mpi(FunctionId::kBarrier), 0}, 10);  // its context did not arrive
  }
  FunctionSums sums{};
  sums.record_class = static_cast<std::uint16_t>(PackClass::kMpi);
  sums.calls = 5;
  sums.ticks = 5'000'000;  // ns, in each rank
  sums.function = id(FunctionId::kGet_count);
  p.resolver.sums_.push_back(sums);
  sums.function = id(FunctionId::kBarrier);
  p.resolver.sums_.push_back(sums);
  sums.function = id(FunctionId::kSend);
  sums.ticks = 20'000'000;
  p.resolver.sums_.push_back(sums);
  const auto& model = p.model();
  EXPECT_NEAR(p.self("f1;f2;MPI_Get_count"), 0.010, 1e-12);
  EXPECT_NEAR(p.self("f1;f2"), 0.030, 1e-12) << "the rest is the caller's";
  EXPECT_NEAR(p.self("f1;f2;MPI_Send"), 0.020, 1e-12) << "less than it took";
  EXPECT_NEAR(p.self("(unknown);MPI_Barrier"), 0.010, 1e-12);
  EXPECT_NEAR(p.self("(unknown)"), 0.010, 1e-12);
  EXPECT_NEAR(model.self, 0.080, 1e-12);
  EXPECT_EQ(model.samples, 8u);
  EXPECT_NEAR(p.function("MPI_Get_count").rank_max, 0.0075, 1e-12);
  EXPECT_THAT(model.threads.in_calls, ElementsAre(DoubleNear(0.0225, 1e-12), DoubleNear(0.0175, 1e-12)));
}

TEST(Samples, PosixCallsDifferFromMpiCalls) {
  Profile p(1);
  p.context(0, 0, 1, 0, kApp, 0x110);
  constexpr auto kWrite = static_cast<std::uint16_t>(instrument::PosixFunction::kWrite);
  p.sample(0, 0, {1, 0, kWrite + 1u, instrument::kPosixCall}, 20);
  p.sample(0, 0, {1, 0, kWrite + 1u, instrument::kPosixCall | kKernelPart}, 30);
  p.sample(0, 0, {7, 0, kWrite + 1u, instrument::kPosixCall}, 1);  // its context did not arrive
  add_sums(p.sampled.of(0, 0).calls,
           {ContextCallSums{{1, static_cast<std::uint16_t>(PackClass::kPosix), kWrite}, 5, 60'000'000, 640, 0}});
  (void)p.model();
  EXPECT_DOUBLE_EQ(p.self("f1;write"), 0.050);
  EXPECT_DOUBLE_EQ(p.self("(unknown);write"), 0.001);
  EXPECT_EQ(p.function("write").kind, "posix");
  const auto& tree = p.application.samples.tree;
  EXPECT_EQ(tree.calls[p.node("f1;write")], 5u);
  EXPECT_EQ(tree.bytes_sent[p.node("f1;write")], 640u);
}

TEST(Samples, WeightsOfSharedTicksAreKnown) {
  Profile p(1);
  p.context(0, 0, 1, 0, kApp, 0x110, true);
  p.sample(0, 0, {1, 0, 0, 0}, 10, 4);
  p.sample(0, 0, {1, 0, 0, instrument::kTimerInterrupt}, 30, 2);
  (void)p.model();
  EXPECT_DOUBLE_EQ(p.application.samples.self, 0.100);
  EXPECT_DOUBLE_EQ(p.application.samples.at_shared_ticks, 0.060);
  EXPECT_DOUBLE_EQ(p.self("f1"), 0.100);
}

TEST(Samples, KernelTimeIsSeparateAndNoSample) {
  Profile p(1);
  p.context(0, 0, 1, 0, kApp, 0x110);
  p.context(0, 0, 2, 1, kApp, 0x300, true);
  p.sample(0, 0, {2, 0, 0, 0}, 10, 4);
  p.sample(0, 0, {2, 0, 0, kKernelPart}, 30, 2);
  p.sample(0, 0, {0, 0, 0, kKernelPart}, 20, 1);
  (void)p.model();
  const auto& s = p.application.samples;
  EXPECT_DOUBLE_EQ(s.self, 0.120);
  EXPECT_DOUBLE_EQ(s.kernel, 0.080);
  EXPECT_EQ(s.samples, 4u);
  EXPECT_DOUBLE_EQ(p.self("f1;f3"), 0.040);
  EXPECT_DOUBLE_EQ(p.self("f1;f3;(kernel)"), 0.060);
  EXPECT_DOUBLE_EQ(p.self("(kernel)"), 0.020);
  EXPECT_EQ(p.function("(kernel)").samples, 0u);
}

TEST(Samples, PartialStacksAreShown) {
  Profile p(1);
  p.context(0, 0, 1, 0, kApp, 0x110);
  p.context(0, 0, 2, 1, kApp, 0x200, true);
  p.context(0, 0, 3, 1, kTool, 0x10, true);
  p.context(0, 0, 4, 77, kApp, 0x300, true);  // 77 never arrives
  p.context(0, 0, 5, 6, kApp, 0x110);         // 5 and 6 call each other
  p.context(0, 0, 6, 5, kApp, 0x220);
  p.context(0, 0, 7, 1, kNone, 0x123, true);  // a module that was never defined
  p.sample(0, 0, {2, 0, 0, 0}, 1);
  p.sample(0, 0, {2, 0, 0, instrument::kPartialUnwind}, 2);
  p.sample(0, 0, {3, 0, 0, 0}, 4);
  p.sample(0, 0, {2, 0, 0, instrument::kInsideTool}, 8);
  p.sample(0, 0, {4, 0, 0, 0}, 16);
  p.sample(0, 0, {5, 0, 0, 0}, 32);
  p.sample(0, 0, {0, 0, 0, 0}, 64);
  p.sample(0, 0, {99, 0, 0, 0}, 128);
  p.sample(0, 0, {7, 0, 0, 0}, 256);
  p.sample(0, 0, {1, 0, 0, instrument::kTruncatedContext}, 512);
  const auto& model = p.model();
  EXPECT_DOUBLE_EQ(p.self("f1;f2"), 0.001);
  EXPECT_DOUBLE_EQ(p.self("(incomplete call stack);f1;f2"), 0.002);
  EXPECT_DOUBLE_EQ(p.self("f1;(ardoise)"), 0.004);
  EXPECT_DOUBLE_EQ(p.self("f1;f2;(ardoise)"), 0.008);
  EXPECT_DOUBLE_EQ(p.self("(unknown);f3"), 0.016);
  EXPECT_DOUBLE_EQ(p.self("(unknown)"), 0.064 + 0.128);
  EXPECT_DOUBLE_EQ(p.self("f1;(unknown)"), 0.256);
  EXPECT_DOUBLE_EQ(p.self("f1;(deeper than the call tree's memory)"), 0.512);
  EXPECT_NEAR(model.self, 1.023, 1e-12);
  EXPECT_EQ(model.unknown_contexts, 4u);
  EXPECT_THAT(p.application.quality.notices, testing::Contains(testing::HasSubstr("4 samples")));
}

TEST(Samples, ARuntimeLibraryIsTheFunctionThatWasCalledAtTheProgramsLine) {
  Profile p(1);
  p.context(0, 0, 1, 0, kApp, 0x12b);
  p.context(0, 0, 2, 1, kLibm, 0x110);
  p.context(0, 0, 3, 2, kLibm, 0x210, true);
  p.context(0, 0, 4, 2, kApp, 0x240, true);  // called back
  p.sample(0, 0, {3, 0, 0, 0}, 100, 3);
  p.sample(0, 0, {4, 0, 0, 0}, 100);
  const auto& s = p.model();
  EXPECT_DOUBLE_EQ(p.self("f1;sin"), 0.3);
  EXPECT_DOUBLE_EQ(p.self("f1;sin;f2"), 0.1);
  ASSERT_EQ(s.lines.size(), 2u);
  EXPECT_EQ(s.functions[s.lines[0].function].symbol, "sin");
  EXPECT_EQ(s.lines[0].source_file, "/src/app.c");
  EXPECT_EQ(s.lines[0].line, 0x2au);
}

TEST(Samples, FunctionsOfRuntimeLibrariesHaveTheNamesThatProgramsCall) {
  EXPECT_EQ(entry_name("__sin_fma"), "sin");
  EXPECT_EQ(entry_name("__GI___libc_malloc"), "malloc");
  EXPECT_EQ(entry_name("__memmove_avx_unaligned_erms"), "memmove");
  EXPECT_EQ(entry_name("__libc_start_main_impl"), "libc_start_main_impl");
  EXPECT_EQ(entry_name("operator new(unsigned long)"), "operator new(unsigned long)");
}

TEST(Samples, TotalsByRankAreOfTheProgramsCodeAlone) {
  Profile p(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    p.context(rank, 0, 1, 0, kApp, 0x110);
    p.context(rank, 0, 2, 1, kApp, 0x220);
    p.context(rank, 0, 3, 2, kApp, 0x330, true);
    p.sample(rank, 0, {3, 0, 0, 0}, 100, rank == 0 ? 1 : 5);
    p.sample(rank, 0, {2, 0, mpi(FunctionId::kSend), 0}, 100, 4);
  }
  p.sample(1, 0, {1, 0, 0, 0}, 100);
  const auto& s = p.model();
  const auto total = [&](const std::string& symbol, std::size_t rank) {
    for (std::size_t i = 0; i < s.per_rank.uneven.size(); ++i) {
      if (s.functions[s.per_rank.uneven[i]].symbol == symbol) return s.per_rank.total[2 * i + rank];
    }
    return -1.0;
  };
  EXPECT_EQ(s.functions[s.per_rank.uneven[0]].symbol, "f1") << "the most uneven one first";
  EXPECT_DOUBLE_EQ(total("f1", 0), 0.1);
  EXPECT_DOUBLE_EQ(total("f1", 1), 0.6);
  EXPECT_DOUBLE_EQ(total("f2", 1), 0.5);
  EXPECT_DOUBLE_EQ(total("f3", 1), 0.5);
  EXPECT_DOUBLE_EQ(total("MPI_Send", 1), -1);
}

TEST(Samples, RecursionCountsOnceInTotals) {
  Profile p(1);
  p.context(0, 0, 1, 0, kApp, 0x110);
  p.context(0, 0, 2, 1, kApp, 0x120);
  p.context(0, 0, 3, 2, kApp, 0x100, true);
  p.sample(0, 0, {3, 0, 0, 0}, 10);
  p.sample(0, 0, {2, 0, 0, 0}, 5);
  (void)p.model();
  EXPECT_DOUBLE_EQ(p.function("f1").total, 0.015);
  EXPECT_DOUBLE_EQ(p.self("f1;f1;f1"), 0.010);
}

TEST(Samples, TheErrorIsTheBinomialOneForEqualWeights) {
  Profile p(1);
  p.context(0, 0, 1, 0, kApp, 0x100, true);
  p.context(0, 0, 2, 0, kApp, 0x200, true);
  p.sample(0, 0, {1, 0, 0, 0}, 10, 300);
  p.sample(0, 0, {2, 0, 0, 0}, 10, 700);
  (void)p.model();
  EXPECT_NEAR(p.function("f1").self_error, 10.0 * 2.5758 * std::sqrt(0.3 * 0.7 / 1000), 0.02);
  EXPECT_NEAR(p.function("f1").self_error, p.function("f2").self_error, 1e-12);
  // A few heavy samples carry less information than many light ones.
  p.sample(0, 0, {1, 0, 0, 0}, 1000, 3);
  const double light = p.function("f1").self_error;
  (void)p.model();
  EXPECT_GT(p.function("f1").self_error, 5 * light);
}

TEST(Samples, AShareOfOneHasAnErrorToo) {
  Profile p(1);
  p.context(0, 0, 1, 0, kApp, 0x100, true);
  p.sample(0, 0, {1, 0, 0, 0}, 10, 1000);
  (void)p.model();
  const double z = 2.5758293 * 2.5758293 / 1000;
  EXPECT_NEAR(p.function("f1").self_error, 10.0 * z / (1 + z), 1e-6);  // Wilson's lower bound there is 1 / (1 + z² / n)
}

TEST(Samples, UnitsCountersAndSamplersAreSaid) {
  Profile p(2);
  p.context(0, 3, 1, 0, kApp, 0x100, true);
  add_sums(p.sampled.of(0, 3).samples, {SampleSums::one({1, 0, 0, 0}, 5'000)});
  add_sums(p.sampled.of(0, 3).counters, {CounterSums{{1, 0, 0, 0}, {900, 1800}}});
  p.context(1, 0, 1, 0, kApp, 0x100, true);
  p.sample(1, 0, {1, 0, 0, 0}, 1);
  const std::array<std::string_view, 2> names{"cycles", "instructions"};
  instrument::DecodedCounters counters{{2, instrument::SampleUnit::kEvents}, "cache-misses", {}};
  std::ranges::copy(names, counters.names.begin());
  p.facts.add(0, counters);
  p.facts.add(1, instrument::DecodedCounters{{0, instrument::SampleUnit::kCpuNanoseconds}, "", {}});
  p.facts.add(0, instrument::DecodedSamplerTotals{{3, 0, 100, 80, 20, 4, 1, 5'000'000, 1'000'000'000}});
  p.facts.add(0, instrument::DecodedSamplerTotals{{3, 0, 50, 40, 10, 2, 0, 2'500'000, 500'000'000}});
  p.facts.add(0, instrument::DecodedSampling{{3, instrument::SamplingCause::kStart, 2'000, 10'000, 0, 0, 9, 16, 0, 0}});
  p.facts.add(
      0, instrument::DecodedSampling{{3, instrument::SamplingCause::kCost, 3'000'001'000, 5'000, 0, 1, 7, 16, 0, 0}});
  const auto& model = p.model();
  EXPECT_EQ(model.unit, "events");
  EXPECT_EQ(model.clock, "cache-misses");
  EXPECT_DOUBLE_EQ(model.self, 5'000);
  EXPECT_THAT(model.counters, ElementsAre("cycles", "instructions"));
  EXPECT_THAT(p.function("f1").counters, ElementsAre(900, 1800));
  EXPECT_THAT(p.application.quality.notices, testing::Contains(testing::HasSubstr("samples of 1 rank are not")));
  EXPECT_THAT(model.threads.taken, ElementsAre(100, 0));
  EXPECT_THAT(model.threads.discarded, ElementsAre(20, 0));
  EXPECT_DOUBLE_EQ(model.threads.cost_seconds[0], 0.005);
  EXPECT_DOUBLE_EQ(model.threads.wall_seconds[0], 1);
  ASSERT_EQ(model.rate_changes.size(), 2u);
  EXPECT_EQ(model.rate_changes[1].cause, "cost");
  EXPECT_DOUBLE_EQ(model.rate_changes[1].seconds, 3);
  EXPECT_DOUBLE_EQ(model.rate_changes[1].hertz, 5'000);
  EXPECT_EQ(model.rate_changes[1].lowest_level, 1u);
}

TEST(Samples, FunctionsOverTime) {
  Profile p(2);
  const std::uint64_t bin = std::uint64_t{1} << SampleBins::kFirstShift;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    p.context(rank, 0, 1, 0, kApp, 0x100, true);
    p.context(rank, 0, 2, 0, kApp, 0x200, true);
    p.sample(rank, 0, {1, 0, 0, 0}, 3);
    p.sample(rank, 0, {2, 0, 0, 0}, 1);
    std::vector<SampleBins::Entry> entries{{{0, 0, {1, 0, 0, 0}}, 3'000'000}, {{0, 4, {2, 0, 0, 0}}, 1'000'000}};
    p.bins[rank].add(entries);
  }
  const auto& timeline = p.model().timeline;
  EXPECT_DOUBLE_EQ(timeline.bin_seconds, static_cast<double>(bin) * 1e-9);
  ASSERT_EQ(timeline.bins, 5u);
  ASSERT_EQ(timeline.functions.size(), 2u);
  EXPECT_EQ(p.application.samples.functions[timeline.functions[0]].symbol, "f1");
  EXPECT_DOUBLE_EQ(timeline.self[0], 0.006);
  EXPECT_DOUBLE_EQ(timeline.self[5 + 4], 0.002);
  EXPECT_THAT(timeline.all, ElementsAre(DoubleNear(0.006, 1e-12), 0, 0, 0, DoubleNear(0.002, 1e-12)));
}

// Through packs and the plug-in, with an existing binary.
TEST(Samples, FromPacksToTheModel) {
  Session session({{0, "program", 2}});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PackMaker maker({.rank = rank, .origin_tick = 1000});
    const std::array contexts{ContextRecord{1, 0, 4, 0, 0x2000}, ContextRecord{2, 1, 4, 1, 0x1000}};
    const std::array early{SampleRecord{2'000'000, 2, 1'000'000, 0, 0, 0, 5, 0, 0}};
    const std::array late{SampleRecord{3'000'000, 2, 1'000'000, 0, 3, 0, 5, 0, 0},
                          SampleRecord{4'000'000, 2, 1'000'000, 0, 3, 0, 9, 0, 0}};
    const std::array<std::uint64_t, 4> counters{10, 20, 30, 40};
    const std::array calls{ContextTotalsRecord{1, 2, id(FunctionId::kSend), 5, 1'000, 64, 0}};
    maker.samples(0, early);
    maker.contexts(0, contexts);
    maker.samples(0, late, 3, counters);
    maker.context_totals(0, calls);
    maker.context_totals(0, calls);
    maker.define(instrument::CountersDefinition{2, instrument::SampleUnit::kCpuNanoseconds}, ""sv,
                 std::span<const std::string_view>(std::array{"cycles"sv, "instructions"sv}));
    maker.define(instrument::ModuleDefinition{4, 0, 0, 0}, "/no/such/program"sv, ""sv);
    maker.finish();
    session.submit(maker.take());
  }
  const auto application = session.application();
  const auto& s = application.samples;
  EXPECT_EQ(s.samples, 6u);
  EXPECT_NEAR(s.self, 2 * (0.001 + 2 * 8 * 0.001), 1e-12) << "a sample's weight times that of its pack";
  ASSERT_EQ(s.functions.size(), 2u) << "code without symbols is one function for each module";
  EXPECT_EQ(s.functions[0].symbol, "");
  EXPECT_EQ(s.functions[0].module, "/no/such/program");
  EXPECT_THAT(s.functions[0].counters, ElementsAre(2 * 8 * 40, 2 * 8 * 60));
  EXPECT_EQ(s.functions[1].symbol, "MPI_Send");
  EXPECT_EQ(s.functions[1].calls, 20u) << "totals of contexts add up";
  EXPECT_GT(s.timeline.bins, 1u);
  const auto& ledger = application.quality.ledger;
  ASSERT_EQ(ledger.size(), 3u);
  EXPECT_EQ(ledger[2].record_class, "samples");
  EXPECT_EQ(ledger[2].recorded, 6u);
  EXPECT_EQ(ledger[2].lost, 0u);
}

}  // namespace
}  // namespace ardoise::knowledge_sources
