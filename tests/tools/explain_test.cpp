// Every loss has a section with all parts in docs/reference/losses.md, no section is without a loss, and
// `ardoise explain` prints it for a terminal.
#include "tools/ardoise/explain/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "reports/losses/loss.hpp"
#include "reports/text/utf8.hpp"
#include "tests/tools/command_words.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/explain/loss_pages.hpp"

namespace ardoise::launcher {
namespace {

using reports::loss_codes;
using reports::LossCode;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string why_not_explained(const std::string& code) {
  try {
    (void)explained_loss(code);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> lines_in(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Explain, TheSectionsOfThePageAreTheLossesInTheirOrder) {
  std::vector<std::string> headings, wanted;
  for (const std::string& line : lines_in(loss_pages())) {
    if (line.starts_with("### ")) headings.push_back(line);
  }
  for (const LossCode& loss : loss_codes())
    wanted.push_back("### " + std::string(loss.code) + ": " + std::string(loss.name));
  EXPECT_EQ(headings, wanted);
}

TEST(Explain, EachSectionHasAllParts) {
  for (const LossCode& loss : loss_codes()) {
    const std::string text = explained_loss(loss.code);
    EXPECT_THAT(text, StartsWith(std::string(loss.code) + ": " + std::string(loss.name) + "\nTo be changed: the "));
    const std::size_t signs = text.find("\n\nSigns. "), why = text.find("\n\nWhy. "),
                      out = text.find("\n\nWays out.\n\n1. ");
    EXPECT_LT(signs, why) << text;
    EXPECT_LT(why, out) << text;
    EXPECT_NE(text.find("\n2. ", out), std::string::npos) << text;
  }
}

TEST(Explain, FitsOnATerminal) {
  for (const LossCode& loss : loss_codes()) {
    for (const std::string& line : lines_in(explained_loss(loss.code)))
      EXPECT_LE(reports::display_width(line), 80u) << loss.code << ": " << line;
  }
  for (const std::string& line : lines_in(listed_losses())) EXPECT_LE(reports::display_width(line), 80u) << line;
}

// "code: late.growing" and the like.
TEST(Explain, CodeOfOtherSectionsIsThere) {
  std::size_t named = 0;
  const std::string_view pages = loss_pages();
  for (std::size_t at = pages.find("(code: "); at != std::string_view::npos; at = pages.find("(code: ", at + 1)) {
    const std::size_t begin = at + 7;
    const std::string code(pages.substr(begin, pages.find_first_of(",)", begin) - begin));
    EXPECT_EQ(why_not_explained(code), "");
    EXPECT_THAT(explained_loss(code), HasSubstr("\nC:\n\n    ")) << code;
    ++named;
  }
  EXPECT_GT(named, 5u);
}

TEST(Explain, AMistypedCodeIsOneSentence) {
  EXPECT_EQ(why_not_explained("late.statc"), "there is no loss 'late.statc'; did you mean late.static?");
  EXPECT_EQ(why_not_explained("nothing.like"), "there is no loss 'nothing.like'; ardoise explain lists all.");
  EXPECT_EQ(why_not_explained(""), "there is no loss ''; ardoise explain lists all.");
  EXPECT_THROW((void)explain(line_of({"explain", "io.small", "io.smal"})), UsageError);
}

TEST(Explain, PrintsSeveralOrTheList) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(explain(line_of({"explain", "io.small", "node.bind"})), 0);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            explained_loss("io.small") + "\n\n" + explained_loss("node.bind"));
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(explain(line_of({"explain"})), 0);
  const std::string list = ::testing::internal::GetCapturedStdout();
  for (const LossCode& loss : loss_codes()) EXPECT_THAT(list, HasSubstr(std::string(loss.code) + " "));
}

TEST(TerminalText, HasNoMarks) {
  EXPECT_EQ(
      terminal_text("\n**Why.** A line,\nand `code`.\n\n1. one\n   two\n2. three\n\n```c\nif (x)\n\n  `y`;\n```\n\n"),
      "Why. A line, and code.\n\n1. one two\n2. three\n\nC:\n\n    if (x)\n\n      `y`;");
  EXPECT_EQ(terminal_text(""), "");
}

}  // namespace
}  // namespace ardoise::launcher
