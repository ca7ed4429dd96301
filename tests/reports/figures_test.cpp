// The parts of figures: colours, grids, graphs, child processes; and complete files for each size of program.
#include "reports/figures/figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "reports/child_process.hpp"
#include "reports/document/sections.hpp"
#include "reports/figures/canvas.hpp"
#include "reports/figures/graph_layout.hpp"
#include "tests/other_user.hpp"
#include "tests/reports/synthetic_run.hpp"

namespace ardoise::reports {
namespace {

namespace fs = std::filesystem;

TEST(ColourScale, LuminanceFallsMonotonically) {
  double before = 2;
  for (int i = 0; i <= 31; ++i) {
    const Rgb c = scale_colour(i / 31.0);
    const double luminance = 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b;
    EXPECT_LT(luminance, before) << i;
    before = luminance;
  }
  EXPECT_EQ(scale_colour(std::nan("")).r, scale_colour(0).r);
}

TEST(Scale, LogarithmicOnlyWhereTheRangeIsWide) {
  EXPECT_FALSE(Scale::over({1, 2, 3}, true).log());
  EXPECT_TRUE(Scale::over({0, 1, 1e6}, true).log());
  EXPECT_FALSE(Scale::over({0, 1, 1e6}, false).log());
  const Scale log = Scale::over({1, 1e6}, true);
  EXPECT_NEAR(log.at(1e3), 0.5, 1e-12);
  EXPECT_EQ(Scale::over({5, 5}, true).at(5), 0.5);
  EXPECT_EQ(Scale::over({}, true).ticks().size(), 1U);
}

TEST(RoundTicks, AreRoundAndWithin) {
  EXPECT_EQ(round_ticks(47, 10), (std::vector<double>{0, 5, 10, 15, 20, 25, 30, 35, 40, 45}));
  EXPECT_EQ(round_ticks(0, 5), std::vector<double>{0});
  for (const double high : {1e-9, 0.3, 1.0, 63.0, 1023.0, 1e12}) {
    const auto ticks = round_ticks(high, 6);
    EXPECT_LE(ticks.size(), 7U);
    EXPECT_GE(ticks.size(), 3U);
    EXPECT_LE(ticks.back(), high * 1.001);
  }
}

TEST(Grid, ReducedIsTheMeanOfFilledCells) {
  Grid grid(4, 2);
  grid.at(0, 0) = 1;
  grid.at(1, 0) = 3;
  grid.at(3, 1) = 8;
  const Grid half = reduced(grid, 2);
  ASSERT_EQ(half.columns, 2U);
  ASSERT_EQ(half.rows, 2U);
  EXPECT_EQ(half.values[0], 2);
  EXPECT_TRUE(std::isnan(half.values[1]));
  EXPECT_EQ(half.values[3], 8);
}

TEST(Graph, AboveTheLimitNodesAreBlocksAndSumsStay) {
  const Application a = testing::synthetic_run(1024).applications[0];
  const Graph graph = graph_of(a, 128, 32);
  EXPECT_LE(graph.nodes, 32U);
  std::uint64_t inside = 0, all = 0, kept = 0;
  for (const Edge& e : a.edges) {
    all += e.bytes;
    if (e.source / graph.ranks_per_node == e.target / graph.ranks_per_node) inside += e.bytes;
  }
  for (const Edge& e : graph.edges) kept += e.bytes;
  EXPECT_EQ(kept + inside, all);
  EXPECT_EQ(graph.labels[0], "0–23");
  EXPECT_EQ(graph_of(testing::synthetic_run(64).applications[0], 128, 32).nodes, 48U);
}

TEST(Graph, LayoutFromOutsideIsChecked) {
  EXPECT_EQ(read_plain_layout("graph 1 2 2\nnode 0 1 1 0.4\nnode 1 2 2 0.4\nstop\n", 2).size(), 2U);
  EXPECT_TRUE(read_plain_layout("node 0 1 1\n", 2).empty());
  EXPECT_TRUE(read_plain_layout("node 7 1 1\n", 2).empty());
  EXPECT_TRUE(read_plain_layout("node 0 x y\nnode 1 1 1\n", 2).empty());
  EXPECT_TRUE(read_plain_layout("", 2).empty());
}

TEST(ChildProcess, AFolderOfPathThatMayNotBeReadHasNoProgram) {
  SKIP_UNLESS_ROOT();
  const fs::path closed = ::testing::TempDir() + "ardoise_closed";
  fs::create_directories(closed);
  fs::permissions(closed, fs::perms{0700});
  EXPECT_EQ(as_user(kVictim,
                    [&] {
                      ::setenv("PATH", (closed.string() + ":/usr/bin:/bin").c_str(), 1);
                      return run_child({"ardoise-no-such-program"}, {}).end == ChildResult::End::not_found &&
                             run_child({"true"}, {}).ok();
                    }),
            0);
  fs::remove(closed);
}

TEST(ChildProcess, TellsHowItEnded) {
  EXPECT_TRUE(run_child({"true"}, {}).ok());
  EXPECT_EQ(run_child({"sh", "-c", "exit 3"}, {}).status, 3);
  EXPECT_EQ(run_child({"ardoise-no-such-program"}, {}).end, ChildResult::End::not_found);
  EXPECT_EQ(run_child({"true"}, {"/no/such/folder", 5, {}}).end, ChildResult::End::failed_to_start);
  EXPECT_EQ(run_child({"sh", "-c", "kill -9 $$"}, {}).status, 128 + 9);
}

TEST(ChildProcess, TakesTheGrandchildrenAlong) {
  const fs::path pid_file = ::testing::TempDir() + "ardoise_grandchild";
  const ChildResult late =
      run_child({"sh", "-c", "sleep 1000 & echo $! > " + pid_file.string() + "; wait"}, {"", 0.5, {}});
  EXPECT_EQ(late.end, ChildResult::End::timed_out);
  int pid = 0;
  std::ifstream(pid_file) >> pid;
  ASSERT_GT(pid, 0);
  // Dead or a zombie that init has not fetched yet.
  std::ifstream state("/proc/" + std::to_string(pid) + "/stat");
  std::string id, name, letter = "gone";
  state >> id >> name >> letter;
  EXPECT_TRUE(letter == "gone" || letter == "Z" || letter == "X") << letter;
  fs::remove(pid_file);
}

TEST(ChildProcess, AnInterruptionEndsIt) {
  ::signal(SIGALRM, [](int) { interrupt_children(true); });
  const itimerval soon{{0, 0}, {0, 50000}};
  ASSERT_EQ(::setitimer(ITIMER_REAL, &soon, nullptr), 0);
  EXPECT_EQ(run_child({"sleep", "1000"}, {"", 1000, {}}).end, ChildResult::End::interrupted);
  ::signal(SIGALRM, SIG_DFL);
  interrupt_children(false);
  EXPECT_TRUE(run_child({"true"}, {}).ok());
}

TEST(ChildProcess, OurPreloadDoesNotReachIt) {
  ::setenv("OMPI_MCA_ardoise_test", "1", 1);
  EXPECT_TRUE(run_child({"sh", "-c", "test -z \"$OMPI_MCA_ardoise_test\""}, {}).ok());
  ::unsetenv("OMPI_MCA_ardoise_test");
}

class FigureSizes : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(FigureSizes, EveryFigureIsAWholeSmallPdf) {
  const fs::path path = ::testing::TempDir() + "ardoise_figures_" + std::to_string(GetParam());
  fs::create_directories(path);
  FigureFolder folder;
  folder.path = path;
  const reports::Run run = testing::synthetic_run(GetParam());
  for (const Application& a : run.applications) {
    EXPECT_EQ(!matrix_figure(a, Weight::bytes, false), a.edges.empty());
    EXPECT_EQ(density_figures(a).empty(), a.ranks < 2);
  }
  for (const Section& chapter : document_of(run).chapters) {
    for (const Section& section : chapter.sections) {
      for (const Block& block : section.blocks) {
        if (!std::holds_alternative<Figures>(block)) continue;
        for (const Figure& figure : std::get<Figures>(block)) {
          const fs::path file = path / draw_pdf(figure, folder);
          EXPECT_LT(fs::file_size(file), 700000U) << file;
          std::ifstream in(file, std::ios::binary);
          std::string head(5, '\0');
          in.read(head.data(), 5);
          EXPECT_EQ(head, "%PDF-");
        }
      }
    }
  }
  EXPECT_EQ(folder.error, "");
  fs::remove_all(path);
}
INSTANTIATE_TEST_SUITE_P(Ranks, FigureSizes, ::testing::Values(1, 2, 4, 7, 64, 1024, 5000));

void draw_all(const std::vector<Figure>& figures, FigureFolder& folder) {
  ASSERT_FALSE(figures.empty());
  for (const Figure& figure : figures) EXPECT_TRUE(fs::exists(folder.path + "/" + draw_pdf(figure, folder)));
}

TEST(Figures, ThreeDimensionalAndSparseLayoutsAreDrawn) {
  const fs::path path = ::testing::TempDir() + "ardoise_layouts";
  fs::create_directories(path);
  FigureFolder folder;
  folder.path = path;
  Application a = testing::synthetic_run(64).applications[0];
  a.layout.extents = {4, 4, 3};
  draw_all(density_figures(a), folder);
  a.layout.extents = {7, 7};
  a.layout.rank_of_cell.assign(49, 0xFFFFFFFF);
  for (std::uint32_t r = 0; r < 48; ++r) a.layout.rank_of_cell[48 - r] = r;
  draw_all(density_figures(a), folder);
  a.layout = {};
  draw_all(density_figures(a), folder);
  EXPECT_EQ(folder.error, "");
  fs::remove_all(path);
}

TEST(Figures, AFolderThatCannotBeWrittenIsOneSentence) {
  FigureFolder folder;
  folder.path = "/nowhere";
  const Application a = testing::synthetic_run(4).applications[0];
  (void)draw_pdf(matrix_figure(a, Weight::bytes, false), folder);
  EXPECT_THAT(folder.error, ::testing::HasSubstr("Cannot write /nowhere/matrix_bytes.pdf"));
}

// A name that is code for Graphviz: it may name files, and close the quotes around it.
TEST(Figures, ANameIsOneWordForGraphviz) {
  Graph graph;
  graph.nodes = 1;
  graph.labels = {"0"};
  for (const std::string name :
       {"a\"]; evil [image=\"/etc/passwd\"", "a\\", "a\n}\ngraph x {", "a\\\"b", "\xff\"\r\x1b"}) {
    const std::string dot = to_dot(graph, name);
    const std::string line = dot.substr(0, dot.find('\n'));
    EXPECT_TRUE(line.starts_with("digraph \"") && line.ends_with("\" {")) << line;
    EXPECT_EQ(std::count(line.begin(), line.end(), '"'), 2) << line;
    EXPECT_EQ(line.find('\\'), line.npos) << line;
    EXPECT_EQ(std::count(dot.begin(), dot.end(), '\n'), 4) << dot;
    EXPECT_EQ(std::count(dot.begin(), dot.end(), '\r'), 0) << dot;
  }
}

TEST(Figures, WithoutGraphvizTheGraphIsACircleAndSaysSo) {
  const fs::path path = ::testing::TempDir() + "ardoise_no_graphviz";
  fs::create_directories(path);
  FigureFolder folder;
  folder.path = path;
  folder.graphviz = "ardoise-no-such-graphviz";
  const Application a = testing::synthetic_run(64).applications[0];
  draw_all(graph_figures(a, false), folder);
  ASSERT_EQ(folder.notices.size(), 1U);
  EXPECT_THAT(folder.notices[0], ::testing::HasSubstr("apt-get install graphviz"));
  EXPECT_EQ(folder.error, "");
  fs::remove_all(path);
}

// Lines of calls are drawn if they change and the calls take some of the time.
TEST(SeriesLines, AreThereWhereSomethingChanges) {
  Application app;
  SnapshotSeries& s = app.snapshots.series.emplace_back();
  s.trigger = "iteration";
  s.ranks = 2;
  s.rounds.assign(40, 1);
  s.seconds.assign(40, 0.01);
  SnapshotCalls& calls = s.calls.emplace_back();
  calls.function = "MPI_Alltoall";
  calls.calls.assign(40, 4);
  calls.bytes.assign(40, 4096);
  calls.seconds.assign(40, 0.004);
  EXPECT_FALSE(static_cast<bool>(series_lines_figure(app, 0)));
  for (std::size_t i = 0; i < 40; ++i) calls.bytes[i] *= i + 1;
  const Figure grows = series_lines_figure(app, 0);
  ASSERT_TRUE(static_cast<bool>(grows));
  for (std::size_t i = 0; i < 40; ++i) calls.calls[i] *= i + 1;
  EXPECT_GT(series_lines_figure(app, 0).height, grows.height) << "time and number of calls, but not bytes of a call";
  calls.seconds.assign(40, 0.0001);
  EXPECT_FALSE(static_cast<bool>(series_lines_figure(app, 0))) << "a hundredth of the time";
}

// The map of waiting appears if some of the time is waiting, and ranks differ.
TEST(SeriesMap, OfWaitingIsThereWhereRanksWait) {
  Application app;
  app.ranks = 2;
  SnapshotSeries& s = app.snapshots.series.emplace_back();
  s.trigger = "iteration";
  s.ranks = s.groups = 2;
  s.rounds.assign(40, 1);
  s.seconds.assign(40, 0.01);
  s.own_seconds.assign(80, 0.005);
  s.waiting_seconds.assign(40, 0.0);
  s.group_waiting_seconds.assign(80, 0.0);
  EXPECT_FALSE(static_cast<bool>(series_waiting_map_figure(app, 0)));
  s.waiting_seconds.assign(40, 0.002);
  for (std::size_t i = 0; i < 40; ++i) s.group_waiting_seconds[i] = 0.004;
  EXPECT_TRUE(static_cast<bool>(series_waiting_map_figure(app, 0)));
  EXPECT_FALSE(static_cast<bool>(series_map_figure(app, 0))) << "all work as long";
  s.waiting_seconds.assign(40, 0.0001);
  EXPECT_FALSE(static_cast<bool>(series_waiting_map_figure(app, 0))) << "a hundredth of the time";
}

// A single drawn figure, checked with poppler's tools.
class DrawnFigure : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("ardoise_figure_" + std::to_string(::getpid()) + "_" +
                                                ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    if (run_child({"pdftotext", "-v"}, {}).end == ChildResult::End::not_found) GTEST_SKIP() << "no pdftotext";
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string made_of(const Figure& figure, std::vector<std::string> command, const std::string& result) {
    FigureFolder to{folder_.string(), "", 20, "neato", {}, {}};
    command.push_back((folder_ / draw_pdf(figure, to)).replace_extension(".pdf").string());
    command.push_back((folder_ / result).string());
    EXPECT_TRUE(run_child(command, {}).ok());
    std::ifstream in(folder_ / fs::path(result).replace_extension(command[0] == "pdftoppm" ? ".pgm" : ".txt"),
                     std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_;
};

TEST_F(DrawnFigure, TextIsBesideTheFewCellsOfAMap) {
  Application a;
  a.ranks = 4;
  a.density = {{"MPI", {14408, 14408, 14408, 14408}, {1, 2, 3, 4}, {8, 8, 8, 8}}};
  const auto figures = density_figures(a);
  ASSERT_EQ(figures.size(), 1u);
  const std::string text = made_of(figures[0], {"pdftotext", "-bbox"}, "map.txt");
  const std::size_t all = text.find(">all<");
  ASSERT_NE(all, std::string::npos) << text;
  const std::string begin = "xMin=\"";
  const double left = std::stod(text.substr(text.rfind(begin, all) + begin.size()));
  EXPECT_GT(left, 16.5) << "behind the box, which is 16 points wide";
}

TEST_F(DrawnFigure, BarsStayInTheirFrame) {
  for (const std::size_t sizes : {3u, 8u, 12u, 13u, 20u, 40u}) {
    Application a;
    FunctionProfile& f = a.mpi.emplace_back();
    f.bytes = 1;
    f.calls_by_size.assign(sizes, 1000);
    const Figure figure = message_sizes_figure(a);
    const std::string image = made_of(figure, {"pdftoppm", "-gray", "-r", "72", "-singlefile"}, "bars");
    int width = 0, height = 0;
    ASSERT_EQ(std::sscanf(image.c_str(), "P5 %d %d", &width, &height), 2);
    const std::size_t pixels = image.size() - static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    const double frame_end = 460 - 8;  // kTimeLeft + kTimePlot
    for (int y = 0; y < 50; ++y) {     // above the axis
      for (int x = static_cast<int>(frame_end) + 1; x < width; ++x) {
        const auto at =
            pixels + static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
        ASSERT_EQ(static_cast<unsigned char>(image[at]), 255) << sizes << " sizes, at " << x << ", " << y;
      }
    }
  }
}

}  // namespace
}  // namespace ardoise::reports
