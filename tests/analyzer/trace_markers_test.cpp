// Findings of the report as markers in a trace.
#include "analyzer/results/trace_markers.hpp"

#include <gmock/gmock.h>

namespace ardoise::analyzer {
namespace {

using knowledge_sources::TraceMarker;
using ::testing::Contains;
using ::testing::Field;

TEST(TraceMarkers, FindingsAndSnapshotsHaveTheirTimes) {
  reports::Run run;
  reports::Application& application = run.applications.emplace_back();
  application.name = "solver";
  application.wall_seconds = 12;
  reports::SnapshotSeries iterations;
  iterations.trigger = "iteration";
  iterations.rounds = {1, 4};
  iterations.begin_seconds = {2, 3};
  iterations.seconds = {1, 4.5};
  iterations.mpi_seconds = {0.25, 0.5};
  reports::SnapshotSeries steps = iterations;
  steps.trigger = "snapshot";
  steps.name = "step";
  steps.numbers = {10, 50};
  reports::SnapshotSeries timer = iterations;
  timer.trigger = "timer";
  application.snapshots.series = {iterations, steps, timer};
  const auto markers = trace_markers(run);
  EXPECT_THAT(markers, Contains(Field(&TraceMarker::group, "finding")));
  std::vector<std::string> texts;
  for (const TraceMarker& marker : markers) {
    EXPECT_EQ(marker.program, "solver");
    if (marker.group == "finding") {
      EXPECT_EQ(marker.seconds, 12);
    } else {
      texts.push_back(marker.text);
    }
  }
  EXPECT_THAT(texts, ::testing::ElementsAre("iteration 1: 1.000000 s, 0.250000 s of them in MPI",
                                            "iteration 2 to 5: 4.500000 s, 0.500000 s of them in MPI",
                                            "snapshot step 1 (number 10): 1.000000 s, 0.250000 s of them in MPI",
                                            "snapshot step 2 to 5 (number 50): 4.500000 s, 0.500000 s of them in MPI"));
  EXPECT_EQ(markers[markers.size() - 3].begin_seconds, 3);
}

}  // namespace
}  // namespace ardoise::analyzer
