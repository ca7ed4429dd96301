// Numbers that become text are a loss of their own: in libraries that samples see, and in fprintf, which is file I/O.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reports/text/python_files.hpp"
#include "tests/reports/losses_by_code.hpp"

namespace ardoise::reports {
namespace {

using ::testing::HasSubstr;
using testing::losses_by_code;

// One rank that works for 10 s.
Application one_rank() {
  Application a;
  a.ranks = 1;
  a.wall_seconds = 10;
  a.per_rank.wall_seconds = a.per_rank.cpu_seconds = a.per_rank.process_cpu_seconds = {10};
  a.per_rank.mpi_seconds = a.per_rank.io_seconds = a.per_rank.waiting_seconds = {0};
  a.waiting.critical_path_seconds = 10;
  a.waiting.resolved_calls = 1;
  PathPart& part = a.waiting.critical_path.emplace_back();
  part.kind = "computation";
  part.symbol = "main";
  part.seconds = part.rank_seconds = 10;
  a.samples.unit = "seconds";
  a.samples.samples = 1000;
  return a;
}

// A function of the call tree; returns its node.
std::uint32_t add(Application& a, std::uint32_t parent, const std::string& symbol, const std::string& module,
                  double self, const std::string& kind = "code") {
  SampledFunction& f = a.samples.functions.emplace_back();
  f.symbol = symbol;
  f.module = module;
  f.kind = kind;
  f.self = f.rank_mean = f.rank_max = self;
  a.samples.self += self;
  CallTree& tree = a.samples.tree;
  tree.parent.push_back(parent);
  tree.function.push_back(static_cast<std::uint32_t>(a.samples.functions.size() - 1));
  tree.self.push_back(self);
  return static_cast<std::uint32_t>(tree.parent.size() - 1);
}

TEST(TextLosses, ConversionInLibrariesIsNamedWithAllThatItCalls) {
  constexpr const char *kC = "/lib/libc.so.6", *kFortran = "/lib/libgfortran.so.5", *kCxx = "/lib/libstdc++.so.6";
  Application a = one_rank();
  const std::uint32_t main = add(a, kNoParent, "main", "/bin/solver", 4);
  const std::uint32_t print = add(a, main, "vfprintf_internal", kC, 1);
  add(a, print, "memcpy", kC, 0.5);
  add(a, print, "(kernel)", "", 0.25);
  add(a, main, "memcpy", kC, 0.25);
  const std::uint32_t transfer = add(a, main, "", kFortran, 0.25);
  add(a, transfer, "snprintf", kC, 0.25);
  const std::uint32_t matmul = add(a, main, "gfortran_matmul_r8", kFortran, 0.5);
  add(a, matmul, "", kFortran, 1);
  add(a, main, "std::ostream& std::ostream::_M_insert<double>(double)", kCxx, 1);
  add(a, main, "printf_statistics", "/bin/solver", 1);
  const auto losses = losses_by_code(a);
  ASSERT_TRUE(losses.contains("io.text"));
  EXPECT_NEAR(losses.at("io.text").ceiling, 3 * 9.75 / 10, 1e-9) << "1 + 0.5, 0.25 + 0.25, 1";
  EXPECT_THAT(losses.at("io.text").text, HasSubstr("30 % of the CPU time"));
  EXPECT_THAT(losses.at("io.text").text, HasSubstr("called by main"));
}

// A rank that calls fprintf for 5 s; samples: so long in the call itself, the rest in the kernel.
Application printing(double converting) {
  Application a = one_rank();
  a.per_rank.io_seconds = {5};
  FunctionProfile& print = a.posix.emplace_back();
  print.function = "fprintf";
  print.calls = 1'000'000;
  print.seconds = 5;
  print.bytes = print.bytes_sent = 20'000'000;
  a.waiting.critical_path[0].seconds = a.waiting.critical_path[0].rank_seconds = 5;
  PathPart& io = a.waiting.critical_path.emplace_back();
  io.kind = "io";
  io.function = "fprintf";
  io.seconds = io.rank_seconds = 5;
  const std::uint32_t main = add(a, kNoParent, "main", "/bin/solver", 5);
  const std::uint32_t call = add(a, main, "fprintf", "", converting, "posix");
  add(a, call, "(kernel)", "", 5 - converting);
  return a;
}

TEST(TextLosses, FprintfThatConvertsIsNoSmallWrite) {
  const auto converts = losses_by_code(printing(4.5)), writes = losses_by_code(printing(0.5));
  ASSERT_TRUE(converts.contains("io.text"));
  EXPECT_FALSE(converts.contains("io.small"));
  EXPECT_NEAR(converts.at("io.text").ceiling, 4.5, 1e-9);
  EXPECT_FALSE(writes.contains("io.text"));
  EXPECT_TRUE(writes.contains("io.small"));
}

TEST(PythonFiles, LibrariesThatMostProgramsUseAreNoFilesOfTheProgram) {
  for (const char* library :
       {"/usr/lib/python3.11/_strptime.py", "/usr/lib/python3/dist-packages/numpy/core/numeric.py",
        "/opt/v/lib/python3.12/site-packages/mpi4py/util.py", "<__array_function__ internals>"})
    EXPECT_TRUE(is_python_library(library)) << library;
  for (const char* own :
       {"/home/me/solver.py", "/usr/lib/python3/dist-packages/gpaw/scf.py", "<string>", "<stdin>", ""})
    EXPECT_FALSE(is_python_library(own)) << own;
}

}  // namespace
}  // namespace ardoise::reports
