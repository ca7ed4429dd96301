// The folder a user gets: complete with LaTeX, without it, and when it fails.
#include "reports/render.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "reports/child_process.hpp"
#include "reports/model_json.hpp"
#include "tests/reports/synthetic_run.hpp"

namespace ardoise::reports {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class Render : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              (std::string("ardoise_render_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    options_.output = folder_;
  }
  void TearDown() override { fs::remove_all(folder_); }

  // A stand-in for LaTeX that runs `script`.
  void fake_latex(const std::string& script) {
    fs::create_directories(folder_);
    const fs::path path = folder_ / "fake-latex";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(path, fs::perms::owner_all);
    options_.latex = path;
  }

  fs::path folder_;
  RenderOptions options_;
};

TEST_F(Render, ResultsAreTwoFilesAndTheSummary) {
  std::string summary;
  const Outcome written = write_results(testing::synthetic_run(8), folder_, summary);
  EXPECT_TRUE(written) << written.error;
  EXPECT_EQ(content(folder_ / "summary.txt"), summary);
  EXPECT_TRUE(read_profile_json(folder_ / "profile.json"));
}

TEST_F(Render, SummaryComesEvenWhenNothingCanBeWritten) {
  std::string summary;
  const Outcome written = write_results(testing::synthetic_run(8), "/proc/nowhere", summary);
  EXPECT_THAT(written.error, AllOf(HasSubstr("/proc/nowhere"), HasSubstr("--output")));
  EXPECT_THAT(summary, HasSubstr("solver"));
}

TEST_F(Render, WithoutLatexEverythingElseIsThereAndOneLineSaysWhatToInstall) {
  options_.latex = "ardoise-no-such-latex";
  const RenderResult result = render_report(testing::synthetic_run(8), options_);
  EXPECT_TRUE(result.ok()) << result.error;
  EXPECT_EQ(result.pdf, "");
  ASSERT_FALSE(result.notices.empty());
  EXPECT_THAT(result.notices.back(), HasSubstr("sudo apt-get install"));
  EXPECT_TRUE(fs::exists(folder_ / "latex/report.tex"));
  EXPECT_TRUE(fs::exists(folder_ / "latex/figures/app0_matrix_bytes.pdf"));
}

TEST_F(Render, FailingLatexKeepsTheLogAndTheReportFromBefore) {
  fake_latex("printf 'why\\n! Font missing.\\n' > report.log; exit 1");
  std::ofstream(folder_ / "report.pdf") << "good";
  const RenderResult result = render_report(testing::synthetic_run(2), options_);
  EXPECT_THAT(result.error, AllOf(HasSubstr("status 1: \"Font missing.\""), HasSubstr("latex/report.log")));
  EXPECT_EQ(content(folder_ / "report.pdf"), "good");
  EXPECT_EQ(content(folder_ / "latex/report.log"), "why\n! Font missing.\n");
}

TEST_F(Render, EndlessLatexIsEnded) {
  fake_latex("exec sleep 1000");
  options_.latex_timeout_seconds = 0.3;
  EXPECT_THAT(render_report(testing::synthetic_run(2), options_).error, HasSubstr("took more than"));
}

TEST_F(Render, BrokenProfileIsOneSentence) {
  fs::create_directories(folder_);
  const std::string path = folder_ / "profile.json";
  std::ofstream(path) << "{";
  std::string summary;
  EXPECT_THAT(report_again(path, options_, summary).error, HasSubstr(path));
}

TEST_F(Render, ReportAgainUsesTheProfilesFolderAndLeavesTheProfile) {
  std::string summary, again;
  ASSERT_TRUE(write_results(testing::synthetic_run(4), folder_, summary));
  const std::string before = content(folder_ / "profile.json");
  options_.output.clear();
  options_.latex = "ardoise-no-such-latex";
  EXPECT_TRUE(report_again(folder_ / "profile.json", options_, again).ok());
  EXPECT_EQ(content(folder_ / "profile.json"), before);
  EXPECT_TRUE(fs::exists(folder_ / "latex/report.tex"));
  EXPECT_EQ(again, summary);
}

class RealLatex : public Render {
 protected:
  void SetUp() override {
    Render::SetUp();
    if (run_child({"xelatex", "--version"}, {}).end == ChildResult::End::not_found)
      GTEST_SKIP() << "xelatex is not installed";
  }
  void expect_report(const reports::Run& run) {
    const RenderResult result = render_report(run, options_);
    const std::string log = content(folder_ / "latex/report.log");
    ASSERT_TRUE(result.ok()) << result.error << log.substr(log.size() > 2000 ? log.size() - 2000 : 0);
    EXPECT_EQ(content(result.pdf).substr(0, 5), "%PDF-");
    EXPECT_EQ(log.find("Overfull \\hbox"), std::string::npos) << log.substr(log.find("Overfull \\hbox"), 200);
    EXPECT_EQ(log.find("Missing character"), std::string::npos) << log.substr(log.find("Missing character"), 200);
  }
};

TEST_F(RealLatex, TwoProgramsGiveAReport) { expect_report(testing::synthetic_run(64)); }
TEST_F(RealLatex, NastyNamesBreakNothing) { expect_report(testing::nasty_run()); }
// In a heading, the head of a column, a cell after the head and one after a line, an item of a list: they are all
// there, as they are.
TEST_F(RealLatex, EveryCharacterMayBeTheFirst) {
  reports::Run run = testing::synthetic_run(4);
  run.applications.resize(1);
  std::vector<std::string> expected;
  const auto told = [&](std::string text) { return expected.emplace_back(std::move(text)); };
  for (char c = '!'; c <= '~'; ++c) {
    const std::string first(1, c);
    const auto number = static_cast<int>(c);
    const auto row = [&](const char* name, int value) {
      return nlohmann::json::array({told(fmt::format("{}1]{}{}", first, name, number)), value});
    };
    auto& table = run.applications[0].extensions[fmt::format("plug-in {}", number)];
    table["title"] = told(fmt::format("{}title{}", first, number));
    table["columns"] = nlohmann::json::array({told(fmt::format("{}column{}", first, number)), "other"});
    table["rows"] = nlohmann::json::array({row("row", 1), row("next", 2)});
    run.notices.push_back(told(fmt::format("{}1]item{}", first, number)));
  }
  expect_report(run);
  const std::string text = (folder_ / "report.txt").string();
  const ChildResult read = run_child({"pdftotext", "-raw", (folder_ / "report.pdf").string(), text}, {});
  if (read.end == ChildResult::End::not_found) GTEST_SKIP() << "pdftotext is not installed";
  ASSERT_TRUE(read.ok());
  const std::string shown = content(text);
  for (const std::string& each : expected) EXPECT_NE(shown.find(each), std::string::npos) << each;
}

TEST_F(RealLatex, NothingRecordedGivesAReport) { expect_report(testing::empty_run()); }
TEST_F(RealLatex, NoProgramGivesAReport) { expect_report({}); }

}  // namespace
}  // namespace ardoise::reports
