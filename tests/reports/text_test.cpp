// Units, UTF-8, tables and LaTeX text.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "reports/document/sections.hpp"
#include "reports/extensions.hpp"
#include "reports/latex/latex_text.hpp"
#include "reports/text/text_document.hpp"
#include "reports/text/units.hpp"
#include "reports/text/utf8.hpp"
#include "tests/reports/synthetic_run.hpp"

namespace ardoise::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Units, ThreeDigitsAndTheRightUnit) {
  EXPECT_EQ(human_seconds(0), "0 s");
  EXPECT_EQ(human_seconds(120e-9), "120 ns");
  EXPECT_EQ(human_seconds(4.5e-6), "4.50 µs");
  EXPECT_EQ(human_seconds(0.0123), "12.3 ms");
  EXPECT_EQ(human_seconds(0.99999), "1.00 s");
  EXPECT_EQ(human_seconds(42.71), "42.7 s");
  EXPECT_EQ(human_seconds(750), "12 min 30 s");
  EXPECT_EQ(human_seconds(7980), "2 h 13 min");
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1024), "1.00 KiB");
  EXPECT_EQ(human_bytes(1023.9 * 1024), "1.00 MiB");
  EXPECT_EQ(human_bytes(2.36 * 1024 * 1024 * 1024), "2.36 GiB");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(1234567), "1,234,567");
  EXPECT_EQ(human_count(12.3e6), "12.3 M");
  EXPECT_EQ(human_count(4.56e9), "4.56 G");
  EXPECT_EQ(human_share(0), "0 %");
  EXPECT_EQ(human_share(0.0001), "< 0.1 %");
  EXPECT_EQ(human_share(0.042), "4.2 %");
  EXPECT_EQ(human_share(1), "100 %");
  EXPECT_EQ(with_separators(18446744073709551615ULL), "18,446,744,073,709,551,615");
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(64, "rank"), "64 ranks");
  EXPECT_EQ(counted(1, "rank", "is", "are"), "1 rank is");
  EXPECT_EQ(counted(0, "rank", "is", "are"), "0 ranks are");
  EXPECT_EQ(human_counted(1, "call"), "1 call");
  EXPECT_EQ(human_counted(12.3e6, "call"), "12.3 M calls");
}

TEST(Units, TimesInUtcHaveTheGivenForm) {
  EXPECT_EQ(utc_time(1'000'000'000, "%Y-%m-%dT%H:%M:%SZ"), "2001-09-09T01:46:40Z");
  EXPECT_EQ(utc_time(0, "%H:%M:%S UTC"), "00:00:00 UTC");
}

TEST(EndedBy, IsToldInTheSummary) {
  auto run = testing::synthetic_run(2);
  EXPECT_THAT(summary_text(document_of(run)), Not(HasSubstr("Ended by")));
  run.ended_by = "the time limit of 30 m (--time-limit)";
  EXPECT_THAT(summary_text(document_of(run)), HasSubstr("Ended by: the time limit of 30 m (--time-limit)\n"));
}

TEST(Utf8, MalformedBytesBecomeReplacements) {
  EXPECT_EQ(valid_utf8("aé世😀"), "aé世😀");
  EXPECT_EQ(valid_utf8("\xff"
                       "a"),
            "\uFFFDa");
  EXPECT_EQ(valid_utf8("\xc3"), "\uFFFD");
  EXPECT_EQ(valid_utf8("\xc0\x80"), "\uFFFD\uFFFD");                 // overlong
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");       // surrogate
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80").substr(0, 3), "\uFFFD");  // above U+10FFFF
}

TEST(Utf8, NoNameMovesTheCursor) {
  EXPECT_EQ(printable("a\x1b[2Jb\nc\t"), "a\uFFFD[2Jb\uFFFDc\uFFFD");
  EXPECT_EQ(printable("a\u202Eb"), "a\uFFFDb");
}

TEST(Utf8, ShortenedKeepsBothEndsAndTheWidth) {
  EXPECT_EQ(shortened("short", 10), "short");
  EXPECT_EQ(shortened("/home/user/project/solver", 11), "/home…olver");
  for (std::size_t w = 0; w < 12; ++w) EXPECT_LE(display_width(shortened("世界世界世界世界", w)), w);
}

TEST(Symbol, TemplateArgumentsAreFoldedBeforeAnythingIsCut) {
  EXPECT_EQ(symbol("ns::f<int>", 20).text, "ns::f<int>");
  EXPECT_EQ(symbol("ns::solve<std::vector<double>, 3>::step", 22).text, "ns::solve<…>::step");
  EXPECT_EQ(with_folded_templates("a<b>::operator<< <int>"), "a<…>::operator<< <…>");
  EXPECT_EQ(with_folded_templates("f<&g::operator->>(int)"), "f<…>(int)");
  EXPECT_EQ(with_folded_templates("a < b"), "a < b");
}

TEST(Document, ShortKeepsTablesAndDropsFigures) {
  const reports::Run run = testing::synthetic_run(64);
  const Document whole = document_of(run), brief = document_of(run, ReportLength::brief);
  EXPECT_EQ(brief.chapters.size(), 2U);
  EXPECT_LT(brief.chapters[0].sections.size(), whole.chapters[0].sections.size());
  for (std::size_t i = 1; i < brief.chapters[0].sections.size(); ++i) {
    for (const Block& block : brief.chapters[0].sections[i].blocks)
      EXPECT_FALSE(std::holds_alternative<Figures>(block));
  }
  EXPECT_TRUE(std::holds_alternative<Figures>(brief.cover.blocks.back()));
}

TEST(Document, EmptyFiguresAreLeftOutAndNamed) {
  const reports::Run run = testing::synthetic_run(2);
  const Section last = document_of(run).chapters[0].sections.back();
  EXPECT_THAT(
      plain(std::get<Paragraph>(last.blocks.at(0)).text),
      ::testing::AllOf(HasSubstr("Omitted because they would show nothing: "), HasSubstr("density maps (1 rank)")));
}

TEST(TextTable, AlignsWideCharacters) {
  const std::string table =
      text_table({"", {left("name", 12), "n"}, {{"世界", exact(1)}, {"a very long name", exact(100)}}}, "");
  EXPECT_EQ(table, "name            n\n世界            1\na ver…g name  100\n");
}

TEST(Wrapped, BreaksLongWordsAndIndents) {
  const std::string text = wrapped("one two " + std::string(50, 'x'), " - ", 20);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 20U) << line;
  EXPECT_TRUE(text.starts_with(" - one two"));
}

TEST(Latex, EscapesEverySpecial) {
  EXPECT_EQ(latex("_%&#$"), "\\_\\%\\&\\#\\$");
  EXPECT_EQ(latex("\\{}~^"), "\\textbackslash{}\\{\\}\\textasciitilde{}\\textasciicircum{}");
  EXPECT_EQ(latex("é"), "\\U{00E9}");
  EXPECT_EQ(latex("\x01\xff"), "\\U{FFFD}\\U{FFFD}");
}

TEST(Latex, AnyBytesGiveBalancedAsciiWithoutActiveCharacters) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 100; ++i) text += static_cast<char>(random() & 0xFF);
    for (const std::string& out : {latex(text), latex_code(text)}) {
      int depth = 0;
      for (std::size_t i = 0; i < out.size(); ++i) {
        ASSERT_TRUE(out[i] >= 0x20 && out[i] < 0x7F);
        if (out[i] == '\\') {
          ++i;  // a command or an escaped character
          continue;
        }
        ASSERT_EQ(std::string("#$%&_^~").find(out[i]), std::string::npos) << out;
        depth += out[i] == '{' ? 1 : out[i] == '}' ? -1 : 0;
        ASSERT_GE(depth, 0);
      }
      ASSERT_EQ(depth, 0);
    }
    for (const char c : latex_bookmark(text)) ASSERT_EQ(std::string("#$%&_^~{}\\").find(c), std::string::npos);
  }
}

// After a line end or \\item these begin an argument: "[" of a length or label, "*" a variant.
TEST(Latex, TextIsNeverAnArgumentOfAPrecedingCommand) {
  for (const char c : {'[', '*'}) {
    const std::string text(3, c), safe = fmt::format("{{{0}}}{{{0}}}{{{0}}}", c);
    EXPECT_EQ(latex(text), safe);
    EXPECT_EQ(latex_code(text), "\\code{" + safe + "}");
  }
}

TEST(Latex, LongWordsMayBreak) { EXPECT_THAT(latex_code(std::string(200, 'x')), HasSubstr("\\C{}")); }

TEST(Summary, FitsTheTerminalWhateverTheNames) {
  for (const reports::Run& run : {testing::synthetic_run(1), testing::synthetic_run(64), testing::synthetic_run(1024),
                                  testing::empty_run(), testing::nasty_run(), reports::Run{}}) {
    const std::string text = summary_text(document_of(run));
    std::istringstream lines(text);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      EXPECT_LE(display_width(line), 100U) << line;
      EXPECT_EQ(line.find('\x1b'), std::string::npos);
    }
    // A screenful for each program: 45 lines, 6 of its hot functions, and long notices.
    EXPECT_LE(count, 60 * std::max<std::size_t>(1, run.applications.size()) + 10);
  }
}

TEST(Summary, SaysWhatTheIssueAsksFor) {
  const reports::Run run = testing::synthetic_run(64);
  const std::string text = summary_text(document_of(run));
  for (const char* part :
       {"solver", "post", "48 ranks", "wall 42.7 s", "MPI 27 %", "load balance", "MPI_Waitall",
        "halo_exchange (solver.cpp:214)", "Heaviest of", "0 dropped, 0 lost", "Phases of the hydrodynamics"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, HasSubstr("\n  More on these: ardoise explain io.small "));
  EXPECT_THAT(summary_text(document_of({})),
              AllOf(HasSubstr("No program delivered any data"), Not(HasSubstr("explain"))));
}

TEST(Extensions, OnlyTablesAreTaken) {
  Application app;
  EXPECT_TRUE(extensions(app).sections.empty());
  add_extension(app, "p", {{"columns", {"a", 2}}, {"rows", {{1, "x"}, {2.5}, "no", {1, 2, 3}}}});
  add_extension(app, "q", 5);
  add_extension(app, "r", {{"columns", nlohmann::json::array()}, {"rows", nlohmann::json::array()}});
  add_extension(app, "s", {{"columns", {"a"}}});
  const std::vector<Section> sections = extensions(app).sections;
  ASSERT_EQ(sections.size(), 1U);
  EXPECT_EQ(sections[0].title, "p");
  EXPECT_EQ(plain(std::get<Paragraph>(sections[0].blocks.at(0)).text), "From the plug-in p.");
  EXPECT_EQ(text_table(std::get<Table>(sections[0].blocks.at(1)), ""), "  a  2\n  1  x\n2.5\n  1  2\n");
}

TEST(Extensions, TheSummaryHasTheFirstRows) {
  reports::Run run = testing::synthetic_run(1);
  run.applications.resize(1);
  add_extension(run.applications[0], "p",
                {{"title", "Tags"}, {"columns", {"tag"}}, {"rows", {{1}, {2}, {3}, {4}, {5}}}});
  EXPECT_THAT(summary_text(document_of(run)), HasSubstr("\n\n  Tags\n  tag\n    1\n    2\n    3\n    4\n  1 row more"));
}

// A healthy running program has lost no records.
TEST(Summary, RecordsOfARunningProgramAreStillWithItsRanks) {
  reports::Run run = testing::empty_run();
  Application& a = run.applications[0];
  a.quality.ledger = {{"mpi", 4340, 0, 0, 4340}, {"samples", 418, 0, 0, 418}};
  a.quality.ranks_complete = 0;
  EXPECT_THAT(summary_text(document_of(run)), HasSubstr("0 dropped, 4,340 lost, 418 samples lost; 0 of "));
  run.running = true;
  a.ending.moment_seconds = 1;
  const std::string text = summary_text(document_of(run));
  EXPECT_THAT(text, HasSubstr("Measured so far: 4,340 events recorded, 0 dropped, 4,340 pending, 418"));
  EXPECT_THAT(text, Not(HasSubstr("lost")));
}

TEST(Summary, NoticesAreWholeSentences) {
  std::string notice = "Words";
  for (int i = 0; i < 60; ++i) notice += fmt::format(" w{}", i);
  reports::Run run = testing::empty_run();
  run.applications[0].quality.notices = {notice + "."};
  const std::string text = summary_text(document_of(run));
  for (const char* const word : {"Words w0", " w30", " w59."}) EXPECT_THAT(text, HasSubstr(word));
}

}  // namespace
}  // namespace ardoise::reports
