// Reports of the sampled profile: names, sums over the call tree, findings, figures, exports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "reports/document/sections.hpp"
#include "reports/figures/figures.hpp"
#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/latex/latex_text.hpp"
#include "reports/stack_export.hpp"
#include "reports/text/text_document.hpp"
#include "reports/text/units.hpp"
#include "tests/reports/synthetic_run.hpp"

namespace ardoise::reports {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using Json = nlohmann::json;

SampledFunction function(std::string symbol, std::string kind = "code", std::string module = "/opt/app") {
  SampledFunction f;
  f.symbol = std::move(symbol);
  f.kind = std::move(kind);
  f.module = std::move(module);
  return f;
}

// main (1 s) calls solve (2 s), which calls itself (3 s) and MPI_Send (4 s sampled, 5 s exact); main calls MPI_Send too
// (0 s sampled, 7 s exact). And 1 s in a library without symbols.
SampleProfile small() {
  SampleProfile s;
  s.unit = "seconds";
  s.clock = "cpu";
  s.self = 11;
  s.samples = 11;
  s.functions = {function("MPI_Send", "mpi", ""), function("solve(int)"), function("main"),
                 function("", "code", "/usr/lib/libx.so.1")};
  s.tree.parent = {kNoParent, 0, 1, 1, 0, kNoParent};
  s.tree.function = {2, 1, 1, 0, 0, 3};
  s.tree.self = {1, 2, 3, 4, 0, 1};
  s.tree.calls = {0, 0, 0, 10, 20, 0};
  s.tree.call_seconds = {0, 0, 0, 5, 7, 0};
  s.tree.samples = {1, 2, 3, 4, 0, 1};
  s.tree.bytes_sent = s.tree.bytes_received = {0, 0, 0, 0, 0, 0};
  s.lines = {{1, "/src/app.c", 42, 5, 5, 0}};
  return s;
}

Run run_of(SampleProfile s) {
  Run run = testing::empty_run();
  run.tool_version = "1.2";
  run.applications[0].name = "app";
  run.applications[0].samples = std::move(s);
  return run;
}

std::string not_measured(const Run& run) {
  std::string text;
  for (const Section& section : measurement_quality(run).sections) {
    if (section.title != "Not measured") continue;
    for (const Text& item : std::get<Bullets>(section.blocks[0]).items)
      for (const Span& span : item.spans) text += span.text;
  }
  return text;
}

TEST(Python, FunctionsOfTheScriptAreMissedOnlyWhereThereAreNone) {
  reports::Run run = run_of(small());
  EXPECT_THAT(not_measured(run), ::testing::Not(HasSubstr("Python")));
  SampleProfile& s = run.applications[0].samples;
  s.functions.push_back(function("_PyEval_EvalFrameDefault", "code", "/usr/bin/python3.11"));
  EXPECT_THAT(not_measured(run),
              HasSubstr("samples show only functions of the Python interpreter and of compiled modules"));
  s.functions.push_back(function("relax", "code", ""));
  s.functions.back().source_file = "/home/user/late_work.py";
  EXPECT_THAT(not_measured(run), ::testing::Not(HasSubstr("Python")));
}

// Iterations and causes of waiting have the file and line where a function begins, or one of its lines.
TEST(SampleView, FunctionsOfOtherPartsHaveTheNamesOfTheSamples) {
  SampleProfile s = small();
  s.functions[1].source_file = "/glibc/s_sin.c";
  for (const char* file : {"/glibc/s_sin.c", "/src/app.c"})
    EXPECT_EQ(name_as_sampled(s, "solve(int)", file, 12), "solve (app.c:42)");
  EXPECT_EQ(name_as_sampled(s, "solve(int)", "/src/other.c", 12), "solve (other.c:12)") << "another one of that name";
  EXPECT_EQ(name_as_sampled(s, "relax", "/src/app.c", 12), "relax (app.c:12)") << "not sampled";
  EXPECT_EQ(line_as_sampled(s, "solve(int)", {"/glibc/s_sin.c", 12}).number, 42u);
  EXPECT_EQ(line_as_sampled(s, "relax", {"/src/app.c", 12}).number, 12u) << "not sampled";
  EXPECT_EQ(name_as_sampled(s, "", "/src/app.c", 12), name_of_place("", "/src/app.c", 12, "", 0));
}

TEST(SampleView, NamesArePlain) {
  EXPECT_EQ(short_name(function("solve(int)")), "solve");
  EXPECT_EQ(short_name(function("(anonymous namespace)::f(int)")), "(anonymous namespace)::f(int)");
  EXPECT_EQ(short_name(function("(incomplete call stack)")), "(incomplete call stack)");
  EXPECT_EQ(full_name(function("", "code", "/usr/lib/libx.so.1")), "[libx.so.1]");
  EXPECT_EQ(full_name(function("", "code", "")), "(unknown)");
  EXPECT_EQ(name_and_place(small(), 1), "solve (app.c:42)");
}

TEST(SampleView, SumsBeneathANode) {
  const SampleProfile s = small();
  EXPECT_THAT(node_totals(s.tree, s.tree.self), ElementsAre(10, 9, 3, 4, 0, 1));
  EXPECT_THAT(mpi_beneath(s), ElementsAre(12, 5, 12, 0));
}

TEST(SampleReport, SaysWhatIsKnownOfTimeInTheKernel) {
  reports::Run run = testing::synthetic_run(4);
  SampleProfile& s = run.applications[0].samples;
  const auto says = [&](const std::string& words) {
    const Section section = hot_functions(run.applications[0]);
    return plain(std::get<Paragraph>(section.blocks.at(0)).text).find(words) != std::string::npos;
  };
  s.clock = "cache-misses";
  EXPECT_FALSE(says("CPU time of system calls")) << "not where events are sampled";
  s.clock = "cpu";
  EXPECT_TRUE(says("CPU time of system calls counts for"));
  s.kernel = 0.125 * s.self;
  EXPECT_TRUE(says(human_share(0.125) + " of it was spent in the kernel, which is not sampled"));
}

TEST(SampleView, CallersAndCallees) {
  const SampleProfile s = small();
  const auto totals = node_totals(s.tree, s.tree.self);
  const auto is = [](std::uint32_t f, double total) {
    return AllOf(Field(&CallShare::function, f), Field(&CallShare::total, total));
  };
  EXPECT_THAT(callers_of(s, totals, 0), ElementsAre(is(1, 4)));
  EXPECT_THAT(callers_of(s, totals, 1), ElementsAre(is(2, 9))) << "recursion is no caller";
  EXPECT_THAT(callers_of(s, totals, 2), ElementsAre(is(kNoParent, 10)));
  EXPECT_THAT(callees_of(s, totals, 2), ElementsAre(is(1, 9)));
  EXPECT_THAT(callees_of(s, totals, 1), ElementsAre(is(0, 4)));
}

TEST(SampleView, DeepRecursionTakesNoTime) {
  SampleProfile s = small();
  for (std::uint32_t i = 0; i < 1'000'000; ++i) {
    s.tree.parent.push_back(i == 0 ? 1 : 5 + i);
    s.tree.function.push_back(1);
    for (auto* list : {&s.tree.self, &s.tree.call_seconds}) list->push_back(0);
    s.tree.calls.push_back(0);
  }
  s.tree.self.back() = 100;
  const auto totals = node_totals(s.tree, s.tree.self);
  ASSERT_EQ(callers_of(s, totals, 1).size(), 1u);
  EXPECT_DOUBLE_EQ(callers_of(s, totals, 1)[0].total, 109);
}

TEST(SampleView, RankRanges) {
  EXPECT_EQ(rank_ranges({0, 1, 2, 5, 7, 8}, 9), "0–2, 5, 7, 8");
  EXPECT_EQ(rank_ranges({0, 2, 4, 6}, 2), "0, 2, …");
  EXPECT_EQ(rank_ranges({}, 2), "");
}

TEST(StackExport, FoldedStacksInMicroseconds) {
  SampleProfile s = small();
  s.functions[1].symbol = "a;b\nc";
  s.tree.self[2] = 0.4e-6;
  const auto text = export_stacks(run_of(s), "", StackFormat::folded);
  ASSERT_TRUE(text) << text.error;
  EXPECT_EQ(*text.value,
            "app;main 1000000\n"
            "app;main;a:b c 2000000\n"
            "app;main;a:b c;MPI_Send 4000000\n"
            "app;[libx.so.1] 1000000\n");
}

// The requirements of speedscope's file-format-schema.json for a sampled profile, and the assumptions of its reader.
void expect_speedscope(const Json& j) {
  EXPECT_EQ(j.at("$schema"), "https://www.speedscope.app/file-format-schema.json");
  for (const auto& [key, value] : j.items()) {
    EXPECT_THAT((std::vector<std::string>{"$schema", "exporter", "name", "activeProfileIndex", "shared", "profiles"}),
                Contains(key));
  }
  const auto& frames = j.at("shared").at("frames");
  for (const auto& frame : frames) {
    EXPECT_TRUE(frame.at("name").is_string());
    EXPECT_TRUE(!frame.contains("file") || frame["file"].is_string());
    EXPECT_TRUE(!frame.contains("line") || frame["line"].is_number_integer());
  }
  ASSERT_FALSE(j.at("profiles").empty());
  EXPECT_LT(j.at("activeProfileIndex").get<std::size_t>(), j["profiles"].size());
  for (const auto& profile : j["profiles"]) {
    EXPECT_EQ(profile.at("type"), "sampled");
    EXPECT_TRUE(profile.at("name").is_string());
    EXPECT_THAT((std::vector<std::string>{"seconds", "none"}), Contains(profile.at("unit").get<std::string>()));
    ASSERT_EQ(profile.at("samples").size(), profile.at("weights").size());
    double sum = 0;
    for (const auto& weight : profile["weights"]) {
      ASSERT_TRUE(weight.is_number());
      EXPECT_GT(weight.get<double>(), 0);
      sum += weight.get<double>();
    }
    EXPECT_EQ(profile.at("startValue"), 0);
    EXPECT_NEAR(profile.at("endValue").get<double>(), sum, 1e-9 * sum);
    for (const auto& stack : profile["samples"]) {
      EXPECT_FALSE(stack.empty());
      for (const auto& frame : stack) {
        ASSERT_TRUE(frame.is_number_unsigned());
        EXPECT_LT(frame.get<std::size_t>(), frames.size());
      }
    }
  }
}

TEST(StackExport, Speedscope) {
  const auto text = export_stacks(run_of(small()), "", StackFormat::speedscope);
  ASSERT_TRUE(text) << text.error;
  const Json j = Json::parse(*text.value);
  expect_speedscope(j);
  const auto& profile = j["profiles"][0];
  EXPECT_EQ(profile["unit"], "seconds");
  EXPECT_EQ(profile["endValue"], 11.0);
  const auto stack = [&](std::size_t sample) {
    std::vector<std::string> names;
    for (const auto& frame : profile["samples"][sample]) {
      names.push_back(j["shared"]["frames"][frame.get<std::size_t>()]["name"]);
    }
    return names;
  };
  EXPECT_THAT(stack(2), ElementsAre("main", "solve(int)", "solve(int)")) << "root first";
  EXPECT_THAT(stack(3), ElementsAre("main", "solve(int)", "MPI_Send"));
  EXPECT_THAT(profile["weights"], ElementsAre(1.0, 2.0, 3.0, 4.0, 1.0));
  for (const reports::Run& run : {testing::synthetic_run(64), testing::nasty_run()}) {
    const auto both = export_stacks(run, "", StackFormat::speedscope);
    ASSERT_TRUE(both) << both.error;
    const Json parsed = Json::parse(*both.value);
    expect_speedscope(parsed);
    EXPECT_EQ(parsed["profiles"].size(), 2u);
  }
}

TEST(StackExport, ChoosesAProgramAndSaysWhatIsMissing) {
  const reports::Run run = testing::synthetic_run(8);
  const auto post = export_stacks(run, "post", StackFormat::folded);
  ASSERT_TRUE(post) << post.error;
  EXPECT_THAT(*post.value, AllOf(HasSubstr("post;main;"), ::testing::Not(HasSubstr("solver;main"))));
  EXPECT_THAT(export_stacks(run, "nobody", StackFormat::folded).error,
              AllOf(HasSubstr("nobody"), HasSubstr("solver, post")));
  EXPECT_THAT(export_stacks(testing::empty_run(), "", StackFormat::folded).error, HasSubstr("no call stacks"));
}

TEST(SampleReport, HotFunctionsAreInTheSummary) {
  EXPECT_THAT(summary_text(document_of(testing::synthetic_run(64))),
              AllOf(HasSubstr("hot function (sampled CPU time)"), HasSubstr("assemble.cpp:57")));
}

TEST(SampleFindings, SamplingThatCostsMuchIsSaid) {
  reports::Application app = testing::synthetic_run(4).applications[0];
  const auto is_said = [&] {
    return std::ranges::any_of(findings_of(app), [](const Finding& each) { return each.id == "sampling_cost"; });
  };
  EXPECT_FALSE(is_said());
  for (double& cost : app.samples.threads.cost_seconds) cost *= 10;
  EXPECT_TRUE(is_said());
}

TEST(SampleFindings, SharedTicksAreSaid) {
  reports::Run run = testing::synthetic_run(4);
  reports::Application& app = run.applications[0];
  const auto text = [&]() -> std::string {
    for (const Finding& f : findings_of(app)) {
      if (f.id == "shared_ticks") return f.text;
    }
    return "";
  };
  EXPECT_EQ(text(), "");
  app.samples.at_shared_ticks = 0.05 * app.samples.self;
  EXPECT_EQ(text(), "") << "too little to matter";
  app.samples.at_shared_ticks = 0.25 * app.samples.self;
  EXPECT_THAT(text(), AllOf(HasSubstr("25 %"), HasSubstr("shared processors"), HasSubstr("some percent off")));
}

TEST(SampleFindings, NothingSampledSaysNothing) {
  for (const Finding& f : findings_of(testing::empty_run().applications[0])) {
    EXPECT_THAT(f.id, ::testing::Not(::testing::AnyOf("cpu.hot", "sampling_cost")));
  }
}

class SampleFigures : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_.path); }
  void TearDown() override { std::filesystem::remove_all(folder_.path); }
  // One for each test: they run in parallel.
  FigureFolder folder_{
      ::testing::TempDir() + "ardoise_" + ::testing::UnitTest::GetInstance()->current_test_info()->name(),
      "a_",
      20,
      "neato",
      "",
      {}};
};

TEST_F(SampleFigures, AreDrawnAndSayWhatTheyLeaveOut) {
  Application app = testing::synthetic_run(64).applications[0];
  // A thousand tiny callees, and a stack deeper than a page.
  SampleProfile& s = app.samples;
  const auto add = [&](std::uint32_t parent, double self) {
    s.tree.parent.push_back(parent);
    s.tree.function.push_back(0);
    s.tree.samples.push_back(1);
    s.tree.self.push_back(self);
    s.tree.calls.push_back(0);
    s.tree.call_seconds.push_back(0);
    s.tree.bytes_sent.push_back(0);
    s.tree.bytes_received.push_back(0);
    return static_cast<std::uint32_t>(s.tree.parent.size() - 1);
  };
  for (int i = 0; i < 1000; ++i) add(0, 1e-3);
  std::uint32_t deep = 0;
  for (int i = 0; i < 5000; ++i) deep = add(deep, 0.01);
  const Figure flame = flame_figure(app);
  EXPECT_THAT(flame.caption, AllOf(HasSubstr("1,000 functions too narrow"), HasSubstr("1 stack deeper than")));
  const Figure time = functions_over_time_figure(app), rate = sampling_rate_figure(app);
  for (const Figure& figure : {flame, time, rate}) {
    EXPECT_GT(std::filesystem::file_size(folder_.path + "/" + draw_pdf(figure, folder_)), 1000u) << figure.id;
  }
  EXPECT_EQ(folder_.error, "");
  EXPECT_THAT(time.caption, HasSubstr("of ranks 0, 3, 6 …"));
}

TEST_F(SampleFigures, NothingToDrawIsNoFigure) {
  const Application app = testing::empty_run().applications[0];
  EXPECT_FALSE(flame_figure(app));
  EXPECT_FALSE(functions_over_time_figure(app));
  EXPECT_FALSE(sampling_rate_figure(app));
}

}  // namespace
}  // namespace ardoise::reports
