// Traces in OTF2 from packs that a test makes by hand, read back with OTF2's own reader.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fixture.hpp"
#include "knowledge_sources/otf2/writer/trace_archive.hpp"
#include "replay/printed_trace.hpp"

namespace ardoise::knowledge_sources {

// Time stamp of a tick of PackMaker's.
inline std::uint64_t trace_time(std::uint64_t tick) { return kTraceLead + tick - replay::Origin{}.origin_tick; }

class TracesFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string unique = (std::filesystem::path(::testing::TempDir()) / "traces_XXXXXX").string();
    ASSERT_NE(::mkdtemp(unique.data()), nullptr);
    folder_ = unique;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // begin() … submit() … finish(). selection "": of a launch that was ended.
  void begin(std::vector<Program> programs, const std::string& selection = "all", std::size_t analyzers = 1,
             std::size_t byte_limit = blackboard::Options().byte_limit) {
    archive_ = std::make_unique<TraceArchive>(folder_);
    archive_->begin([this](const std::string& sentence) { complaints_.push_back(sentence); });
    for (Program& program : programs) {
      program.traces = selection.empty() ? archive_->settings_of_ended() : archive_->settings(selection);
      archive_->add_program(program);
    }
    session_ = std::make_unique<Session>(programs, 0, analyzers, replay::load_plugins(plugins_), byte_limit);
  }
  void finish() {
    run_ = session_->finish();
    finished_ = archive_->finish(markers_);
  }
  [[nodiscard]] replay::PrintedTrace read(const std::string& name = "trace") const {
    replay::PrintedTrace trace(folder_ / name / "traces.otf2");
    replay::expect_in_order(trace);
    return trace;
  }
  // The trace of the packs that the makers of ranks 0, 1 … of one program have made.
  replay::PrintedTrace traced(std::vector<PackMaker*> makers, const std::string& selection = "all") {
    begin({{.name = "program", .ranks = static_cast<std::uint32_t>(makers.size())}}, selection);
    for (PackMaker* const maker : makers) {
      maker->flush();
      session_->submit(maker->take());
    }
    finish();
    return read();
  }

  std::vector<std::string> plugins_{"traces"};
  std::filesystem::path folder_;
  std::unique_ptr<TraceArchive> archive_;
  std::unique_ptr<Session> session_;
  std::vector<std::string> complaints_;
  std::vector<TraceMarker> markers_;
  TraceArchive::Finished finished_;
  reports::Run run_;
};

inline std::vector<std::string> kinds_of(const replay::PrintedTrace& trace) {
  std::vector<std::string> kinds;
  for (const auto& each : trace.events) kinds.push_back(each.kind);
  return kinds;
}

}  // namespace ardoise::knowledge_sources
