// The user's folder: complete with LaTeX, without it, and if it fails.
#include "reports/render.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "reports/child_process.hpp"
#include "reports/extensions.hpp"
#include "reports/model_json.hpp"
#include "tests/reports/synthetic_run.hpp"

namespace ardoise::reports {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class Render : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("ardoise_render_" + std::to_string(::getpid()) + "_" +
                                                ::testing::UnitTest::GetInstance()->current_test_info()->name());
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

TEST_F(Render, ANewFolderIsForItsUserAlone) {
  options_.latex = "ardoise-no-such-latex";
  const mode_t before = ::umask(022);
  EXPECT_TRUE(render_report(testing::synthetic_run(2), options_).ok());
  ::umask(before);
  EXPECT_EQ(fs::status(folder_).permissions(), fs::perms{0700});
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

// LaTeX gets a folder with only the sources, and no other rights.
TEST_F(Render, LatexRunsInAFreshFolderThatIsRemoved) {
  fs::create_directories(folder_ / "latex");
  std::ofstream(folder_ / "latex/xcolor.sty") << "planted";
  ::setenv("TEXINPUTS", folder_.c_str(), 1);
  ::setenv("openin_any", "a", 1);
  fake_latex("{ pwd; ls; env; stat -c mode=%a . ; } > report.log; exit 1");
  EXPECT_FALSE(render_report(testing::synthetic_run(2), options_).ok());
  ::unsetenv("TEXINPUTS");
  ::unsetenv("openin_any");
  const std::string seen = content(folder_ / "latex/report.log"), place = seen.substr(0, seen.find('\n'));
  EXPECT_THAT(place, HasSubstr("/ardoise-report-"));
  EXPECT_FALSE(fs::exists(place)) << place;
  EXPECT_THAT(seen, AllOf(HasSubstr("\nfigures\nreport.log\nreport.tex\n"), HasSubstr("\nopenin_any=p\n"),
                          HasSubstr("\nopenout_any=p\n"), HasSubstr("\nmode=700\n")));
  EXPECT_THAT(seen, AllOf(Not(HasSubstr("xcolor.sty")), Not(HasSubstr("TEXINPUTS")), Not(HasSubstr("openin_any=a"))));
}

TEST_F(Render, WithoutAFolderForTemporaryFilesTheOneInTmpIsTaken) {
  ::setenv("TMPDIR", "/no/such/folder", 1);
  fake_latex("echo '%PDF-' > report.pdf");
  const RenderResult result = render_report(testing::synthetic_run(2), options_);
  ::unsetenv("TMPDIR");
  EXPECT_TRUE(result.ok()) << result.error;
  EXPECT_EQ(content(folder_ / "report.pdf"), "%PDF-\n");
}

// Links in the folder of a report lead to files of the user who renders it.
TEST_F(Render, LinksInTheFolderAreReplacedNotFollowed) {
  const fs::path mine = folder_ / "mine";
  fs::create_directories(mine / "figures");
  const std::vector<std::string> files{"report.tex", "report.log", "report.pdf", "figures/app0_graph.dot"};
  for (const std::string& file : files) std::ofstream(mine / file) << "mine";
  const auto untouched = [&] {
    for (const std::string& file : files) EXPECT_EQ(content(mine / file), "mine") << file;
    EXPECT_EQ(std::distance(fs::directory_iterator(mine), {}), 4);
    EXPECT_EQ(std::distance(fs::directory_iterator(mine / "figures"), {}), 1);
  };
  fake_latex("echo log > report.log; echo '%PDF-' > report.pdf");
  fs::create_symlink(mine, folder_ / "latex");
  fs::create_symlink(mine / "report.pdf", folder_ / "report.pdf");
  EXPECT_TRUE(render_report(testing::synthetic_run(8), options_).ok());
  untouched();
  EXPECT_EQ(content(folder_ / "report.pdf"), "%PDF-\n");
  EXPECT_EQ(content(folder_ / "latex/report.log"), "log\n");

  fs::remove_all(folder_ / "latex/figures");
  for (const std::string file : {"report.tex", "report.log", "figures"}) {
    fs::remove(folder_ / "latex" / file);
    fs::create_symlink(mine / file, folder_ / "latex" / file);
  }
  EXPECT_TRUE(render_report(testing::synthetic_run(8), options_).ok());
  untouched();
  EXPECT_THAT(content(folder_ / "latex/figures/app0_graph.dot"), HasSubstr("digraph"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "latex"), {}), 3) << "nothing half written";
}

TEST_F(Render, AFolderWhereAFileBelongsIsOneSentence) {
  fake_latex("echo '%PDF-' > report.pdf");
  fs::create_directories(folder_ / "report.pdf/full");
  const RenderResult result = render_report(testing::synthetic_run(2), options_);
  EXPECT_THAT(result.error, AllOf(HasSubstr((folder_ / "report.pdf").string()), HasSubstr("--output")));
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
// In a heading, the head of a column, a cell after the head and one after a line, an item of a list: each character
// appears unchanged.
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
    nlohmann::json table;
    table["title"] = told(fmt::format("{}title{}", first, number));
    table["columns"] = nlohmann::json::array({told(fmt::format("{}column{}", first, number)), "other"});
    table["rows"] = nlohmann::json::array({row("row", 1), row("next", 2)});
    add_extension(run.applications[0], fmt::format("plug-in {}", number), std::move(table));
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

// Styles, auxiliary files and figures in the folder of a report, and in the current folder, are foreign files.
TEST_F(RealLatex, NothingThatLiesInTheFolderIsRead) {
  fs::create_directories(folder_ / "latex/figures");
  const fs::path before = fs::current_path();
  for (const fs::path& place : {folder_, folder_ / "latex", folder_ / "latex/figures"}) {
    for (const char* file : {"xcolor.sty", "fontspec.sty", "scrreprt.cls", "report.aux", "report.out", "graphics.cfg"})
      std::ofstream(place / file) << "\\errmessage{planted}\n";
  }
  fs::current_path(folder_);
  ::setenv("TEXINPUTS", ".:../..:", 1);
  expect_report(testing::synthetic_run(8));
  ::unsetenv("TEXINPUTS");
  fs::current_path(before);
  EXPECT_EQ(content(folder_ / "latex/report.log").find("planted"), std::string::npos);
}

TEST_F(RealLatex, FoldersMayHaveAnyName) {
  const fs::path strange = folder_ / ("~ü b#l%a&n$k {}_^\\" + std::string(180, 'x')) / std::string(180, 'y');
  fs::create_directories(strange);
  ::setenv("TMPDIR", strange.c_str(), 1);
  options_.output = folder_ = strange;
  expect_report(testing::synthetic_run(8));
  ::unsetenv("TMPDIR");
  EXPECT_EQ(std::distance(fs::directory_iterator(strange), {}), 2) << "report.pdf and latex";
}

// If a name were ever not inert: the limits of LaTeX.
TEST_F(RealLatex, ADocumentReadsWritesAndRunsNothingOutside) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "secret.tex") << "\\message{SE"
                                        << "CRET}\n";
  const auto log_of = [&](const std::string& body) {
    std::ofstream(folder_ / "body.tex") << "\\documentclass{article}\\begin{document}" << body << " x\\end{document}\n";
    fake_latex("cp '" + (folder_ / "body.tex").string() + "' report.tex && exec xelatex \"$@\"");
    (void)render_report(testing::synthetic_run(1), options_);
    return content(folder_ / "latex/report.log");
  };
  const std::string outside = folder_.string();
  EXPECT_THAT(log_of(""), HasSubstr("Output written on report.pdf"));
  EXPECT_THAT(log_of("\\input{" + outside + "/secret.tex}"), Not(HasSubstr("SECRET")));
  EXPECT_THAT(log_of("\\input{../" + folder_.filename().string() + "/secret.tex}"), Not(HasSubstr("SECRET")));
  (void)log_of("\\immediate\\openout9=" + outside + "/written.tex \\immediate\\closeout9");
  EXPECT_FALSE(fs::exists(folder_ / "written.tex"));
  (void)log_of("\\immediate\\write18{touch " + outside + "/ran}");
  EXPECT_FALSE(fs::exists(folder_ / "ran"));
}

TEST_F(RealLatex, NothingRecordedGivesAReport) { expect_report(testing::empty_run()); }
TEST_F(RealLatex, NoProgramGivesAReport) { expect_report({}); }

}  // namespace
}  // namespace ardoise::reports
