// Units, UTF-8, tables and LaTeX text.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <sstream>

#include "reports/document/sections.hpp"
#include "reports/extensions.hpp"
#include "reports/latex/latex_text.hpp"
#include "reports/losses/loss.hpp"
#include "reports/text/text_document.hpp"
#include "reports/text/units.hpp"
#include "reports/text/utf8.hpp"
#include "tests/reports/contradictions.hpp"
#include "tests/reports/synthetic_run.hpp"
#include "tests/rounds.hpp"

namespace ardoise::reports {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
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

TEST(Document, TheFirstPageHasTheFigureOfTheFirstFinding) {
  const reports::Run run = testing::synthetic_run(64);
  const auto on_cover = [&](const char* finding) {
    Document document = document_of(run);
    RunFindings findings(run);
    findings.on_cover.resize(1);
    findings.on_cover[0].program = 0;
    findings.on_cover[0].finding.id = finding;
    move_best_figure(run, findings, document);
    return std::get<Figures>(document.cover.blocks.back()).front().id;
  };
  EXPECT_EQ(std::get<Figures>(document_of(run).cover.blocks.back()).front().id, "ranks") << "io.small";
  EXPECT_EQ(on_cover("cpu.hot"), "flame");
  EXPECT_EQ(on_cover("hub.root"), "matrix_bytes");
  EXPECT_EQ(on_cover("ovh.tiny"), "sizes");
  EXPECT_EQ(on_cover("chain.fill"), "waiting");
  EXPECT_THAT(on_cover("iterations_trend"), ::testing::StartsWith("snapshots_"));
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
    EXPECT_LE(count, kSummaryLines);
  }
}

// Words with single blanks between them.
std::string in_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

std::string sentences(std::mt19937& random, const std::string& beginning) {
  std::string text = beginning;
  for (std::size_t i = random() % 80; i != 0; --i)
    text += std::string(random() % 7 == 0 ? ". " : " ") + (random() % 5 == 0 ? "A" : "word") + std::to_string(i);
  return text + ".";
}

std::string some_name(std::mt19937& random) {
  static const char* const kParts[]{"solve", "ns::", "<double, 3>", "世界", "_", "operator()", "very_long_name"};
  std::string name = "f";
  for (std::size_t i = random() % 20; i != 0; --i) name += kParts[random() % std::size(kParts)];
  return name;
}

Application some_program(std::mt19937& random) {
  testing::SyntheticOptions options;
  options.ranks = 1 + static_cast<std::uint32_t>(random() % 12);
  options.wall_seconds = 0.001 * static_cast<double>(1 + random() % 100000);
  options.io = random() % 2 == 0;
  options.samples = random() % 4 != 0;
  options.snapshots = 100 + random() % 200;
  Application a = testing::synthetic_application(some_name(random), options);
  for (CallSite& site : a.call_sites) {
    if (random() % 3 == 0) site.symbol = some_name(random);
  }
  for (WaitSite& site : a.waiting.call_sites) site.symbol = some_name(random);
  for (PathPart& part : a.waiting.critical_path) part.symbol = some_name(random);
  for (SampledFunction& function : a.samples.functions) {
    if (random() % 3 == 0) function.symbol = some_name(random);
  }
  if (random() % 2 == 0) a.command = sentences(random, "./solver");
  for (std::size_t i = random() % 4; i != 0; --i) a.quality.notices.push_back(sentences(random, "A notice"));
  if (random() % 6 == 0) a.quality.blocked_seconds = options.wall_seconds / 5;
  if (random() % 6 == 0) a.quality.ledger.push_back({"mpi", 1000, 800, 0, 200});
  if (random() % 6 == 0) a.quality.bad_packs = 3;
  if (random() % 6 == 0) a.quality.ranks_complete = 0;
  for (std::size_t i = random() % 3; i != 0; --i)
    add_extension(a, fmt::format("plug-in {}", i),
                  {{"title", some_name(random)}, {"columns", {"a", "b"}}, {"rows", {{1, 2}, {3, 4}, {5, 6}}}});
  for (std::uint32_t i = 0; random() % 2 == 0 && i < options.ranks; ++i) {
    RankPosition& position = a.ending.stands.emplace_back();
    position.ranks = {i};
    position.call.function = "MPI_Recv";
    if (a.ending.ends.empty()) a.ending.ends.push_back({});
    a.ending.ends.back().ranks = {i};
  }
  return a;
}

reports::Run some_run(std::mt19937& random) {
  static constexpr std::size_t kPrograms[]{1, 1, 1, 1, 2, 2, 3, 5, 8, 9, 14, 60};
  reports::Run run = testing::synthetic_run(2);
  run.applications.clear();
  for (std::size_t i = kPrograms[random() % std::size(kPrograms)]; i != 0; --i)
    run.applications.push_back(some_program(random));
  for (std::size_t i = random() % 6; i != 0; --i) run.notices.push_back(sentences(random, "A note"));
  if (random() % 4 == 0) run.ended_by = "the time limit of 30 m (--time-limit)";
  return run;
}

// The findings that a summary shows, each in one line.
std::vector<std::string> findings_in(const std::string& summary) {
  std::vector<std::string> findings;
  bool inside = false;
  std::istringstream lines(summary);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    const bool begins = line.starts_with("!! ") || line.starts_with("!  ") || line.starts_with("·  ");
    if (begins) findings.emplace_back();
    inside = begins || (inside && !line.empty() && !line.starts_with("More on these"));
    if (inside) findings.back() += ' ' + line.substr(begins ? line.find(' ') : 0);
  }
  for (std::string& finding : findings) finding = in_one_line(finding);
  return findings;
}

TEST(Summary, FitsAScreenAndCutsNoSentence) {
  std::size_t in_all = 0, with_codes = 0;
  for (unsigned seed = 1; seed <= rounds(100); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const reports::Run run = some_run(random);
    const std::string text = summary_text(document_of(run));
    EXPECT_LE(std::ranges::count(text, '\n'), static_cast<std::ptrdiff_t>(kSummaryLines)) << text;
    std::map<std::string, bool> whole;  // false: without a code
    std::size_t all = 0;
    for (const Application& a : run.applications) {
      for (const Finding& finding : findings_of(a)) {
        const Finding told = with_code(finding, run.applications.size() > 1 ? in_sentence(a.name) : "");
        whole[in_one_line(told.advice.empty() ? told.text : told.text + " → " + told.advice)] =
            find_loss_code(finding.id) != nullptr;
        ++all;
      }
      EXPECT_THAT(testing::contradictions_in(findings_of(a)), ::testing::IsEmpty());
    }
    std::vector<std::string> shown = findings_in(text);
    if (!shown.empty() && shown.back().ends_with(" in profile.json and the report.")) {
      const std::string rest = shown.back();
      shown.pop_back();
      EXPECT_TRUE(rest.starts_with(counted(all - shown.size(), "more finding", "is", "are"))) << rest;
    } else {
      EXPECT_EQ(shown.size(), all);
    }
    EXPECT_THAT(shown.size(), AllOf(Ge(1), Le(3))) << text;
    for (const std::string& finding : shown) {
      EXPECT_TRUE(whole.contains(finding)) << finding;
      with_codes += whole[finding];
    }
    in_all += shown.size();
    const auto more = text.find(" more note");
    EXPECT_EQ(text.find("Note: A note") != text.npos, !run.notices.empty());
    EXPECT_TRUE(run.notices.size() <= 3 || more != text.npos) << text;
  }
  EXPECT_GT(in_all, rounds(200));
  EXPECT_GT(with_codes, rounds(20));
}

TEST(Summary, SeveralProgramsHaveALineEachAndTheLargestLossLeads) {
  reports::Run run;
  testing::SyntheticOptions options;
  options.ranks = 4;
  for (const double seconds : {1.0, 50.0, 7.0}) {
    options.wall_seconds = seconds;
    run.applications.push_back(testing::synthetic_application(fmt::format("p{}", seconds), options));
  }
  const std::string text = summary_text(document_of(run));
  EXPECT_THAT(text, HasSubstr("\n\nprogram  ranks  wall time   MPI  file I/O  load balance  parallel efficiency\n"
                              "p1           4     1.00 s"));
  EXPECT_THAT(text, HasSubstr("\np50          4     50.0 s"));
  EXPECT_THAT(text.substr(text.find("!  p")), ::testing::StartsWith("!  p50, io.small: ")) << text;
  auto& mpi = run.applications[1].mpi;
  const double all = Facts(run.applications[1]).mpi_seconds;
  mpi.front().category = "io";
  mpi.front().function = "MPI_File_write_at";
  mpi.front().seconds = all;
  EXPECT_THAT(summary_text(document_of(run)),
              ::testing::ContainsRegex("\np50 +4 +50.0 s  [0-9.]+ % \\([0-9.]+ % in MPI-IO\\)"));
  for (int i = 0; i < 20; ++i) run.applications.push_back(run.applications.front());
  EXPECT_THAT(summary_text(document_of(run)), HasSubstr("\n15 more programs in profile.json.\n"));
}

TEST(Text, LongValuesOfATableAreShortened) {
  Table table{"", {left("name", 10), "value"}, {}};
  table.rows.push_back({code("a"), Cell{"12"}});
  table.rows.push_back({code("a_long_name"), Cell{std::string(30, 'x') + std::string(30, 'y')}});
  EXPECT_EQ(text_table(table, ""), "name        " + std::string(35, ' ') + "value\na           " +
                                       std::string(38, ' ') + "12\na_lo…_name  " + std::string(19, 'x') + "…" +
                                       std::string(20, 'y') + "\n");
}

TEST(Text, LongOnesKeepTheirFirstSentences) {
  EXPECT_EQ(first_sentences("One. Two. Three.", 100), "One. Two. Three.");
  EXPECT_EQ(first_sentences("One. Two. Three.", 10), "One. Two.");
  EXPECT_EQ(first_sentences("One and two. Three.", 8), "One and two.") << "the first one is whole";
  EXPECT_EQ(first_sentences("A file a.c has 3.5 s. Two.", 25), "A file a.c has 3.5 s.");
  EXPECT_EQ(first_sentences(std::string(50, 'x'), 5), "xxxx…xxxxx");
}

TEST(Summary, SaysWhatTheIssueAsksFor) {
  reports::Run run = testing::synthetic_run(64);
  run.applications.resize(1);
  const std::string text = summary_text(document_of(run));
  for (const char* part : {"solver", "48 ranks", "wall 42.7 s", "MPI 27 %", "load balance", "MPI_Waitall",
                           "halo_exchange (solver.cpp:214)", "0 dropped, 0 lost", "Phases of the hydrodynamics"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, HasSubstr("\n  More on these: ardoise explain io.small "));
  run.applications[0].call_sites.clear();
  EXPECT_THAT(summary_text(document_of(run)), HasSubstr("Heaviest of")) << "if there is room";
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
  run.applications[0].call_sites.clear();
  add_extension(run.applications[0], "p",
                {{"title", "Tags"}, {"columns", {"tag"}}, {"rows", {{1}, {2}, {3}, {4}, {5}}}});
  EXPECT_THAT(summary_text(document_of(run)), HasSubstr("\n\n  Tags (5 rows)\n  tag\n    1\n    2\n    3\n    4\n"));
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
