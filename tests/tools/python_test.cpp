// Python's functions in the profile of an mpi4py program: shares, call sites, contexts, files.
#include <gmock/gmock.h>

#include <fstream>

#include "reports/findings/sample_view.hpp"
#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

using ::testing::HasSubstr;

class PythonTest : public LaunchFixture {
 protected:
  // Number of the line that ends with "# MARK name".
  static std::uint32_t line_of(const std::string& name) {
    std::ifstream source(PYTHON_PROGRAM);
    std::string line;
    for (std::uint32_t number = 1; std::getline(source, line); ++number) {
      if (line.ends_with("# MARK " + name)) return number;
    }
    return 0;
  }
  // Total time of the innermost function of paths that end with `path` ("main;first"), including its callees.
  static double total(const reports::SampleProfile& s, const std::string& path) {
    const std::vector<double> totals = reports::node_totals(s.tree, s.tree.self);
    double sum = 0;
    for (std::uint32_t node = 0; node < totals.size(); ++node) {
      std::string text;
      for (std::uint32_t up = node; up != reports::kNoParent; up = s.tree.parent[up])
        text = s.functions[s.tree.function[up]].symbol + (text.empty() ? "" : ";") + text;
      if (text.ends_with(path)) sum += totals[node];
    }
    return sum;
  }
  static const reports::CallSite* site(const reports::Application& a, const std::string& call,
                                       const std::string& symbol) {
    for (const reports::CallSite& each : a.call_sites) {
      if (each.function == call && each.symbol.ends_with(symbol)) return &each;
    }
    return nullptr;
  }
};

TEST_F(PythonTest, FunctionsCallSitesAndFilesAreThoseOfTheSource) {
  if (run_and_read({PYTHON, "-c", "import mpi4py.MPI"}).status != 0)
    GTEST_SKIP() << "mpi4py is not there, or of another MPI";
  const auto result = ardoise({}, {"-n", "2", PYTHON, PYTHON_PROGRAM, folder_.string()});
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("rank 1 of 2 ends"));
  const auto run = profile();
  ASSERT_EQ(run.applications.size(), 1U);
  const reports::Application& a = run.applications[0];
  const reports::SampleProfile& s = a.samples;

  const double first = total(s, "main;first;once;burn"), second = total(s, "main;second;twice;burn");
  ASSERT_GT(first, 0);
  // Samples represent about 2 and 4 ms and may be late; allows four standard deviations.
  const double part = first / (first + second), n = (first + second) / s.self * static_cast<double>(s.samples);
  EXPECT_NEAR(part, 1.0 / 3, 4 * std::sqrt(2.0 / 9 / n) + 0.02) << n << " samples";
  EXPECT_LT(s.unknown_contexts, 0.01 * static_cast<double>(s.samples));
  for (const reports::SampledLine& line : s.lines) {
    if (!s.functions[line.function].symbol.ends_with("numbers")) continue;
    EXPECT_NEAR(line.line, line_of("numbers"), 1);
  }
  // The interpreter's time is attributed to Python functions, except when there are none: at the begin of threads and
  // at the end.
  double interpreter = 0;
  for (const reports::SampledFunction& f : s.functions) {
    if (f.kind == "code" && f.module.find("/python3") != f.module.npos) interpreter += f.self;
  }
  EXPECT_LT(interpreter, 0.1 * s.self);
  EXPECT_GT(total(s, "(import of modules)"), 0);

  const reports::CallSite* reduce = site(a, "MPI_Allreduce", "reduce");
  if (reduce == nullptr) reduce = site(a, "MPI_Bcast", "reduce");  // mpi4py 3 makes allreduce of objects this way
  ASSERT_NE(reduce, nullptr);
  EXPECT_EQ(reduce->line, line_of("reduce"));
  EXPECT_EQ(reduce->source_file, PYTHON_PROGRAM);
  EXPECT_EQ(reduce->calls % 80, 0U);
  EXPECT_EQ(reports::callers_of(s, *reduce).size(), 2U);
  const reports::CallSite* barrier = site(a, "MPI_Barrier", "<module>");
  ASSERT_NE(barrier, nullptr);
  EXPECT_EQ(barrier->source_file, "<made>");
  EXPECT_EQ(barrier->calls, 2U);
  const auto write = std::ranges::find_if(a.call_sites, [&](const reports::CallSite& each) {
    return each.function == "write" && each.symbol == "main" && each.line == line_of("flush");
  });
  ASSERT_NE(write, a.call_sites.end());
  EXPECT_EQ(write->calls, 100U);

  // Reads by imports are one row, with one call site for each function.
  const auto compiled =
      std::ranges::count_if(a.files, [](const auto& f) { return f.path.find(".pyc") != f.path.npos; });
  EXPECT_LE(compiled, 1);
  EXPECT_LE(std::ranges::count_if(
                a.call_sites, [](const auto& c) { return c.function == "read" && c.symbol == "(import of modules)"; }),
            1);
}

}  // namespace
}  // namespace ardoise::launcher
